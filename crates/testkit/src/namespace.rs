use crate::port::free_port;
use crate::process::run;
use crate::undo::Undo;
use anyhow::Context;
use std::ffi::OsStr;
use std::net::Ipv4Addr;
use std::process::Command;

/// A network of its own on this machine, with one cable to us that can be pulled. Needs the rights of an administrator.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    /// Our end of the cable.
    cable: String,
    inside: Ipv4Addr,
    _undo: Undo,
}

impl Namespace {
    /// Makes one, or says why it cannot be made here.
    pub fn new() -> anyhow::Result<Self> {
        // A port is as good a number as any, and nobody else has it just now.
        let number = free_port()?;
        // Each has a network of four addresses; the bits that are lost at the top are the same for all of our ports.
        let [high, low] = (number << 2).to_be_bytes();
        let (outside, inside) =
            (Ipv4Addr::new(10, 213, high, low + 1), Ipv4Addr::new(10, 213, high, low + 2));
        let (name, cable) = (format!("tg{number}"), format!("tgo{number}"));
        // The cable goes with it.
        let mut end = Command::new("ip");
        end.args(["netns", "del", &name]);
        let namespace = Self { name, cable, inside, _undo: Undo::by(end) };
        let other = format!("tgi{number}");
        ip(&["netns", "add", &namespace.name]).context("no network namespace can be made here")?;
        ip(&["link", "add", &namespace.cable, "type", "veth", "peer", "name", &other])?;
        ip(&["link", "set", &other, "netns", &namespace.name])?;
        ip(&["addr", "add", &format!("{outside}/30"), "dev", &namespace.cable])?;
        ip(&["link", "set", &namespace.cable, "up"])?;
        let within = |words: &[&str]| ip(&[&["-n", &namespace.name], words].concat());
        within(&["addr", "add", &format!("{inside}/30"), "dev", &other])?;
        within(&["link", "set", &other, "up"])?;
        within(&["link", "set", "lo", "up"])?;
        Ok(namespace)
    }

    /// The address of what runs in it.
    pub const fn inside(&self) -> Ipv4Addr {
        self.inside
    }

    /// Pulls the cable: nothing arrives any more, and nobody is told.
    pub fn cut(&self) -> anyhow::Result<()> {
        ip(&["link", "set", &self.cable, "down"])
    }

    /// Puts the cable back.
    pub fn mend(&self) -> anyhow::Result<()> {
        ip(&["link", "set", &self.cable, "up"])
    }

    /// A command that runs in it.
    pub(crate) fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]).arg(program);
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = ip(&["link", "del", &self.cable]);
        let _ = ip(&["netns", "del", &self.name]);
    }
}

fn ip(words: &[&str]) -> anyhow::Result<()> {
    run(Command::new("ip").args(words)).map(drop)
}
