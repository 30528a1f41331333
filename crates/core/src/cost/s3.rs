//! Tells the operations of an S3-style request apart.
//!
//! Parameter names are compared after percent-decoding, as a storage server does: `%75ploads` must not buy a
//! listing at the price of a read.

use super::Operation;

/// Where a request names its bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// `/bucket/key`
    #[default]
    Path,
    /// `/key`, with the bucket in the host name.
    VirtualHost,
}

/// The parts of a request that tell its operation.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The path, percent-encoded as it came.
    pub path: &'a str,
    /// The query without its `?`, percent-encoded as it came.
    pub query: &'a str,
    /// Whether the header `x-amz-copy-source` is there.
    pub has_copy_source: bool,
}

impl Request<'_> {
    /// The operation of this request.
    pub fn operation(&self, addressing: Addressing) -> Operation {
        let by_method = Operation::parse(self.method);
        match by_method {
            Operation::Get if self.lists(addressing) => Operation::List,
            Operation::Put if self.has_copy_source => Operation::Copy,
            Operation::Put if self.has("uploadId") => Operation::MultipartUpload,
            Operation::Post if self.has("uploads") => Operation::MultipartInit,
            Operation::Post if self.has("uploadId") => Operation::MultipartComplete,
            Operation::Post if self.has("delete") => Operation::Delete,
            Operation::Delete if self.has("uploadId") => Operation::MultipartAbort,
            // `LIST /` or `MULTIPART_ABORT /` are not HTTP: a client cannot pick its price by the method.
            Operation::Get
            | Operation::Head
            | Operation::Put
            | Operation::Post
            | Operation::Patch
            | Operation::Delete => by_method,
            _ => Operation::Other,
        }
    }

    /// Listings of buckets, objects, versions, uploads in progress and parts. A read of a bucket's settings
    /// (`?acl`, `?policy`, ...) is a plain read.
    fn lists(&self, addressing: Addressing) -> bool {
        const LISTINGS: [&str; 4] = ["list-type", "uploads", "uploadId", "versions"];
        const FILTERS: [&str; 6] = ["prefix", "delimiter", "marker", "max-keys", "encoding-type", "x-id"];
        if LISTINGS.iter().any(|name| self.has(name)) {
            return true;
        }
        let is_a_setting = |(name, _): (&str, _)| !is_auth(name) && !FILTERS.iter().any(|f| same(name, f));
        !self.names_an_object(addressing) && !self.parameters().any(is_a_setting)
    }

    fn names_an_object(&self, addressing: Addressing) -> bool {
        let path = self.path.trim_start_matches('/');
        match addressing {
            Addressing::VirtualHost => !path.is_empty(),
            Addressing::Path => path.split_once('/').is_some_and(|(_, key)| !key.is_empty()),
        }
    }

    fn has(&self, name: &str) -> bool {
        !self.query.is_empty() && self.parameters().any(|(given, _)| same(given, name))
    }

    fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
    }
}

/// The parameters of a presigned address say nothing about the operation.
fn is_auth(name: &str) -> bool {
    const PREFIX: &str = "x-amz-";
    let mut decoded = decoded(name);
    PREFIX.bytes().all(|expected| decoded.next().is_some_and(|c| c.eq_ignore_ascii_case(&expected)))
}

fn same(given: &str, name: &str) -> bool {
    decoded(given).eq(name.bytes())
}

fn decoded(text: &str) -> impl Iterator<Item = u8> {
    let mut rest = text.as_bytes();
    core::iter::from_fn(move || {
        let (&first, tail) = rest.split_first()?;
        if let (b'%', [high, low, after @ ..]) = (first, tail)
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            rest = after;
            return Some(high << 4 | low);
        }
        rest = tail;
        Some(first)
    })
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn operation(line: &str, has_copy_source: bool, addressing: Addressing) -> Operation {
        let (method, target) = line.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Request { method, path, query, has_copy_source }.operation(addressing)
    }

    #[test]
    fn tells_the_operations_apart() {
        let table = [
            ("GET /", Operation::List),
            ("GET /photos", Operation::List),
            ("GET /photos/", Operation::List),
            ("GET /photos?prefix=2024/&delimiter=/", Operation::List),
            ("GET /photos?list-type=2", Operation::List),
            ("GET /photos?versions", Operation::List),
            ("GET /photos?uploads", Operation::List),
            ("GET /photos?%75ploads", Operation::List),
            ("GET /photos/cat.jpg?uploadId=abc", Operation::List),
            ("GET /photos?X-Amz-Signature=abc&x-amz-date=1", Operation::List),
            ("GET /photos?acl", Operation::Get),
            ("GET /photos?policy", Operation::Get),
            ("GET /photos/cat.jpg", Operation::Get),
            ("get /photos/cat.jpg?versionId=3", Operation::Get),
            ("GET /photos/list-type=2", Operation::Get),
            ("GET /photos/cat.jpg?x=uploads", Operation::Get),
            ("HEAD /photos/cat.jpg", Operation::Head),
            ("PUT /photos/cat.jpg", Operation::Put),
            ("PUT /photos/cat.jpg?partNumber=1&uploadId=abc", Operation::MultipartUpload),
            ("POST /photos/cat.jpg?uploads", Operation::MultipartInit),
            ("POST /photos/cat.jpg?uploads=", Operation::MultipartInit),
            ("POST /photos/cat.jpg?uploadId=abc", Operation::MultipartComplete),
            ("POST /photos?delete", Operation::Delete),
            ("POST /photos", Operation::Post),
            ("DELETE /photos/cat.jpg", Operation::Delete),
            ("DELETE /photos/cat.jpg?uploadId=abc", Operation::MultipartAbort),
            ("PATCH /photos/cat.jpg", Operation::Patch),
            ("OPTIONS /photos", Operation::Other),
            ("LIST /photos", Operation::Other),
            ("COPY /photos/cat.jpg", Operation::Other),
        ];
        for (line, expected) in table {
            assert_eq!(operation(line, false, Addressing::Path), expected, "{line}");
        }
    }

    #[test]
    fn a_copy_is_told_by_its_header() {
        assert_eq!(operation("PUT /photos/cat.jpg", true, Addressing::Path), Operation::Copy);
        assert_eq!(operation("PUT /p/c?partNumber=1&uploadId=a", true, Addressing::Path), Operation::Copy);
        assert_eq!(operation("GET /photos/cat.jpg", true, Addressing::Path), Operation::Get);
    }

    #[test]
    fn a_bucket_in_the_host_leaves_the_path_to_the_key() {
        assert_eq!(operation("GET /", false, Addressing::VirtualHost), Operation::List);
        assert_eq!(operation("GET /cat.jpg", false, Addressing::VirtualHost), Operation::Get);
    }

    proptest! {
        #[test]
        fn any_text_has_an_operation(method in ".{0,12}", path in ".{0,40}", query in "[%&=a-z0-9\u{e9}]{0,60}") {
            let request = Request { method: &method, path: &path, query: &query, has_copy_source: false };
            for addressing in [Addressing::Path, Addressing::VirtualHost] {
                prop_assert!(Operation::ALL.contains(&request.operation(addressing)));
            }
        }
    }
}
