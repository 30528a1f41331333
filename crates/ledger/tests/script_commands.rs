//! The commands that scripts give: all are known to the oldest server that is supported, and to the access list that is
//! offered as an example.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeSet;
use tollgate_ledger::script::ALL;

/// The commands and the version of Redis that brought them in the form in which scripts use them: `HSET` takes several
/// fields since 4.0.
const SINCE: [(&str, (u32, u32)); 27] = [
    ("DEL", (1, 0)),
    ("EXISTS", (1, 0)),
    ("HDEL", (2, 0)),
    ("HGET", (2, 0)),
    ("HGETALL", (2, 0)),
    ("HINCRBY", (2, 0)),
    ("HMGET", (2, 0)),
    ("HSET", (4, 0)),
    ("LINDEX", (1, 0)),
    ("LLEN", (1, 0)),
    ("LPOP", (1, 0)),
    ("LPUSH", (2, 4)),
    ("LRANGE", (1, 0)),
    ("LREM", (1, 0)),
    ("LTRIM", (1, 0)),
    ("PEXPIRE", (2, 6)),
    ("PUBLISH", (2, 0)),
    ("RPUSH", (1, 0)),
    ("SPUBLISH", (7, 0)),
    ("TIME", (2, 6)),
    ("ZADD", (1, 2)),
    ("ZCARD", (1, 2)),
    ("ZRANGE", (1, 2)),
    ("ZRANGEBYLEX", (2, 8)),
    ("ZRANGEBYSCORE", (1, 0)),
    ("ZREM", (1, 2)),
    ("ZSCORE", (1, 2)),
];

const OLDEST_SERVER: (u32, u32) = (6, 2);

/// What the client gives besides: to run scripts, to find the servers of a cluster, to listen and to see whether a
/// connection lives.
const OF_THE_CLIENT: [&str; 7] =
    ["CLUSTER|SLOTS", "EVALSHA", "PING", "SCRIPT|LOAD", "SELECT", "SSUBSCRIBE", "SUBSCRIBE"];

/// The names that follow `call` in any script.
fn names_after(call: &str) -> BTreeSet<&'static str> {
    let names = |text: &'static str| {
        text.match_indices(call).map(|(at, _)| {
            let rest = &text[at + call.len()..];
            let name = rest.strip_prefix("('").and_then(|rest| rest.split_once('\''));
            // One helper is handed the name of the command.
            name.map_or_else(|| rest.strip_prefix("(command, key").map(|_| ""), |(name, _)| Some(name))
        })
    };
    let all = ALL.iter().flat_map(|script| names(script.text));
    let all = all.map(|name| name.unwrap_or_else(|| panic!("a call of {call} by no name")));
    all.filter(|name| !name.is_empty()).collect()
}

fn since(name: &str) -> (u32, u32) {
    SINCE.iter().find(|known| known.0 == name).unwrap_or_else(|| panic!("{name} is not in the list")).1
}

/// Those that must succeed.
fn called() -> BTreeSet<&'static str> {
    let batched = names_after(" in_batches").into_iter().filter(|name| *name != "command");
    names_after("redis.call").into_iter().chain(batched).collect()
}

#[test]
fn scripts_need_nothing_that_the_oldest_server_has_not() {
    for name in called() {
        assert!(since(name) <= OLDEST_SERVER, "{name} came with {:?}", since(name));
    }
    assert!(
        names_after("redis.pcall").iter().all(|name| since(name) <= OLDEST_SERVER || *name == "SPUBLISH")
    );
}

#[test]
fn the_example_of_an_access_list_allows_what_is_needed_and_nothing_else() {
    let list = include_str!("../../../examples/redis.acl");
    let allowed: BTreeSet<String> =
        list.split_whitespace().filter_map(|word| word.strip_prefix('+')).map(str::to_uppercase).collect();
    let tried = names_after("redis.pcall");
    let needed: BTreeSet<String> =
        called().into_iter().chain(tried).chain(OF_THE_CLIENT).map(str::to_owned).collect();
    assert_eq!(allowed, needed);
    assert_eq!(list.lines().count(), 1, "a server takes nothing else in such a file");
}
