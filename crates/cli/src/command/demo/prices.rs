//! What requests cost, with the working.

use super::table::{Side, Table, grouped};
use serde_json::{Value, json};
use tollgate_core::cost::s3::{Addressing, Request};
use tollgate_core::cost::{Price, PriceList};

const HEADING: &str = "What a request costs";

const NOTE: &str = "\
cost = base(operation) + units of 64 KiB, the last one counted in full. The operation is read off the S3-style
request; to spell a parameter another way (%6Cist-type) does not make it cheaper.";

/// Requests as they would come in: method, path, query, copy source, size.
const REQUESTS: [(&str, &str, &str, bool, u64); 9] = [
    ("GET", "/photos/cat.jpg", "", false, 1_024),
    ("PUT", "/photos/cat.jpg", "", false, 10 * 1_024),
    ("PUT", "/photos/copy.jpg", "", true, 0),
    ("GET", "/photos", "list-type=2", false, 0),
    ("GET", "/photos", "%6Cist-type=2", false, 0),
    ("POST", "/films/a.mp4", "uploads", false, 0),
    ("PUT", "/films/a.mp4", "partNumber=1&uploadId=7", false, 8 * 1_024 * 1_024),
    ("POST", "/films/a.mp4", "uploadId=7", false, 512),
    ("DELETE", "/films/a.mp4", "", false, 0),
];

/// A request and its price.
pub(super) struct Priced {
    request: String,
    price: Price,
}

/// Prices the requests by the default price list.
pub(super) fn demonstrate() -> Vec<Priced> {
    let list = PriceList::default();
    let priced = |(method, path, query, has_copy_source, bytes)| {
        let request = Request { method, path, query, has_copy_source };
        let price = list.price(request.operation(Addressing::Path), bytes);
        Priced { request: shown(&request), price }
    };
    REQUESTS.into_iter().map(priced).collect()
}

fn shown(request: &Request<'_>) -> String {
    let Request { method, path, query, has_copy_source } = request;
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    let header = if *has_copy_source { " (x-amz-copy-source)" } else { "" };
    format!("{method} {path}{query}{header}")
}

/// The prices as a table.
pub(super) fn to_text(priced: &[Priced]) -> String {
    let (left, right) = (Side::Left, Side::Right);
    let mut table = Table::new(vec![left, right, left, right, right, right]);
    table.row(["request", "bytes", "operation", "base", "units", "cost"]);
    for Priced { request, price } in priced {
        let [bytes, base, units, cost] = [price.bytes, price.base, price.units, price.cost()].map(grouped);
        table.row([request.clone(), bytes, price.operation.to_string(), base, units, cost]);
    }
    format!("{HEADING}\n{NOTE}\n\n{}", table.to_text())
}

impl Priced {
    /// The price and its working, for programs.
    pub(super) fn to_value(&self) -> Value {
        let Price { operation, bytes, units, base, bandwidth } = self.price;
        json!({
            "request": self.request,
            "operation": operation.name(),
            "bytes": bytes,
            "base": base,
            "units": units,
            "bandwidth": bandwidth,
            "cost": self.price.cost(),
        })
    }
}
