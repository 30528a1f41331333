use crate::due::Due;
use crate::frame::Frame;
use crate::reply::Reply;
use crate::session::Session;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tollgate_config::resp::Resp;
use tollgate_limiter::{Algorithm, Limiter};
use tollgate_listen::Listeners;

/// How much is read at a time, and answered before more is read.
const CHUNK: usize = 16_384;

/// The most that is kept of a command that is not all there.
const MAX_PENDING: usize = 1 << 20;

/// How long to wait before connections are taken again after there was no room for one.
const BREATH: Duration = Duration::from_millis(50);

/// How long a client may take to take its answers: who never does would keep its place for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// How late a wrong password is answered.
const PAUSE: Duration = Duration::from_secs(1);

/// How long whoever has just come, or is in the middle of a command, is waited for when the door closes.
const GRACE: Duration = Duration::from_secs(5);

/// The door, as long as it is open.
#[derive(Debug)]
pub struct Handle {
    address: SocketAddr,
    closing: watch::Sender<bool>,
    door: Arc<Door>,
    task: JoinHandle<()>,
}

/// What was asked at the door, since it opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that were opened.
    pub connections: u64,
    /// Connections that found no room.
    pub turned_away: u64,
    /// Commands that were answered.
    pub commands: u64,
    /// Answers that were errors.
    pub errors: u64,
}

/// What comes after the answers to what was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing is there that could be answered: to read more.
    Read,
    /// The last one was a wrong password: to wait, and answer the rest only then.
    Wait,
    /// To let the client go.
    Leave,
}

#[derive(Debug)]
pub(crate) struct Door {
    limiter: Arc<Limiter>,
    password: Option<Arc<str>>,
    idle: Option<Duration>,
    room: Arc<Semaphore>,
    places: u32,
    last_id: AtomicI64,
    turned_away: AtomicU64,
    commands: AtomicU64,
    errors: AtomicU64,
}

/// Opens the door, where one is configured, with a socket among these. Must be called within a tokio runtime.
pub fn start(settings: &Resp, listeners: &Listeners) -> io::Result<Option<Handle>> {
    let Some(address) = settings.listen else { return Ok(None) };
    let listener = TcpListener::from_std(listeners.open(address)?)?;
    let address = listener.local_addr()?;
    let door = Arc::new(Door::new(settings));
    let closing = watch::Sender::new(false);
    let task = tokio::spawn(Arc::clone(&door).welcome(listener, closing.subscribe()));
    Ok(Some(Handle { address, closing, door, task }))
}

impl Handle {
    /// Where it is.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What was asked so far.
    pub fn counts(&self) -> Counts {
        self.door.counts()
    }

    /// Takes no more connections, answers what was received and what those ask who have just come, and waits until everybody
    /// has left, but not longer than `grace`.
    pub async fn drain(mut self, grace: Duration) {
        self.closing.send_replace(true);
        let everybody = self.door.room.acquire_many(self.door.places);
        let _ = tokio::time::timeout(grace, async {
            let _ = (&mut self.task).await;
            let _ = everybody.await;
        })
        .await;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.closing.send_replace(true);
        self.task.abort();
    }
}

impl Door {
    pub(crate) fn new(settings: &Resp) -> Self {
        let limiter = Limiter::builder().algorithm(Algorithm::Gcra).max_keys(settings.max_keys).build();
        let places = settings.max_connections;
        Self {
            limiter: Arc::new(limiter),
            password: settings.password.as_ref().map(|password| Arc::from(password.reveal())),
            idle: settings.idle.map(Duration::from),
            room: Arc::new(Semaphore::new(places as usize)),
            places,
            last_id: AtomicI64::new(0),
            turned_away: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            errors: AtomicU64::new(0),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            connections: u64::try_from(self.last_id.load(Ordering::Relaxed)).unwrap_or(0),
            turned_away: read(&self.turned_away),
            commands: read(&self.commands),
            errors: read(&self.errors),
        }
    }

    /// The conversation with whoever has just come.
    pub(crate) fn session(&self, id: i64) -> Session {
        Session::new(Arc::clone(&self.limiter), self.password.clone(), id)
    }

