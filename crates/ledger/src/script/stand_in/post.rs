//! What scripts publish, and who listens in this process.

use super::command::{Command, CommandError};
use crate::notice::Hub;
use crate::script::Value;

/// The channels.
#[derive(Default)]
pub(super) struct Post {
    pub(super) hub: Hub<String>,
    /// What the last script published: channels and messages.
    pub(super) published: Vec<(String, String)>,
}

impl Post {
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
        if tag(channel).is_none() || tag(channel) != tag(root) {
            return Some(Err(command.refuse("goes to a channel in another slot than the declared key")));
        }
        // As on a single server: whoever listens does so outside of any shard.
        if is_sharded {
            return Some(Ok(Value::Int(0)));
        }
        let [channel, message] = [channel, message].map(|text| String::from_utf8_lossy(text).into_owned());
        if let Ok(version) = message.parse() {
            self.hub.tell(&channel, version);
        }
        self.published.push((channel, message));
        Some(Ok(Value::Int(0)))
    }
}

/// What is in braces and decides the slot.
fn tag(key: &[u8]) -> Option<&[u8]> {
    let from = key.iter().position(|&c| c == b'{')? + 1;
    let length = key[from..].iter().position(|&c| c == b'}')?;
    Some(&key[from..from + length])
}
