//! Requests written down, one line of JSON each, without ever holding anybody up.

use crate::gate::Traffic;
use serde_json::json;
use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tollgate_config::gateway::AccessLog;

/// Lines are sent to the writer once there are so many bytes of them, or at the next tick.
const BATCH: usize = 32 * 1024;

/// The most batches that wait for the writer.
const MAX_WAITING: usize = 128;

/// What is written down of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) peer: String,
    pub(crate) client: String,
    pub(crate) method: String,
    pub(crate) host: String,
    /// Without the query, which may hold secrets.
    pub(crate) path: String,
    pub(crate) version: &'static str,
    pub(crate) app: Option<String>,
    pub(crate) upstream: String,
    pub(crate) reason: &'static str,
    /// What a server did wrong, for those who look after it.
    pub(crate) detail: String,
}

/// One thread's end of the log.
#[derive(Debug)]
pub(crate) struct LogBook {
    to: Option<SyncSender<Message>>,
    batch: RefCell<Batch>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    lines: u64,
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    to: Option<SyncSender<Message>>,
    dropped: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Message {
    Lines(Vec<u8>),
    /// The file may have been moved away: open it anew.
    Reopen(AccessLog),
}

impl Writer {
    /// Starts writing; fails if the file cannot be opened.
    pub(crate) fn start(log: &AccessLog) -> io::Result<Self> {
        let dropped = Arc::new(AtomicU64::new(0));
        if *log == AccessLog::Off {
            return Ok(Self { to: None, dropped, thread: None });
        }
        let sink = open(log)?;
        let (to, from) = sync_channel(MAX_WAITING);
        let thread =
            std::thread::Builder::new().name("access-log".into()).spawn(move || write(&from, sink))?;
        Ok(Self { to: Some(to), dropped, thread: Some(thread) })
    }

    /// A thread's end of it.
    pub(crate) fn book(&self) -> LogBook {
        LogBook { to: self.to.clone(), batch: RefCell::default(), dropped: Arc::clone(&self.dropped) }
    }

    /// Opens the file anew, for those who moved it away.
    pub(crate) fn reopen(&self, log: &AccessLog) {
        if let Some(to) = &self.to {
            // If the writer is that far behind, the next time will do.
            let _ = to.try_send(Message::Reopen(log.clone()));
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Waits until everything is written. The threads' ends must be gone.
    pub(crate) fn finish(&mut self) {
        self.to = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has written what it could.
            let _ = thread.join();
        }
    }
}

impl LogBook {
    pub(crate) fn is_on(&self) -> bool {
        self.to.is_some()
    }

    pub(crate) fn write(&self, entry: &Entry, status: u16, traffic: Traffic, took: Duration) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let line = json!({
            "time_us": micros(now),
            "id": entry.id,
            "peer": entry.peer,
            "client": entry.client,
            "method": entry.method,
            "host": entry.host,
            "path": entry.path,
            "version": entry.version,
            "status": status,
            "reason": entry.reason,
            "detail": entry.detail,
            "app": entry.app,
            "upstream": entry.upstream,
            "request_bytes": traffic.request,
            "response_bytes": traffic.response,
            "duration_us": micros(took),
        });
        let mut batch = self.batch.borrow_mut();
        // Writing to memory does not fail.
        let _ = writeln!(batch.bytes, "{line}");
        batch.lines += 1;
        if batch.bytes.len() >= BATCH {
            self.send(&mut batch);
        }
    }

    /// Sends what there is.
    pub(crate) fn flush(&self) {
        let mut batch = self.batch.borrow_mut();
        if batch.lines > 0 {
            self.send(&mut batch);
        }
    }

    fn send(&self, batch: &mut Batch) {
        let Batch { bytes, lines } = std::mem::take(batch);
        let Some(to) = &self.to else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = to.try_send(Message::Lines(bytes))
        {
            self.dropped.fetch_add(lines, Ordering::Relaxed);
        }
    }
}

impl Drop for LogBook {
    fn drop(&mut self) {
        self.flush();
    }
}

enum Sink {
    File(File),
    Stdout(io::Stdout),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(out) => out.flush(),
        }
    }
}

fn open(log: &AccessLog) -> io::Result<Sink> {
    match log {
        AccessLog::File(path) => OpenOptions::new().create(true).append(true).open(path).map(Sink::File),
        AccessLog::Off | AccessLog::Stdout => Ok(Sink::Stdout(io::stdout())),
    }
}

fn write(from: &Receiver<Message>, mut sink: Sink) {
    for message in from {
        match message {
            // A full disk must not stop the gateway; there is nobody else to tell.
            Message::Lines(bytes) => drop(sink.write_all(&bytes).and_then(|()| sink.flush())),
            Message::Reopen(log) => {
                if let Ok(opened) = open(&log) {
                    sink = opened;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_is_behind_costs_lines_not_time() {
        let dropped = Arc::new(AtomicU64::new(0));
        let (to, from) = sync_channel(1);
        let book = LogBook { to: Some(to), batch: RefCell::default(), dropped: Arc::clone(&dropped) };
        for _ in 0..3 {
            book.write(&Entry::default(), 200, Traffic::default(), Duration::ZERO);
            book.flush();
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
        drop(book);
        assert_eq!(from.iter().count(), 1);
    }
}