    async fn welcome(self: Arc<Self>, listener: TcpListener, mut closing: watch::Receiver<bool>) {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = closing.wait_for(|is_closing| *is_closing) => return,
            };
            match (accepted, Arc::clone(&self.room).try_acquire_owned()) {
                (Ok((stream, _)), Ok(place)) => {
                    tokio::spawn(Arc::clone(&self).serve(stream, place, closing.clone()));
                }
                (Ok((stream, _)), Err(_)) => self.turn_away(&stream),
                (Err(error), _) => {
                    tracing::warn!(%error, "cannot take a connection");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    }

    fn turn_away(&self, stream: &TcpStream) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
        // Whoever does not take it at once does not get it.
        let _ = stream.try_write(b"-ERR max number of clients reached\r\n");
    }

    async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        _place: OwnedSemaphorePermit,
        closing: watch::Receiver<bool>,
    ) {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        if let Err(error) = self.talk(stream, self.session(id), closing).await {
            tracing::debug!(%error, id, "a client of the RESP door is gone");
        }
    }

    async fn talk(
        &self,
        mut stream: TcpStream,
        mut session: Session,
        mut closing: watch::Receiver<bool>,
    ) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut input = Vec::with_capacity(CHUNK);
        let (mut out, mut frame) = (Vec::new(), Frame::default());
        let (mut grace, mut next, mut due) = (GRACE, Next::Read, Due::default());
        due.go_on(&session, false, false);
        loop {
            if next == Next::Read {
                let read = tokio::select! {
                    biased;
                    read = self.listen(&mut stream, &mut input, &due) => read?,
                    () = closed(&mut closing, grace) => 0,
                };
                if read == 0 {
                    return Ok(());
                }
            }
            let before = input.len();
            next = self.answer_all(&mut session, &mut input, &mut out, &mut frame);
            if next == Next::Wait {
                tokio::time::sleep(PAUSE).await;
            }
            let Ok(taken) = tokio::time::timeout(PATIENCE, stream.write_all(&out)).await else {
                return Err(io::ErrorKind::TimedOut.into());
            };
            taken?;
            // Whoever never stops asking has to leave too.
            if next == Next::Leave || session.is_over() || *closing.borrow() && !out.is_empty() {
                return stream.shutdown().await;
            }
            out.clear();
            due.go_on(&session, input.len() < before, !input.is_empty());
            grace = if input.is_empty() { Duration::ZERO } else { GRACE };
        }
    }

    /// Reads what there is. A client that says nothing for too long is gone.
    async fn listen(&self, stream: &mut TcpStream, input: &mut Vec<u8>, due: &Due) -> io::Result<usize> {
        input.reserve(CHUNK);
        let read = stream.read_buf(input);
        match due.end(self.idle) {
            // What comes too late is not heard, be there ever so much of it.
            Some(end) if end <= Instant::now() => Ok(0),
            Some(end) => tokio::time::timeout_at(end, read).await.unwrap_or(Ok(0)),
            None => read.await,
        }
    }

    /// Answers every command that is all there, up to a wrong password.
    pub(crate) fn answer_all(
        &self,
        session: &mut Session,
        input: &mut Vec<u8>,
        out: &mut Vec<u8>,
        frame: &mut Frame,
    ) -> Next {
        let mut at = 0;
        let mut words: Vec<&[u8]> = Vec::new();
        let (mut commands, mut errors) = (0, 0);
        let next = loop {
            let rest = &input[at..];
            match frame.find(rest) {
                Ok(true) => {}
                Ok(false) if rest.len() > MAX_PENDING => break Next::Leave,
                Ok(false) => break Next::Read,
                Err(error) => {
                    Reply::error(format_args!("Protocol error: {error}")).write(session.protocol(), out);
                    errors += 1;
                    break Next::Leave;
                }
            }
            at += frame.length;
            words.clear();
            words.extend(frame.words(rest));
            let Some((name, words)) = words.split_first() else { continue };
            let guesses = session.guesses();
            let reply = session.answer(name, words);
            commands += 1;
            errors += u64::from(matches!(reply, Reply::Error(_)));
            reply.write(session.protocol(), out);
            if session.guesses() > guesses {
                break Next::Wait;
            }
            if session.is_over() {
                break Next::Leave;
            }
        };
        input.drain(..at);
        self.commands.fetch_add(commands, Ordering::Relaxed);
        self.errors.fetch_add(errors, Ordering::Relaxed);
        next
    }
}

/// Ends when the door has been closing for that long, or nobody is left who could say so.
async fn closed(closing: &mut watch::Receiver<bool>, grace: Duration) {
    let _ = closing.wait_for(|is_closing| *is_closing).await;
    tokio::time::sleep(grace).await;
}
