//! The only place here that reads the time.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, by the machine's clock.
pub(crate) fn wall() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
