//! What only another node knows.
//!
//! Nodes that share a database share accounts and tokens: whoever may ask one of them may ask the others, and is known there.
//! So a question is passed on with the caller's own token, and only to nodes that the database names.

use super::nodes;
use crate::clock;
use crate::outbound;
use crate::problem::Problem;
use crate::state::Admin;
use http::{HeaderMap, StatusCode, Uri, header};
use serde::de::DeserializeOwned;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::task::JoinSet;

/// Marks a question that was passed on: it is not passed on again.
const PASSED_ON: &str = "x-tollgate-passed-on";

/// How long the others may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many of the others are asked.
const MOST: usize = 64;

/// Asks the other nodes for what is at a path; the first one that has it is believed.
pub(super) async fn ask<T: DeserializeOwned>(
    admin: &Admin,
    headers: &HeaderMap,
    path: &str,
) -> Result<Option<T>, Problem> {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(token) = token.filter(|_| admin.is_shared && !headers.contains_key(PASSED_ON)) else {
        return Ok(None);
    };
    let rows = admin.store.node_reports(clock::wall() - nodes::SHOWN_MS).await?;
    let reports = rows.iter().filter(|(node, ..)| **node != *admin.settings.node);
    let addresses = reports.filter_map(|(_, _, report)| nodes::address_in(report));
    let mut asked: JoinSet<Option<bytes::Bytes>> = JoinSet::new();
    for address in addresses.take(MOST) {
        asked.spawn(ask_one(address, path.to_owned(), token.to_owned()));
    }
    let first = async {
        while let Some(answer) = asked.join_next().await {
            let read = answer.ok().flatten().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            if read.is_some() {
                return read;
            }
        }
        None
    };
    Ok(tokio::time::timeout(PATIENCE, first).await.unwrap_or_default())
}

async fn ask_one(address: SocketAddr, path: String, token: String) -> Option<bytes::Bytes> {
    let uri: Uri = format!("http://{address}{path}").parse().ok()?;
    let headers = [(header::AUTHORIZATION.as_str(), token.as_str()), (PASSED_ON, "1")];
    let (status, body) = outbound::get(&uri, address, &headers).await.ok()?;
    (status == StatusCode::OK).then_some(body)
}
