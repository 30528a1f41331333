//! The door for clients of Redis.

use crate::error::Problem;
use crate::reader::Table;
use serde_json::{Value, json};
use std::fmt;
use std::net::SocketAddr;
use tollgate_core::units::Millis;

/// A day, in milliseconds.
const DAY_MS: u64 = 86_400_000;

/// Everything the door needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resp {
    /// Where it listens; none for nowhere.
    pub listen: Option<SocketAddr>,
    /// What clients must say first.
    pub password: Option<Password>,
    /// How many keys to set memory aside for, at 48 bytes each.
    pub max_keys: usize,
    /// The most clients at a time.
    pub max_connections: u32,
    /// How long a client may say nothing; none for as long as it likes.
    pub idle: Option<Millis>,
}

/// A text that is shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(***)")
    }
}

impl Default for Resp {
    fn default() -> Self {
        Self { listen: None, password: None, max_keys: 65_536, max_connections: 1_000, idle: None }
    }
}

impl Resp {
    pub(crate) fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let listen = table.field("listen").text("an address like 127.0.0.1:6380", address).map(Some).or(None);
        let password =
            table.field("password").text("1 to 256 visible characters", password).map(Some).or(None);
        let max_keys = table.field("max_keys").size(1..=100_000_000);
        let max_connections = table.field("max_connections").count(1..=1_000_000);
        let idle = table.field("idle_ms").whole(0..=DAY_MS);
        table.finish();
        Some(Self {
            listen: listen?,
            password: password?,
            max_keys: max_keys.or(default.max_keys)?,
            max_connections: max_connections.or(default.max_connections)?,
            idle: idle.map(|idle| (idle > 0).then_some(Millis::new(idle))).or(default.idle)?,
        })
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({
            "listen": self.listen.map(|listen| listen.to_string()),
            "password": self.password.as_ref().map(|_| "a hidden value"),
            "max_keys": self.max_keys,
            "max_connections": self.max_connections,
            "idle_ms": self.idle.map_or(0, Millis::get),
        })
    }
}

fn address(text: &str) -> Result<SocketAddr, Problem> {
    text.parse().map_err(|_| Problem::Malformed("not an address"))
}

fn password(text: &str) -> Result<Password, Problem> {
    let is_right = (1..=256).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_graphic());
    if is_right { Ok(Password(text.to_owned())) } else { Err(Problem::Malformed("not a password")) }
}

#[cfg(test)]
mod tests {
    use crate::source::{Document, Format};

    #[test]
    fn the_door_is_shut_unless_it_has_an_address_and_keeps_its_password() {
        let read = |text: &str| Document::parse(text, Format::Toml).unwrap().read();
        assert_eq!(read("").unwrap().settings.resp.listen, None);
        let open = read("[resp]\nlisten = '127.0.0.1:6380'\npassword = 'hunter2'\nidle_ms = 1000").unwrap();
        let resp = &open.settings.resp;
        assert_eq!(resp.password.as_ref().map(super::Password::reveal), Some("hunter2"));
        assert!(!format!("{open:?}{}", open.settings.to_value()).contains("hunter2"));
        let wrong = read("[resp]\npassword = 'hunter 2'\nmax_keys = 0").unwrap_err().to_string();
        assert!(!wrong.contains("hunter") && wrong.contains("resp.max_keys: out of range"), "{wrong}");
    }
}
