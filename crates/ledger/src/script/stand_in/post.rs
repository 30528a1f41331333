//! What scripts publish, and who listens in this process.

use super::command::{Command, CommandError};
use crate::notice::{Hub, Notices};
use crate::script::{Channels, Value};

/// What the channels of changes start with.
const CHANGES: &str = "ratelimit:config:";

/// The channels.
#[derive(Default)]
pub(super) struct Post {
    /// By what decides the slot: a cluster's channels share it.
    hub: Hub<Vec<u8>>,
    /// What the last script published: channels and messages.
    pub(super) published: Vec<(String, String)>,
}

impl Post {
    pub(super) fn listen(&self, channels: &Channels) -> Notices {
        self.hub.listen(&tag(channels.changes.as_bytes()).unwrap_or_default().to_vec())
    }

    /// Publishes, if that is what the command does.
    pub(super) fn run(&mut self, command: &Command, root: &[u8]) -> Option<Result<Value, CommandError>> {
        let is_sharded = match command.name() {
            "PUBLISH" => false,
            "SPUBLISH" => true,
            _ => return None,
        };
        let [channel, message] = command.args() else {
            return Some(Err(command.refuse("takes a channel and a message")));
        };
        let Some(cluster) = tag(channel).filter(|cluster| tag(root) == Some(cluster)) else {
            return Some(Err(command.refuse("goes to a channel in another slot than the declared key")));
        };
        // As on a single server: whoever listens does so outside of any shard.
        if is_sharded {
            return Some(Ok(Value::Int(0)));
        }
        let cluster = cluster.to_vec();
        let [channel, message] = [channel, message].map(|text| String::from_utf8_lossy(text).into_owned());
        let mut heard = 0;
        if let Ok(question) = message.parse() {
            heard = self.hub.ask(&cluster, &question);
        } else if let Some(Ok(version)) = channel.starts_with(CHANGES).then(|| message.parse()) {
            self.hub.tell(&cluster, version);
        }
        self.published.push((channel, message));
        Some(Ok(Value::Int(i64::try_from(heard).unwrap_or(i64::MAX))))
    }
}

/// What is in braces and decides the slot.
fn tag(key: &[u8]) -> Option<&[u8]> {
    let from = key.iter().position(|&c| c == b'{')? + 1;
    let length = key[from..].iter().position(|&c| c == b'}')?;
    Some(&key[from..from + length])
}
