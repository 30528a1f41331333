//! What the process says about itself: on standard error, a line for each event.

use tollgate_config::settings::{Log, LogFormat, LogLevel};
use tracing_subscriber::filter::LevelFilter;

/// Says from now on what is worth saying. Has no effect the second time.
pub(crate) fn start(log: Log) {
    let level = match log.level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    let builder = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level);
    // Both fail only where somebody else has taken the place, which is as good.
    let _ = match log.format {
        LogFormat::Text => builder.with_ansi(false).with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
