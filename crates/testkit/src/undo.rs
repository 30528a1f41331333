use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

/// A command that puts something away if this process is interrupted, which drops nothing: a process, a network or a disk would
/// outlive us. It is forgotten when this is dropped, as what it is about was put away by other means.
#[derive(Debug)]
pub struct Undo(u64);

/// By the order in which they were noted.
static NOTED: Mutex<BTreeMap<u64, Command>> = Mutex::new(BTreeMap::new());

static LISTENING: Once = Once::new();

impl Undo {
    /// Notes it. Whatever was noted last is undone first.
    pub fn by(command: Command) -> Self {
        LISTENING.call_once(listen);
        let mut noted = noted();
        let number = noted.last_key_value().map_or(0, |(last, _)| last + 1);
        noted.insert(number, command);
        Self(number)
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        noted().remove(&self.0);
    }
}

fn noted() -> MutexGuard<'static, BTreeMap<u64, Command>> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen() {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        // Held until the end: whoever would note something more now waits for it.
        let mut noted = noted();
        while let Some((_, mut command)) = noted.pop_last() {
            let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let _ = quiet.status();
        }
        let _ = emulate_default_handler(signal);
    });
}
