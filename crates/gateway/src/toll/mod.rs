//! The gate that takes a toll: every request pays its cost out of what its application was promised.

mod fare;

pub use fare::{TollReceipt, TollTicket};

use crate::gate::{Admission, BodySize, Gate, Refusal, RequestInfo, Verdict};
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use tollgate_core::cost::Operation;
use tollgate_core::decision::Decision;
use tollgate_core::reason::Reason;
use tollgate_ledger::{Ledger, Slots};
use tollgate_node::answer::Answer;
use tollgate_node::connection::{self, Denied, Guard};
use tollgate_node::{App, DecisionId, Node, NotYet, Permit, Request, TraceParent, wall};

/// Asks a node about every request: is there room for one more of its application, and can it pay. What can be
/// decided in memory is decided at once.
pub struct Toll<L>(Node<L>);

/// A decision that asks the ledger.
pub type TollWait = Pin<Box<dyn Future<Output = Verdict<TollTicket>>>>;

/// What is left of a request once its header is gone.
#[derive(Clone, Copy)]
struct Question {
    operation: Operation,
    bytes: u64,
    client: IpAddr,
    body: BodySize,
    /// Looked for only where something is to be recorded.
    parent: Option<TraceParent>,
}

/// Why a request would not have passed but for shadow mode, and the name of that decision.
type Marked = (Reason, DecisionId);

impl<L> Toll<L> {
    /// A gate that asks this node.
    pub const fn new(node: Node<L>) -> Self {
        Self(node)
    }
}

impl<L: Ledger + Slots + 'static> Gate for Toll<L> {
    type Visit = ();
    type Ticket = TollTicket;
    type Wait = TollWait;

    /// Whose connection it is shows with its first request.
    fn connected(&self, _peer: IpAddr) -> Result<(), Box<Refusal>> {
        Ok(())
    }

    fn admit(&self, request: &RequestInfo<'_>) -> Admission<TollTicket, TollWait> {
        let question = Question::of(request);
        let name = request.app.unwrap_or_default();
        let Some(app) = self.0.resolve(name) else {
            return Admission::Decided(self.turn_away(name, question.within(request)));
        };
        let guard = match self.0.try_connect(&app, question.client) {
            Ok(guard) => guard,
            Err(Denied::Refused(refused)) => {
                return Admission::Decided(self.crowd_out(&app, &refused, question.within(request)));
            }
            Err(Denied::NoSlot) => {
                return Admission::Waiting(self.ask_for_room(app, question.within(request)));
            }
        };
        match self.0.check_of(&app, &question.request(&app)) {
            Ok(permit) => {
                let question = if permit.shadowed().is_some() { question.within(request) } else { question };
                Admission::Decided(self.pass(permit, Some(guard), question))
            }
            Err(NotYet::Refused(decision)) => {
                Admission::Decided(self.refuse(&app, &decision, question.within(request)))
            }
            Err(NotYet::Miss(miss)) => {
                let (toll, question) = (self.clone(), question.within(request));
                Admission::Waiting(Box::pin(async move {
                    toll.conclude(&app, toll.0.wait(miss).await, guard, question)
                }))
            }
        }
    }
}

impl<L: Ledger + Slots + 'static> Toll<L> {
    /// This node has no slot for one more: the ledger may.
    fn ask_for_room(&self, app: Arc<App>, question: Question) -> TollWait {
        let toll = self.clone();
        Box::pin(async move {
            let guard = match toll.0.connect(app.id(), question.client).await {
                Ok(guard) => guard,
                Err(refused) => return toll.crowd_out(&app, &refused, question),
            };
            let decided = match toll.0.check_of(&app, &question.request(&app)) {
                Ok(permit) => Ok(permit),
                Err(NotYet::Refused(decision)) => Err(decision),
                Err(NotYet::Miss(miss)) => toll.0.wait(miss).await,
            };
            toll.conclude(&app, decided, guard, question)
        })
    }

    fn conclude(
        &self,
        app: &App,
        decided: Result<Permit, Decision>,
        guard: Guard,
        question: Question,
    ) -> Verdict<TollTicket> {
        match decided {
            Ok(permit) => self.pass(permit, Some(guard), question),
            Err(decision) => self.refuse(app, &decision, question),
        }
    }

    /// Lets a request pass. Whatever passes only by shadow mode is recorded, as it would be had it been refused.
    fn pass(&self, permit: Permit, guard: Option<Guard>, question: Question) -> Verdict<TollTicket> {
        let record = || self.0.record_within(permit.app().id(), &permit.decision(), question.parent);
        let marked = permit.shadowed().map(|reason| (reason, record()));
        Verdict::Pass(TollTicket::new(permit, guard, question.body, marked))
    }

    /// There is no room for a request: it is refused, unless its application is in shadow mode.
    fn crowd_out(
        &self,
        app: &Arc<App>,
        refused: &connection::Refused,
        question: Question,
    ) -> Verdict<TollTicket> {
        match self.0.crowd_out(app, &question.request(app), refused) {
            Ok(permit) => self.pass(permit, None, question),
            Err(decision) => {
                let id = self.0.record_within(app.id(), &decision, question.parent);
                Verdict::Refuse(no_room(refused, Some(id)))
            }
        }
    }

    fn refuse(&self, app: &App, decision: &Decision, question: Question) -> Verdict<TollTicket> {
        refusal(app.id(), self.0.record_within(app.id(), decision, question.parent), decision)
    }

    /// The request of an application that nobody knows.
    fn turn_away(&self, name: &str, question: Question) -> Verdict<TollTicket> {
        let request = Request::new(name, question.operation).with_bytes(question.bytes);
        match self.0.check(&request) {
            Err(NotYet::Refused(decision)) => {
                refusal(name, self.0.record_within(name, &decision, question.parent), &decision)
            }
            // It became known in this very moment.
            Ok(_) | Err(NotYet::Miss(_)) => Verdict::Refuse(no_room(&connection::Refused::UNKNOWN_APP, None)),
        }
    }
}

impl Question {
    fn of(request: &RequestInfo<'_>) -> Self {
        let RequestInfo { operation, presumed_bytes, client, body, .. } = *request;
        Self { operation, bytes: presumed_bytes, client, body, parent: None }
    }

    /// The same with the span that the request told of.
    fn within(self, request: &RequestInfo<'_>) -> Self {
        Self { parent: TraceParent::of(request.headers), ..self }
    }

    fn request<'a>(&self, app: &'a App) -> Request<'a> {
        Request::new(app.id(), self.operation).with_bytes(self.bytes)
    }
}

fn refusal(app: &str, id: DecisionId, decision: &Decision) -> Verdict<TollTicket> {
    Verdict::Refuse(Box::new(Answer::refusal(app, decision, Some(id), wall()).into()))
}

fn no_room(refused: &connection::Refused, id: Option<DecisionId>) -> Box<Refusal> {
    Box::new(Answer::connection(refused, id).into())
}

impl From<Answer> for Refusal {
    fn from(answer: Answer) -> Self {
        let body = answer.content.json().into();
        Self { status: answer.status, headers: answer.headers, body, reason: answer.reason.code() }
    }
}

impl<L> Clone for Toll<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<L> fmt::Debug for Toll<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toll").finish_non_exhaustive()
    }
}
