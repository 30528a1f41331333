use crate::undo::Undo;
use anyhow::Context;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What can be done to a process from the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `SIGKILL`: it is gone at once.
    Kill,
    /// `SIGSTOP`: it stands still, its connections stay open.
    Stop,
    /// `SIGCONT`: it goes on.
    Continue,
    /// `SIGQUIT`: it should end at once, and what it started too.
    Quit,
    /// `SIGTERM`: it should finish what it is doing and end.
    Terminate,
    /// `SIGHUP`: it should read its configuration again.
    HangUp,
}

/// A process of ours, killed when dropped, and when we are interrupted.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Until it has ended: then its number may be another's.
    undo: Option<Undo>,
}

impl Process {
    /// Starts it; nobody hears what it says.
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        Self::spawn(command.stdout(Stdio::null()).stderr(Stdio::null()))
    }

    /// Starts it; what it says is added to the end of a file.
    pub fn start_logged(command: &mut Command, log: &Path) -> anyhow::Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(log).context("no log")?;
        Self::spawn(command.stdout(log.try_clone()?).stderr(log))
    }

    fn spawn(command: &mut Command) -> anyhow::Result<Self> {
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.with_context(|| format!("cannot start {command:?}"))?;
        let undo = Some(Undo::by(kill("-KILL", child.id())));
        Ok(Self { child, undo })
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Does something to it.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let name = match signal {
            Signal::Kill => "-KILL",
            Signal::Stop => "-STOP",
            Signal::Continue => "-CONT",
            Signal::Quit => "-QUIT",
            Signal::Terminate => "-TERM",
            Signal::HangUp => "-HUP",
        };
        run(&mut kill(name, self.id())).map(drop)
    }

    /// Sends a signal and waits until it has ended, for so long at most; the code it ended with, unless a signal ended it.
    pub fn end(&mut self, signal: Signal, patience: Duration) -> anyhow::Result<Option<i32>> {
        self.signal(signal)?;
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.undo = None;
                return Ok(status.code());
            }
            anyhow::ensure!(start.elapsed() < patience, "it does not end");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be stopped, or gone already.
        let _ = self.child.kill();
        self.undo = None;
        let _ = self.child.wait();
    }
}

fn kill(signal: &str, process: u32) -> Command {
    let mut command = Command::new("kill");
    command.arg(signal).arg(process.to_string());
    command
}

/// Runs a command to its end and returns what it printed.
pub fn run(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    anyhow::ensure!(
        output.status.success(),
        "{command:?} failed: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(text)
}
