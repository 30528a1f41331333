//! What strangers may ask an S3-style server for: every request has one price.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use tollgate_core::cost::Operation;
use tollgate_core::cost::s3::{Addressing, Request};
use tollgate_testkit::Fuzz;

#[test]
fn fuzz_s3_classification() {
    let fuzz = Fuzz {
        target: "s3-classification",
        words: &[
            "GET ",
            "PUT ",
            "POST ",
            "DELETE ",
            "HEAD ",
            "PATCH ",
            "LIST ",
            "?uploads",
            "?uploadId=",
            "&list-type=2",
            "&prefix=",
            "?delete",
            "%75ploads",
            "%2f",
            "//",
            "?acl",
            "&x-id=ListObjects",
            "X-Amz-Signature=",
            "?versions",
            "%",
            "%zz",
            "&&",
            "=",
        ],
        mutations: 30_000,
    };
    let wanted = [
        ("GET", 100),
        ("HEAD", 50),
        ("PUT", 100),
        ("POST", 100),
        ("PATCH", 20),
        ("DELETE", 100),
        ("LIST", 100),
        ("COPY", 100),
        ("MULTIPART_INIT", 10),
        ("MULTIPART_UPLOAD", 100),
        ("MULTIPART_COMPLETE", 20),
        ("MULTIPART_ABORT", 10),
        ("OTHER", 100),
    ];
    fuzz.run_to(&wanted, |input| {
        let text = String::from_utf8_lossy(input);
        let (method, target) = text.split_once(' ').unwrap_or((&text, ""));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let operation = |has_copy_source, addressing, query: &str| {
            Request { method, path, query, has_copy_source }.operation(addressing)
        };
        // Encoding a letter of the query must not change the price: the server behind reads both alike.
        let disguised: String = query
            .chars()
            .map(|letter| if letter == 'u' { "%75".into() } else { letter.to_string() })
            .collect();
        [Addressing::Path, Addressing::VirtualHost].map(|addressing| {
            let plain = operation(false, addressing, query);
            let is_split_apart = query.contains('%');
            assert!(is_split_apart || operation(false, addressing, &disguised) == plain, "{text:?}");
            // What is copied is never cheaper than what is written.
            let copied = operation(true, addressing, query);
            assert!(
                copied == plain
                    || (plain, copied) == (Operation::Put, Operation::Copy)
                    || method.eq_ignore_ascii_case("PUT")
            );
            (plain.name(), copied.name())
        })
    })
    .unwrap();
}
