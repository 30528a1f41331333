use crate::command::Command;
use crate::reply::{Protocol, Reply};
use crate::throttle::throttle;
use std::sync::Arc;
use tollgate_limiter::{Clock, Limiter, MonotonicClock};

/// How many wrong passwords a client may say.
const MAX_GUESSES: u32 = 3;

/// One client's conversation, without its connection.
#[derive(Debug)]
pub struct Session<C = MonotonicClock> {
    limiter: Arc<Limiter<C>>,
    password: Option<Arc<str>>,
    id: i64,
    is_known: bool,
    /// How many wrong passwords were said, also before it was begun anew.
    guesses: u32,
    protocol: Protocol,
    name: Vec<u8>,
    is_over: bool,
}

impl<C: Clock> Session<C> {
    /// A conversation that has just begun. With a password, nothing is said before it was given.
    pub fn new(limiter: Arc<Limiter<C>>, password: Option<Arc<str>>, id: i64) -> Self {
        let is_known = password.is_none();
        Self {
            limiter,
            password,
            id,
            is_known,
            guesses: 0,
            protocol: Protocol::Two,
            name: Vec::new(),
            is_over: false,
        }
    }

    /// Which version of the protocol the client speaks.
    pub const fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Whether the client said goodbye, or too many wrong passwords.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether there is no password, or it was said.
    pub(crate) const fn is_known(&self) -> bool {
        self.is_known
    }

    /// How many wrong passwords were said.
    pub(crate) const fn guesses(&self) -> u32 {
        self.guesses
    }

    /// Answers a command: its name and its arguments.
    pub fn answer(&mut self, name: &[u8], words: &[&[u8]]) -> Reply {
        let Some(command) = Command::named(name) else {
            let shown: String = String::from_utf8_lossy(name).chars().take(64).collect();
            return Reply::error(format_args!("unknown command '{shown}'"));
        };
        if !self.is_known && !command.is_open() {
            return Reply::Error("NOAUTH Authentication required.".into());
        }
        match (command, words) {
            (Command::Throttle, words) => throttle(&self.limiter, words),
            (Command::Ping, []) => Reply::Simple("PONG"),
            (Command::Ping | Command::Echo, [text]) => Reply::Text(text.to_vec()),
            (Command::Auth, [password]) => self.authenticate(b"default", password),
            (Command::Auth, [user, password]) => self.authenticate(user, password),
            (Command::Hello, words) => self.hello(words),
            (Command::Client, [part, rest @ ..]) => self.client(part, rest),
            (Command::Table, words) => command_table(words),
            (Command::Config, _) => Reply::Map(Vec::new()),
            (Command::Info, _) => Reply::Text(INFO.as_bytes().to_vec()),
            (Command::Quit, _) => {
                self.is_over = true;
                Reply::Simple("OK")
            }
            (Command::Reset, _) => {
                let guesses = self.guesses;
                *self = Self::new(Arc::clone(&self.limiter), self.password.clone(), self.id);
                self.guesses = guesses;
                Reply::Simple("RESET")
            }
            (Command::Select, [b"0"]) => Reply::Simple("OK"),
            (Command::Select, [_]) => Reply::error("DB index is out of range, there is only 0"),
            _ => {
                let shown = String::from_utf8_lossy(name).to_lowercase();
                Reply::error(format_args!("wrong number of arguments for '{shown}' command"))
            }
        }
    }

    fn authenticate(&mut self, user: &[u8], password: &[u8]) -> Reply {
        let Some(expected) = &self.password else {
            return Reply::error("AUTH called without any password configured");
        };
        if user == b"default" && is_equal(expected.as_bytes(), password) {
            self.is_known = true;
            return Reply::Simple("OK");
        }
        self.guesses += 1;
        self.is_over |= self.guesses >= MAX_GUESSES;
        Reply::Error("WRONGPASS invalid username-password pair or user is disabled.".into())
    }

    /// `HELLO [version [AUTH user password] [SETNAME name]]`
    fn hello(&mut self, words: &[&[u8]]) -> Reply {
        let protocol = match words.first().copied() {
            None => self.protocol,
            Some(b"2") => Protocol::Two,
            Some(b"3") => Protocol::Three,
            Some(_) => return Reply::Error("NOPROTO unsupported protocol version".into()),
        };
        let mut rest = words.get(1..).unwrap_or_default();
        while let [option, more @ ..] = rest {
            rest = match more {
                [user, password, more @ ..] if option.eq_ignore_ascii_case(b"auth") => {
                    if let refused @ Reply::Error(_) = self.authenticate(user, password) {
                        return refused;
                    }
                    more
                }
                [name, more @ ..] if option.eq_ignore_ascii_case(b"setname") => {
                    self.name = name.to_vec();
                    more
                }
                _ => return Reply::error("syntax error in HELLO"),
            };
        }
        if !self.is_known {
            return Reply::Error("NOAUTH HELLO must be called with the client already authenticated.".into());
        }
        self.protocol = protocol;
        let number = if protocol == Protocol::Three { 3 } else { 2 };
        Reply::Map(vec![
            ("server", text("tollgate")),
            ("version", text(env!("CARGO_PKG_VERSION"))),
            ("proto", Reply::Number(number)),
            ("id", Reply::Number(self.id)),
            ("mode", text("standalone")),
            ("role", text("master")),
            ("modules", Reply::List(Vec::new())),
        ])
    }

