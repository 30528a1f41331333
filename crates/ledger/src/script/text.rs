//! The scripts as they are shipped: the clock, the book and one operation each.

use super::{board, connection, question};

/// A script, ready to be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    /// What it is called: unique, and the name of its file.
    pub name: &'static str,
    /// All of its text.
    pub text: &'static str,
}

impl Script {
    /// The same script on a clock that a test sets: the number at `<key>:now`, in milliseconds.
    pub fn on_test_clock(&self) -> String {
        let rest = self.text.strip_prefix(CLOCK).unwrap_or(self.text);
        [TEST_CLOCK, rest].concat()
    }
}

const CLOCK: &str = include_str!("lua/clock.lua");

const TEST_CLOCK: &str = include_str!("lua/test_clock.lua");

/// Every operation starts by bringing the book up to now, which may touch all of these; but what is rare is defined
/// only when it is needed.
macro_rules! script {
    ($name:literal $(with $part:literal)? $(after $short_cut:literal)?) => {
        Script {
            name: $name,
            text: concat!(
                include_str!("lua/clock.lua"),
                include_str!("lua/book/units.lua"),
                include_str!("lua/book/rows.lua"),
                include_str!("lua/book/batches.lua"),
                include_str!("lua/book/operations.lua"),
                $(include_str!(concat!("lua/book/", $short_cut, ".lua")),)?
                // A function that is defined looks for each variable it refers to among those of the function around it that
                // others refer to, from the last to the first. Those that all refer to are out of that search here.
                "return (function()\n",
                include_str!("lua/book/rare/open.lua"),
                include_str!("lua/book/cluster.lua"),
                include_str!("lua/book/app.lua"),
                include_str!("lua/book/node.lua"),
                include_str!("lua/book/book.lua"),
                "function open_rare()\n",
                include_str!("lua/book/rare/units.lua"),
                include_str!("lua/book/rare/history.lua"),
                include_str!("lua/book/rare/cluster.lua"),
                include_str!("lua/book/rare/notice.lua"),
                include_str!("lua/book/rare/app.lua"),
                include_str!("lua/book/rare/grant.lua"),
                include_str!("lua/book/rare/node.lua"),
                include_str!("lua/book/rare/call.lua"),
                include_str!("lua/book/rare/policy.lua"),
                include_str!("lua/book/rare/reservation.lua"),
                include_str!("lua/book/rare/operate.lua"),
                "end\n",
                $(include_str!(concat!("lua/book/", $part, ".lua")),)?
                include_str!(concat!("lua/", $name, ".lua")),
                "end)()\n",
            ),
        }
    };
}

macro_rules! scripts {
    ($($constant:ident = $name:literal $(with $part:literal)? $(after $short_cut:literal)?;)+) => {
        $(pub(super) static $constant: Script = script!($name $(with $part)? $(after $short_cut)?);)+

        /// Every script.
        pub static ALL: &[&Script] = &[
            $(&$constant,)+
            &connection::HOLD,
            &connection::REPORT,
            &connection::STATS,
            &connection::EVENTS,
            &board::PIN,
            &board::PINNED,
            &question::ASK,
            &question::ANSWER,
            &question::ANSWER_TO,
        ];
    };
}

scripts! {
    ACQUIRE = "acquire";
    APPS = "apps" with "view";
    AUDIT = "audit" with "audit";
    BORROW = "borrow";
    CANCEL = "cancel";
    CHANGES = "changes" with "view";
    CLUSTER = "cluster";
    COMPLETE = "complete";
    DECLARE_EMERGENCY = "declare_emergency";
    DELETE_APP = "delete_app";
    DEPART = "depart" with "sync";
    END_EMERGENCY = "end_emergency";
    PUT_APP = "put_app";
    PUT_CLUSTER = "put_cluster";
    RECONCILE = "reconcile" with "audit";
    REPAY = "repay";
    RESERVE = "reserve";
    RESET = "reset";
    SCHEDULED = "scheduled" with "view";
    SEED = "seed";
    SYNC = "sync" with "sync" after "plain";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_can_run_on_a_test_clock() {
        for script in ALL {
            let text = script.on_test_clock();
            assert!(text.starts_with(TEST_CLOCK) && !text.contains("'TIME'"), "{}", script.name);
        }
    }
}
