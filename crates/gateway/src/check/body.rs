//! Bodies of requests: small, and JSON objects if there are any.

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Incoming};
use serde_json::{Map, Value};
use std::time::Duration;
use tollgate_core::cost::MAX_COST;
use tollgate_core::id::AppId;

/// The largest body that is read.
const MAX_BYTES: usize = 16 * 1024;

/// How long it may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// The fields of a request, each to be taken once.
#[derive(Debug)]
pub(super) struct Fields(Map<String, Value>);

/// The object that a body is; `None` if there is no body.
pub(super) async fn read(body: Incoming) -> Result<Option<Fields>, String> {
    if body.is_end_stream() {
        return Ok(None);
    }
    let read = tokio::time::timeout(PATIENCE, Limited::new(body, MAX_BYTES).collect()).await;
    let bytes = match read {
        Ok(Ok(bytes)) => bytes.to_bytes(),
        Ok(Err(_)) => return Err(format!("the body breaks off or has more than {MAX_BYTES} bytes")),
        Err(_) => return Err("the body comes too slowly".into()),
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(map)) => Ok(Some(Fields(map))),
        Ok(_) => Err("the body is not a JSON object".into()),
        Err(error) => Err(format!("the body is not JSON: {error}")),
    }
}

impl Fields {
    /// Whose request it is.
    pub(super) fn app(&mut self) -> Result<String, String> {
        let app = self.text("app")?.ok_or("app: missing (expected the name of an application)")?;
        AppId::new(&app).map_err(|error| format!("app: a name that is {error}"))?;
        Ok(app)
    }

    /// An amount of tokens that a request may cost.
    pub(super) fn tokens(&mut self, key: &str) -> Result<Option<u64>, String> {
        let most = MAX_COST;
        match self.number(key)? {
            Some(cost) if cost > most => {
                Err(format!("{key}: out of range (got {cost}, expected at most {most})"))
            }
            cost => Ok(cost),
        }
    }

    pub(super) fn number(&mut self, key: &str) -> Result<Option<u64>, String> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let wrong = || format!("{key}: wrong type (expected a whole number from 0 on)");
        value.as_u64().map(Some).ok_or_else(wrong)
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("{key}: wrong type (expected a text)")),
        }
    }

    /// Nothing else may be there.
    pub(super) fn finish(self, known: &str) -> Result<(), String> {
        match self.0.keys().next() {
            // Only letters that do no harm in an answer are repeated.
            Some(key) => {
                let key: String = key.chars().take(40).filter(|c| !c.is_control()).collect();
                Err(format!("{key}: unknown key (expected {known})"))
            }
            None => Ok(()),
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key).filter(|value| !value.is_null())
    }
}
