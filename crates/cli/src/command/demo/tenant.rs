//! Applications that send requests.

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HOST;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::MissedTickBehavior;

/// An application and what it got.
#[derive(Debug)]
pub(super) struct Tenant {
    habit: &'static Habit,
    counts: Arc<Counts>,
}

/// What an application does all the time.
#[derive(Debug)]
struct Habit {
    app: &'static str,
    method: Method,
    target: &'static str,
    per_second: u32,
}

#[derive(Debug, Default)]
struct Counts {
    passed: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
}

static HABITS: [Habit; 3] = [
    Habit { app: "video-service", method: Method::GET, target: "/films/a.mp4", per_second: 40 },
    Habit { app: "app-a", method: Method::PUT, target: "/photos/cat.jpg", per_second: 20 },
    // 10,000 tokens a second, twice what it was promised.
    Habit { app: "app-c", method: Method::GET, target: "/photos?list-type=2", per_second: 20 },
];

/// Starts all of them, each through all of those gateways in turns.
pub(super) fn start_all(gateways: &[SocketAddr]) -> Vec<Tenant> {
    let start = |habit: &'static Habit| {
        let counts = Arc::new(Counts::default());
        let lines = gateways.iter().map(|&gateway| Line { gateway, sender: None }).collect();
        tokio::spawn(live(habit, lines, Arc::clone(&counts)));
        Tenant { habit, counts }
    };
    HABITS.iter().map(start).collect()
}

impl Tenant {
    /// What it got since this was last asked.
    pub(super) fn summary(&self) -> String {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        let Counts { passed, refused, failed } = &*self.counts;
        let (passed, refused, failed) = (take(passed), take(refused), take(failed));
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        format!("{}: {passed} passed, {refused} refused{failed}", self.habit.app)
    }
}

async fn live(habit: &'static Habit, mut lines: Vec<Line>, counts: Arc<Counts>) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / habit.per_second);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        for line in &mut lines {
            ticks.tick().await;
            let count = match line.ask(habit).await {
                Ok(status) if status.is_success() => &counts.passed,
                Ok(StatusCode::TOO_MANY_REQUESTS) => &counts.refused,
                _ => &counts.failed,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A connection to a gateway.
#[derive(Debug)]
struct Line {
    gateway: SocketAddr,
    sender: Option<SendRequest<Empty<Bytes>>>,
}

impl Line {
    /// Sends a request, on a new connection if the last one broke.
    async fn ask(&mut self, habit: &Habit) -> anyhow::Result<StatusCode> {
        let mut sender = match self.sender.take() {
            Some(sender) => sender,
            None => connect(self.gateway).await?,
        };
        sender.ready().await?;
        let request = Request::builder().method(&habit.method).uri(habit.target);
        let request = request.header(HOST, "demo").header("x-tollgate-app", habit.app).body(Empty::new())?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        response.into_body().collect().await?;
        self.sender = Some(sender);
        Ok(status)
    }
}

async fn connect(gateway: SocketAddr) -> anyhow::Result<SendRequest<Empty<Bytes>>> {
    let (sender, connection) = handshake(TokioIo::new(TcpStream::connect(gateway).await?)).await?;
    tokio::spawn(connection);
    Ok(sender)
}
