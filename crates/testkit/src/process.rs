use anyhow::Context;
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
}

/// A process of ours, killed when dropped.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self(child))
    }

    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let name = match signal {
            Signal::Kill => "-KILL",
            Signal::Stop => "-STOP",
            Signal::Continue => "-CONT",
            Signal::Quit => "-QUIT",
        };
        run(Command::new("kill").arg(name).arg(self.0.id().to_string())).map(drop)
    }

    /// Sends a signal and waits until it has ended, for so long at most.
    pub(crate) fn end(&mut self, signal: Signal, patience: Duration) -> anyhow::Result<()> {
        self.signal(signal)?;
        let start = Instant::now();
        while self.0.try_wait()?.is_none() {
            anyhow::ensure!(start.elapsed() < patience, "it does not end");
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be stopped, or gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a command to its end and returns what it printed.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    anyhow::ensure!(
        output.status.success(),
        "{command:?} failed: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(text)
}
