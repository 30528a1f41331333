//! Asks servers regularly how they are.

use super::connect::{Opened, connect};
use super::endpoint::Endpoint;
use super::lease::Added;
use bytes::Bytes;
use http::{Request, Uri, header};
use http_body_util::Empty;
use std::sync::{Arc, Weak};

/// Starts asking every server that is to be asked and is not yet. It ends when the server is in no plan any more.
pub(crate) fn probe_all<'a>(endpoints: impl Iterator<Item = &'a Arc<Endpoint>>) {
    for endpoint in endpoints.filter(|endpoint| endpoint.start_probing()) {
        tokio::task::spawn_local(probe(Arc::downgrade(endpoint)));
    }
}

async fn probe(endpoint: Weak<Endpoint>) {
    loop {
        let interval = {
            let Some(endpoint) = endpoint.upgrade() else { return };
            let limit = endpoint.health.timeout;
            let asked = tokio::time::timeout(limit, ask(&endpoint)).await;
            endpoint.answered(asked.ok().flatten().is_some_and(|status| status < 400));
            endpoint.health.interval
        };
        tokio::time::sleep(interval).await;
    }
}

async fn ask(endpoint: &Endpoint) -> Option<u16> {
    let path: Uri = endpoint.health.path.as_deref()?.parse().ok()?;
    let mut request = Request::new(Empty::<Bytes>::new());
    request.headers_mut().insert(header::USER_AGENT, http::HeaderValue::from_static("tollgate-health"));
    let status = match connect(endpoint, false, endpoint.health.timeout).await.ok()? {
        Opened::Http1(mut http1) => {
            *request.uri_mut() = path;
            let (parts, body) = request.into_parts();
            let mut added = Added::default();
            added.host = Some(endpoint.host.clone());
            http1.send(&parts, &added, body).await.ok()?.status()
        }
        Opened::Http2(mut sender) => {
            let mut parts = path.into_parts();
            parts.scheme = Some(endpoint.scheme());
            parts.authority = Some(endpoint.authority.clone());
            *request.uri_mut() = Uri::from_parts(parts).ok()?;
            sender.send_request(request).await.ok()?.status()
        }
    };
    Some(status.as_u16())
}
