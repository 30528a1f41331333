//! Which pages may use the API in a browser.

use crate::problem::Problem;
use crate::state::Admin;
use http::{HeaderMap, header};

/// Refuses calls from pages of other sites. Whoever is no browser sends no origin.
pub(crate) fn check(admin: &Admin, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    if is_allowed(&origin, &host, &admin.settings.origins) {
        return Ok(());
    }
    Err(Problem::forbidden(format!("pages of {origin:?} may not use this API")))
}

/// A page of the host that was asked, or one of the origins that are allowed.
fn is_allowed(origin: &str, host: &str, origins: &[String]) -> bool {
    let own = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    (!host.is_empty() && own == Some(host)) || origins.iter().any(|allowed| allowed == origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_and_those_that_are_named() {
        let named = ["https://console.example.com".to_owned()];
        assert!(is_allowed("http://127.0.0.1:8090", "127.0.0.1:8090", &[]));
        assert!(is_allowed("https://console.example.com", "127.0.0.1:8090", &named));
        for wrong in
            ["http://evil.example", "http://127.0.0.1:9999", "null", "", "http://127.0.0.1:8090.evil.example"]
        {
            assert!(!is_allowed(wrong, "127.0.0.1:8090", &named), "{wrong}");
        }
        assert!(!is_allowed("http://", "", &[]));
    }
}
