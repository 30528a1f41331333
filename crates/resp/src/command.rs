//! The commands that are known, each told by its name.

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Auth,
    Client,
    Table,
    Config,
    Echo,
    Hello,
    Info,
    Ping,
    Quit,
    Reset,
    Select,
    Throttle,
}

impl Command {
    /// Every command: its name, how many words it takes at least with its name, and what it is.
    pub(crate) const ALL: [(&'static str, i64, Self); 12] = [
        ("cl.throttle", 5, Self::Throttle),
        ("ping", 1, Self::Ping),
        ("auth", 2, Self::Auth),
        ("client", 2, Self::Client),
        ("command", 1, Self::Table),
        ("config", 2, Self::Config),
        ("echo", 2, Self::Echo),
        ("hello", 1, Self::Hello),
        ("info", 1, Self::Info),
        ("quit", 1, Self::Quit),
        ("reset", 1, Self::Reset),
        ("select", 2, Self::Select),
    ];

    /// The command of that name, in any case.
    pub(crate) fn named(name: &[u8]) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(known, ..)| name.eq_ignore_ascii_case(known.as_bytes()))
            .map(|&(.., command)| command)
    }

    /// Whether it may be given before anybody said who they are.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Auth | Self::Hello | Self::Quit | Self::Reset)
    }
}
