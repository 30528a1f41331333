//! Showing connections.

use super::connections::Connections;
use super::table::Table;
use super::track::{ConnectionId, Status, Track};
use std::net::IpAddr;
use tollgate_core::id::{AppId, ClusterId};
use tollgate_core::units::Nanos;

/// An open connection, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// Its number on this node.
    pub id: ConnectionId,
    /// Its application.
    pub app: AppId,
    /// Its cluster.
    pub cluster: ClusterId,
    /// Where it comes from.
    pub client: IpAddr,
    /// When it was opened, by the node's clock.
    pub opened_at: Nanos,
    /// When it was last seen, by the node's clock.
    pub last_seen: Nanos,
    /// What became of it.
    pub status: Status,
}

/// Some of the open connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many there are in all.
    pub total: usize,
    /// Those of this page.
    pub connections: Vec<ConnectionInfo>,
}

impl Connections {
    /// The most connections on a page.
    pub const MAX_PAGE: usize = 1_000;

    /// A page of the tracked connections, of one application or of all; the first page is 0, and a page has at most
    /// [`Connections::MAX_PAGE`]. Connections that come and go meanwhile may be missed or shown twice.
    pub fn list(&self, app: Option<&AppId>, page: usize, limit: usize) -> Page {
        let limit = limit.min(Self::MAX_PAGE);
        let skip = page.saturating_mul(limit);
        let (mut total, mut connections) = (0, Vec::new());
        for index in 0..Table::SHARDS {
            let shard = self.0.shared.table.shard(index);
            let is_wanted = |track: &Track| app.is_none_or(|app| track.room.app == *app);
            let is_elsewhere = total + shard.len() <= skip || connections.len() == limit;
            if app.is_none() && is_elsewhere {
                total += shard.len();
                continue;
            }
            for (_, track) in shard.from(0).filter(|(_, track)| is_wanted(track)) {
                if total >= skip && connections.len() < limit {
                    connections.push(ConnectionInfo::of(track));
                }
                total += 1;
            }
        }
        Page { total, connections }
    }
}

impl ConnectionInfo {
    fn of(track: &Track) -> Self {
        Self {
            id: track.id,
            app: track.room.app.clone(),
            cluster: track.room.shared.cluster.clone(),
            client: track.client,
            opened_at: track.opened_at,
            last_seen: track.last_seen(),
            status: track.status(),
        }
    }
}
