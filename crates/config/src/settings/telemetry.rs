use super::base_url;
use crate::error::Problem;
use crate::reader::Table;
use serde_json::{Value, json};

/// Where traces go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// The collector that takes OTLP over HTTP; none for no traces.
    pub endpoint: Option<String>,
    /// What the process is called in traces.
    pub service: String,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { endpoint: None, service: "tollgate".into() }
    }
}

impl Telemetry {
    pub(super) fn read(mut table: Table<'_>) -> Option<Self> {
        let endpoint = table.field("endpoint").text(base_url::EXPECTED, base_url::parse).map(Some).or(None);
        let service = table.field("service").text("1 to 128 visible characters", service);
        table.finish();
        Some(Self { endpoint: endpoint?, service: service.or(Self::default().service)? })
    }

    pub(super) fn to_value(&self) -> Value {
        json!({"endpoint": self.endpoint, "service": self.service})
    }
}

fn service(text: &str) -> Result<String, Problem> {
    let is_name = (1..=128).contains(&text.chars().count()) && !text.contains(char::is_control);
    if is_name { Ok(text.to_owned()) } else { Err(Problem::Malformed("not a name")) }
}