    fn client(&mut self, part: &[u8], words: &[&[u8]]) -> Reply {
        let is = |name: &str| part.eq_ignore_ascii_case(name.as_bytes());
        match words {
            [name] if is("setname") => {
                self.name = name.to_vec();
                Reply::Simple("OK")
            }
            [_, _] if is("setinfo") => Reply::Simple("OK"),
            [_] if is("no-evict") || is("no-touch") => Reply::Simple("OK"),
            [] if is("getname") && self.name.is_empty() => Reply::Null,
            [] if is("getname") => Reply::Text(self.name.clone()),
            [] if is("id") => Reply::Number(self.id),
            _ => Reply::error("unknown subcommand of CLIENT"),
        }
    }
}

/// What clients want to know before they say anything else.
const INFO: &str = concat!(
    "# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\nserver_name:tollgate\r\n\
    tollgate_version:",
    env!("CARGO_PKG_VERSION"),
    "\r\n# Persistence\r\nloading:0\r\n# Replication\r\nrole:master\r\n"
);

fn command_table(words: &[&[u8]]) -> Reply {
    let is = |name: &str| words.first().is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()));
    let count = i64::try_from(Command::ALL.len()).unwrap_or(0);
    if is("count") {
        return Reply::Number(count);
    }
    if is("docs") {
        return Reply::Map(Vec::new());
    }
    if is("list") {
        return Reply::List(Command::ALL.iter().map(|(name, ..)| text(name)).collect());
    }
    let row = |(name, words, command): &(&str, i64, Command)| {
        // A key is the first argument of one command; the others have none.
        let key = i64::from(*command == Command::Throttle);
        let flags = Reply::List(vec![Reply::Simple("fast")]);
        Reply::List(vec![
            text(name),
            Reply::Number(-words),
            flags,
            Reply::Number(key),
            Reply::Number(key),
            Reply::Number(key),
        ])
    };
    Reply::List(Command::ALL.iter().map(row).collect())
}

fn text(text: &str) -> Reply {
    Reply::Text(text.as_bytes().to_vec())
}

/// Takes as long whether much or little is the same.
fn is_equal(expected: &[u8], given: &[u8]) -> bool {
    let differences = given.iter().zip(expected.iter().cycle()).fold(0, |sum, (a, b)| sum | (a ^ b));
    differences == 0 && expected.len() == given.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(password: Option<&str>) -> Session {
        Session::new(Arc::new(Limiter::default()), password.map(Into::into), 7)
    }

    fn said(session: &mut Session, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        session.answer(words[0], &words[1..]).write(session.protocol(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn without_the_password_nothing_is_said() {
        let mut session = session(Some("open sesame".split(' ').next().unwrap()));
        for command in ["PING", "CL.THROTTLE k 1 1 1", "INFO", "COMMAND"] {
            assert!(said(&mut session, command).starts_with("-NOAUTH"), "{command}");
        }
        assert!(said(&mut session, "HELLO 3").starts_with("-NOAUTH"));
        for wrong in
            ["AUTH sesame", "AUTH ope", "AUTH openopen", "AUTH other open", "HELLO 3 AUTH default sesame"]
        {
            assert!(said(&mut session, wrong).starts_with("-WRONGPASS"), "{wrong}");
        }
        assert!(said(&mut session, "HELLO 3 AUTH default open SETNAME me").starts_with("%7\r\n"));
        assert_eq!(said(&mut session, "PING"), "+PONG\r\n");
        assert_eq!(said(&mut session, "CLIENT GETNAME"), "$2\r\nme\r\n");
        assert_eq!(said(&mut session, "RESET"), "+RESET\r\n");
        assert!(said(&mut session, "PING").starts_with("-NOAUTH"));
        assert_eq!(said(&mut session, "auth open"), "+OK\r\n");
    }

    #[test]
    fn what_clients_say_first_is_answered() {
        let mut session = session(None);
        assert_eq!(said(&mut session, "CLIENT SETINFO LIB-NAME x"), "+OK\r\n");
        assert_eq!(said(&mut session, "SELECT 0"), "+OK\r\n");
        assert!(said(&mut session, "SELECT 1").starts_with("-ERR"));
        assert!(said(&mut session, "COMMAND").starts_with("*12\r\n*6\r\n$11\r\ncl.throttle\r\n:-5\r\n"));
        assert!(said(&mut session, "INFO").contains("loading:0"));
        assert!(said(&mut session, "HELLO 4").starts_with("-NOPROTO"));
        assert!(said(&mut session, "GET k").starts_with("-ERR unknown command 'GET'"));
        assert!(said(&mut session, "ECHO").starts_with("-ERR wrong number of arguments for 'echo'"));
        assert_eq!(said(&mut session, "cl.throttle k 1 1 60"), "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:60\r\n");
        assert!(!session.is_over());
        assert_eq!(said(&mut session, "QUIT"), "+OK\r\n");
        assert!(session.is_over());
    }
}
