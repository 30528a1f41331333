//! What is done to it, step by step.

use super::Scene;
use crate::crowd;
use crate::drill::{ByGateway, ByUpstream, File, Login, Room, Step, Upkeep};
use crate::gateway::Gateway;
use crate::http::{self, Client};
use crate::promise::LOGIN;
use anyhow::Context;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::thread;
use std::time::{Duration, Instant};
use tollgate_testkit::Signal;

/// Between two configurations of a storm.
const BREATH: Duration = Duration::from_millis(20);

/// How long it may take until a file is taken up, which is looked at every second and must be the same at two looks, or until a
/// snapshot is taken, which is every ten.
const PATIENCE: Duration = Duration::from_secs(15);

/// How many logins may find room in what the database has already. More would be too many for a minute.
const LOGINS: usize = 5;

impl Scene {
    /// Does it. A rest is not its business: there is nothing to do.
    pub(crate) fn act(&mut self, step: &Step) -> anyhow::Result<()> {
        match *step {
            Step::Rest(_) => Ok(()),
            Step::Gateway(number, act) => self.gateway(number, act),
            Step::Redis(which, act) => self.ledger.act(which, act),
            Step::Moved => self.ledger.wait_until_moved(),
            Step::Stayed => self.ledger.ensure_stayed(),
            Step::Line(act) => self.ledger.line(act),
            Step::Network(act) => self.ledger.network(act),
            Step::Disk(Room::Fill) => self.disk.as_ref().context("there is no disk")?.fill(),
            Step::Disk(Room::Free) => self.disk.as_ref().context("there is no disk")?.free(),
            Step::Reload(file, times) => self.reload(file, times),
            Step::NewCertificate => self.renew(),
            Step::Crowd(crowd) => {
                let gateways: Vec<_> = self.gateways.iter().map(|gateway| gateway.address).collect();
                crowd::send(crowd, &gateways)
            }
            Step::Upstream(ByUpstream::Return) => {
                self.upstream.revive()?;
                self.upstream_excuse.end();
                Ok(())
            }
            Step::Upstream(ByUpstream::Die) => {
                self.upstream_excuse.begin();
                self.upstream.die();
                Ok(())
            }
            Step::LogIn(login) => self.log_in(login),
            Step::Upkeep(task, upkeep) => self.look_at_upkeep(task, upkeep),
        }
    }

    fn gateway(&mut self, number: usize, act: ByGateway) -> anyhow::Result<()> {
        let gateway = self.gateways.get_mut(number).context("there is no such gateway")?;
        match act {
            ByGateway::Kill => {
                gateway.excuse.begin();
                gateway.kill();
            }
            ByGateway::Start => {
                gateway.start_again()?;
                gateway.excuse.end();
            }
            ByGateway::Stop => {
                gateway.excuse.begin();
                gateway.signal(Signal::Stop)?;
            }
            ByGateway::Continue => {
                gateway.signal(Signal::Continue)?;
                gateway.excuse.end();
            }
            ByGateway::Replace => gateway.replace()?,
        }
        Ok(())
    }

