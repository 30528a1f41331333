mod echo;
mod http;
mod program;
mod tollgate;
mod upstream;

pub(crate) use echo::Echo;
pub(crate) use http::{Reply, ask, ask_on, exchange, open};
pub(crate) use program::{Program, docs_block};
pub(crate) use tollgate::{Tollgate, run};
pub(crate) use upstream::Upstream;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until it is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Held by a test that opens thousands of connections: two at a time would be more than a process may have open.
pub(crate) fn crowd() -> MutexGuard<'static, ()> {
    static CROWD: Mutex<()> = Mutex::new(());
    CROWD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many files this process may have open.
pub(crate) fn most_files() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    files.split_whitespace().next().unwrap().parse().unwrap_or(usize::MAX)
}

/// Applications with little, so that limits are soon met: `tiny` has 3 tokens, `writer` 6, at one a second each.
pub(crate) const APPS: &str = "
[[apps]]
id = 'tiny'
guaranteed_quota = 1
burst_quota = 3
borrow = false
[[apps]]
id = 'writer'
guaranteed_quota = 1
burst_quota = 6
borrow = false
[[apps]]
id = 'large'
guaranteed_quota = 100_000
burst_quota = 500_000
";
