//! What is done to it, step by step.

use super::Scene;
use crate::crowd;
use crate::drill::{ByGateway, File, Room, Step};
use crate::http;
use crate::promise::CEILING;
use anyhow::Context;
use std::thread;
use std::time::{Duration, Instant};
use tollgate_testkit::Signal;

/// Between two configurations of a storm.
const BREATH: Duration = Duration::from_millis(20);

impl Scene {
    /// Does it. A rest is not its business: there is nothing to do.
    pub(crate) fn act(&mut self, step: &Step) -> anyhow::Result<()> {
        match *step {
            Step::Rest(_) => Ok(()),
            Step::Gateway(number, act) => self.gateway(number, act),
            Step::Redis(which, act) => self.ledger.act(which, act),
            Step::Line(act) => self.ledger.line(act),
            Step::Network(act) => self.ledger.network(act),
            Step::Disk(Room::Fill) => self.disk.as_ref().context("there is no disk")?.fill(),
            Step::Disk(Room::Free) => self.disk.as_ref().context("there is no disk")?.free(),
            Step::Reload(file, times) => self.reload(file, times),
            Step::NewCertificate => self.renew(),
            Step::Crowd(crowd) => {
                self.gateways.iter().try_for_each(|gateway| crowd::send(crowd, gateway.address))
            }
            Step::Upstream(true) => {
                self.upstream.revive()?;
                self.upstream_excuse.end();
                Ok(())
            }
            Step::Upstream(false) => {
                self.upstream_excuse.begin();
                self.upstream.die();
                Ok(())
            }
            Step::LogIn => self.log_in(),
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
        for round in 0..times {
            self.edition += 1;
            let is_good = file == File::Good || file == File::Both && round % 2 == 1;
            for gateway in &self.gateways {
                let good = self.config(gateway.tls);
                let bad = format!("{good}[[apps]]\nid = 'no name'\n[gateway]\nthreads = 'many'\n");
                gateway.write(if is_good { &good } else { &bad })?;
                gateway.signal(Signal::HangUp)?;
            }
            thread::sleep(BREATH);
        }
        Ok(())
    }

    /// What was issued before is written over; gateways notice by themselves.
    fn renew(&mut self) -> anyhow::Result<()> {
        let encryption = self.encryption.as_mut().context("nothing is encrypted here")?;
        encryption.issued = encryption.authority.issue("127.0.0.1")?;
        Ok(())
    }

    fn log_in(&self) -> anyhow::Result<()> {
        for gateway in &self.gateways {
            let said = gateway.log();
            let (_, rest) = said.split_once("admin, password ").context("no password was shown")?;
            let password = rest.split(' ').next().unwrap_or_default();
            let start = Instant::now();
            let body = format!(r#"{{"username": "admin", "password": "{password}"}}"#);
            http::ask(gateway.admin, "POST /api/v1/login", &body).context("no answer to a login")?;
            anyhow::ensure!(start.elapsed() < CEILING, "a login took {:?}", start.elapsed());
        }
        Ok(())
    }
}
