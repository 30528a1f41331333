use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tollgate_gateway::gate::{
    Admission, BodySize, Gate, Receipt, Refusal, RequestInfo, Ticket, Traffic, Verdict,
};

/// A gate that writes everything down. What it does is told by the application's name: `refused`, `slow` (it waits
/// first), `never` (it waits for ever), anything else passes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Arc<Record>);

#[derive(Debug, Default)]
pub(crate) struct Record {
    visits: AtomicU64,
    asked: AtomicU64,
    admitted: AtomicU64,
    rolled_back: AtomicU64,
    reached: AtomicU64,
    finished: AtomicU64,
    dropped_receipts: AtomicU64,
    refuses_connections: AtomicU64,
    last: Mutex<Option<Seen>>,
    traffic: Mutex<Vec<Traffic>>,
}

/// What the gate saw of the last request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) app: Option<String>,
    pub(crate) client: IpAddr,
    pub(crate) host: String,
    pub(crate) body: BodySize,
    pub(crate) operation: String,
}

impl Recorder {
    fn get(count: &AtomicU64) -> u64 {
        count.load(Ordering::SeqCst)
    }

    /// Requests that were admitted and are over, one way or the other.
    pub(crate) fn settled(&self) -> u64 {
        Self::get(&self.0.rolled_back) + Self::get(&self.0.finished)
    }

    pub(crate) fn asked(&self) -> u64 {
        Self::get(&self.0.asked)
    }

    pub(crate) fn admitted(&self) -> u64 {
        Self::get(&self.0.admitted)
    }

    pub(crate) fn rolled_back(&self) -> u64 {
        Self::get(&self.0.rolled_back)
    }

    pub(crate) fn reached(&self) -> u64 {
        Self::get(&self.0.reached)
    }

    pub(crate) fn finished(&self) -> u64 {
        Self::get(&self.0.finished)
    }

    pub(crate) fn visits(&self) -> u64 {
        Self::get(&self.0.visits)
    }

    pub(crate) fn refuse_connections(&self) {
        self.0.refuses_connections.store(1, Ordering::SeqCst);
    }

    pub(crate) fn last(&self) -> Seen {
        self.0.last.lock().unwrap().clone().unwrap()
    }

    /// What went through, of each request that reached a server and is over.
    pub(crate) fn traffic(&self) -> Vec<Traffic> {
        self.0.traffic.lock().unwrap().clone()
    }

    /// Waits until every admitted request ended, and checks that each did so once.
    pub(crate) async fn balanced(&self) {
        super::eventually("every ticket is settled", || self.settled() == self.admitted()).await;
        assert_eq!(self.reached(), self.finished(), "each that reached a server is finished");
        assert_eq!(Self::get(&self.0.dropped_receipts), 0, "no receipt is dropped");
        assert_eq!(self.rolled_back() + self.finished(), self.admitted());
    }
}

#[derive(Debug)]
pub(crate) struct Visit(Recorder);

impl Drop for Visit {
    fn drop(&mut self) {
        self.0.0.visits.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Debug)]
pub(crate) struct Admitted(Option<Recorder>);

#[derive(Debug)]
pub(crate) struct Reached(Option<Recorder>);

impl Gate for Recorder {
    type Visit = Visit;
    type Ticket = Admitted;
    type Wait = Pin<Box<dyn Future<Output = Verdict<Admitted>>>>;

    fn connected(&self, _peer: IpAddr) -> Result<Visit, Box<Refusal>> {
        if Self::get(&self.0.refuses_connections) == 1 {
            return Err(refusal("connection_limit"));
        }
        self.0.visits.fetch_add(1, Ordering::SeqCst);
        Ok(Visit(self.clone()))
    }

    fn admit(&self, request: &RequestInfo<'_>) -> Admission<Admitted, Self::Wait> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        *self.0.last.lock().unwrap() = Some(Seen {
            app: request.app.map(ToOwned::to_owned),
            client: request.client,
            host: request.host.to_owned(),
            body: request.body,
            operation: request.operation.to_string(),
        });
        let pass = |recorder: &Self| {
            recorder.0.admitted.fetch_add(1, Ordering::SeqCst);
            Verdict::Pass(Admitted(Some(recorder.clone())))
        };
        match request.app {
            Some("refused") => Admission::Decided(Verdict::Refuse(refusal("app_exhausted"))),
            Some("never") => Admission::Waiting(Box::pin(std::future::pending())),
            Some("slow") => {
                let recorder = self.clone();
                Admission::Waiting(Box::pin(async move {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    pass(&recorder)
                }))
            }
            _ => Admission::Decided(pass(self)),
        }
    }
}

impl Ticket for Admitted {
    type Receipt = Reached;

    fn reached(mut self) -> Reached {
        let recorder = self.0.take();
        recorder.as_ref().unwrap().0.reached.fetch_add(1, Ordering::SeqCst);
        Reached(recorder)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some(recorder) = &self.0 {
            recorder.0.rolled_back.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Receipt for Reached {
    fn decorate(&self, headers: &mut HeaderMap) {
        headers.insert("x-ratelimit-cost", HeaderValue::from_static("7"));
    }

    fn finish(mut self, traffic: Traffic) {
        let recorder = self.0.take().unwrap();
        recorder.0.traffic.lock().unwrap().push(traffic);
        recorder.0.finished.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Reached {
    fn drop(&mut self) {
        if let Some(recorder) = &self.0 {
            recorder.0.dropped_receipts.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn refusal(reason: &'static str) -> Box<Refusal> {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", HeaderValue::from_static("1"));
    let body = Bytes::from(format!("{{\"reason\":\"{reason}\"}}"));
    Box::new(Refusal { status: StatusCode::TOO_MANY_REQUESTS, headers, body, reason })
}