    fn reload(&mut self, file: File, times: u32) -> anyhow::Result<()> {
        let (taken, refused) = ("configuration read again", "the old one stays");
        let said = |gateway: &Gateway, words: &str| gateway.log().matches(words).count();
        let before: Vec<usize> =
            self.gateways.iter().map(|gateway| said(gateway, taken) + said(gateway, refused)).collect();
        let mut is_good = true;
        for round in 0..times {
            self.edition += 1;
            is_good = file == File::Good || file == File::Both && round % 2 == 1;
            if is_good {
                self.in_force = self.edition;
            }
            for gateway in &self.gateways {
                let good = self.config(gateway.tls);
                let bad = format!("{good}[[apps]]\nid = 'no name'\n[gateway]\nthreads = 'many'\n");
                gateway.write(if is_good { &good } else { &bad })?;
                gateway.signal(Signal::HangUp)?;
            }
            thread::sleep(BREATH);
        }
        let last = if is_good { taken } else { refused };
        for (gateway, before) in self.gateways.iter().zip(before) {
            eventually("the last configuration is read", || {
                let log = gateway.log();
                let of_last = log.lines().rfind(|line| line.contains(taken) || line.contains(refused));
                said(gateway, taken) + said(gateway, refused) > before
                    && of_last.is_some_and(|line| line.contains(last))
            })?;
            let number = self.in_force;
            anyhow::ensure!(
                knows(gateway, number)?,
                "configuration {number} was taken up and is not in force"
            );
            // The one before was good or bad; the last may have been the same, or bad.
            for other in [number.saturating_sub(1), self.edition].into_iter().filter(|other| *other != number)
            {
                anyhow::ensure!(!knows(gateway, other)?, "configuration {other} is in force");
            }
        }
        Ok(())
    }

    /// What was issued before is written over; gateways notice by themselves.
    fn renew(&mut self) -> anyhow::Result<()> {
        let encryption = self.encryption.as_mut().context("nothing is encrypted here")?;
        encryption.issued = encryption.authority.issue("127.0.0.1")?;
        let issued =
            CertificateDer::from_pem_file(&encryption.issued.certificate).context("no certificate")?;
        let trust = encryption.trust()?;
        for gateway in &self.gateways {
            eventually("the new certificate is shown", || {
                http::certificate(gateway.tls, &trust).is_ok_and(|shown| shown == issued.as_ref())
            })?;
        }
        Ok(())
    }

    fn log_in(&self, login: Login) -> anyhow::Result<()> {
        self.gateways.iter().try_for_each(|gateway| match login {
            Login::Good => {
                let status = log_in(gateway)?;
                anyhow::ensure!(status == 200, "a login was answered by {status}");
                Ok(())
            }
            Login::Refused => {
                let mut seen = Vec::new();
                for _ in 0..LOGINS {
                    let status = log_in(gateway)?;
                    if status == 503 {
                        return Ok(());
                    }
                    seen.push(status);
                }
                anyhow::bail!("logins were answered by {seen:?} although nothing can be written")
            }
        })
    }

    fn look_at_upkeep(&self, task: &str, upkeep: Upkeep) -> anyhow::Result<()> {
        let line =
            format!(r#"tollgate_upkeep_failing{{task="{task}"}} {}"#, u8::from(upkeep == Upkeep::Fails));
        self.gateways.iter().try_for_each(|gateway| {
            eventually(&line, || {
                let answer = http::ask(gateway.admin, "GET /metrics", "");
                answer.is_ok_and(|answer| String::from_utf8_lossy(&answer.body).contains(&line))
            })
        })
    }
}

/// Whether a gateway goes by the configuration of that number: the host of no other is anybody's.
fn knows(gateway: &Gateway, number: u32) -> anyhow::Result<bool> {
    let request = format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", super::edition(number));
    let answer = Client::new(gateway.address, None).ask(request.as_bytes())?;
    Ok(answer.status == 200)
}

/// The status that somebody gets who logs in with the password that was shown at the first start.
fn log_in(gateway: &Gateway) -> anyhow::Result<u16> {
    let said = gateway.log();
    let (_, rest) = said.split_once("admin, password ").context("no password was shown")?;
    let password = rest.split(' ').next().unwrap_or_default();
    let start = Instant::now();
    let body = format!(r#"{{"username": "admin", "password": "{password}"}}"#);
    let answer = http::ask(gateway.admin, "POST /api/v1/login", &body).context("no answer to a login")?;
    anyhow::ensure!(start.elapsed() < LOGIN, "a login took {:?}", start.elapsed());
    Ok(answer.status)
}

/// Waits until it is so, but not for ever.
pub(super) fn eventually(what: &str, is_so: impl Fn() -> bool) -> anyhow::Result<()> {
    let start = Instant::now();
    while !is_so() {
        anyhow::ensure!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
