use crate::error::Problem;
use crate::reader::Table;
use serde_json::{Value, json};

/// What the process says about itself on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// What is worth saying.
    pub level: LogLevel,
    /// For whom.
    pub format: LogFormat,
}

/// What is worth saying: everything down to this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What went wrong.
    Error,
    /// What may go wrong.
    Warn,
    /// What happens once in a while.
    #[default]
    Info,
    /// What happens often.
    Debug,
    /// Everything.
    Trace,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

impl Log {
    pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
        let default = Self::default();
        let level = table.field("level").text(LogLevel::EXPECTED, parse_level).or(default.level);
        let format = table.field("format").text("\"text\" or \"json\"", parse_format).or(default.format);
        table.finish();
        Some(Self { level: level?, format: format? })
    }

    pub(super) fn to_value(self) -> Value {
        let format = if self.format == LogFormat::Json { "json" } else { "text" };
        json!({"level": self.level.name(), "format": format})
    }
}

impl LogLevel {
    /// What is accepted.
    pub const EXPECTED: &'static str = "\"off\", \"error\", \"warn\", \"info\", \"debug\" or \"trace\"";

    /// Every level, from nothing to everything.
    pub const ALL: [Self; 6] = [Self::Off, Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// The level of that name.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == text)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

fn parse_level(text: &str) -> Result<LogLevel, Problem> {
    LogLevel::named(text).ok_or(Problem::Malformed("unknown word"))
}

fn parse_format(text: &str) -> Result<LogFormat, Problem> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(Problem::Malformed("unknown word")),
    }
}
