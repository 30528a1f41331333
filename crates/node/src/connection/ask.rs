//! Opening a connection that needs a slot of the ledger.

use super::connections::{Connections, Obstacle};
use super::guard::Guard;
use super::refused::Refused;
use super::room::Room;
use super::rounds::Waiting;
use std::net::IpAddr;
use std::sync::Arc;
use tollgate_core::id::AppId;
use tollgate_core::units::Nanos;

impl Connections {
    /// Opens a connection, asking the ledger for a slot if this node holds none: all who need one share a call. Never
    /// waits longer than the ledger timeout, and not at all while the ledger is out of reach; a connection is let in
    /// without a slot then, and the ledger is told once it is back.
    ///
    /// `now` must be the time of the keeper's clock. A caller that goes away while waiting leaves nothing behind.
    pub async fn open(&self, app: &AppId, client: IpAddr, now: Nanos) -> Result<Guard, Refused> {
        let Some(room) = self.room(app) else { return Err(Refused::UNKNOWN_APP) };
        match self.try_enter(&room, client, now) {
            Ok(guard) => Ok(guard),
            Err(Obstacle::Limit(shortage)) => Err(self.refuse(&room, shortage)),
            Err(Obstacle::NoSlot) => self.ask(&room, client, now).await,
        }
    }

    async fn ask(&self, room: &Arc<Room>, client: IpAddr, now: Nanos) -> Result<Guard, Refused> {
        let _waiting = Waiting::new(room);
        let answer = self.until_answered(room, client, now);
        match tokio::time::timeout(self.0.settings.ledger_timeout, answer).await {
            Ok(Ok(guard)) => Ok(guard),
            Ok(Err(Obstacle::Limit(shortage))) => Err(self.refuse(room, shortage)),
            Ok(Err(Obstacle::NoSlot)) | Err(_) => Ok(Guard::untracked(Arc::clone(room))),
        }
    }

    /// The connection, or what is in its way; no slot if the ledger could not be asked.
    async fn until_answered(&self, room: &Arc<Room>, client: IpAddr, now: Nanos) -> Result<Guard, Obstacle> {
        let rounds = &self.0.rounds;
        let mut finished = rounds.subscribe();
        let mut mine = rounds.ask(room);
        loop {
            if finished.changed().await.is_err() {
                return Err(Obstacle::NoSlot);
            }
            let round = *finished.borrow_and_update();
            match self.try_enter(room, client, now) {
                Err(Obstacle::NoSlot) => {}
                result => return result,
            }
            if round.number >= mine {
                if !round.is_answered {
                    return Err(Obstacle::NoSlot);
                }
                // Others were faster to take what was granted.
                mine = rounds.ask(room);
            }
        }
    }
}
