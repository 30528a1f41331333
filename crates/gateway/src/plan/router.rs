//! Which route a request takes: by host, then by the longest path prefix.

use std::borrow::Cow;
use std::collections::HashMap;
use tollgate_config::gateway::Route;

/// Routes, found by host and path. A route is known by its number.
#[derive(Debug, Default)]
pub(crate) struct Router {
    hosts: HashMap<String, Paths>,
    /// By the domain of a `*.domain`.
    domains: HashMap<String, Paths>,
    any: Paths,
}

/// The routes of one host, longest prefix first.
#[derive(Debug, Default)]
struct Paths(Vec<(String, usize)>);

impl Router {
    pub(crate) fn new(routes: &[Route]) -> Self {
        let mut made = Self::default();
        for (number, route) in routes.iter().enumerate() {
            let paths = match &route.host {
                None => &mut made.any,
                Some(host) => match host.domain() {
                    Some(domain) => made.domains.entry(domain.to_owned()).or_default(),
                    None => made.hosts.entry(host.as_str().to_owned()).or_default(),
                },
            };
            paths.0.push((plain_path(&route.path).into_owned(), number));
        }
        let all = made.hosts.values_mut().chain(made.domains.values_mut()).chain([&mut made.any]);
        all.for_each(|paths| paths.0.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len())));
        made
    }

    /// The number of the route, if there is one. `host` may have a port and any case.
    pub(crate) fn find(&self, host: &str, path: &str) -> Option<usize> {
        let path = &*plain_path(path);
        self.of_host(host, path).or_else(|| self.any.find(path))
    }

    fn of_host(&self, host: &str, path: &str) -> Option<usize> {
        if self.hosts.is_empty() && self.domains.is_empty() {
            return None;
        }
        let host = plain_host(host);
        let exact = self.hosts.get(&*host).and_then(|paths| paths.find(path));
        exact.or_else(|| {
            let mut parents = host.match_indices('.').map(|(at, _)| &host[at + 1..]);
            parents.find_map(|domain| self.domains.get(domain)?.find(path))
        })
    }
}

impl Paths {
    fn find(&self, path: &str) -> Option<usize> {
        self.0.iter().find(|(prefix, _)| starts_with(path, prefix)).map(|(_, number)| *number)
    }
}

/// Whether a plain path starts with whole segments: `/a` leads to `/a` and `/a/b`, not to `/ab`.
pub(crate) fn starts_with(path: &str, prefix: &str) -> bool {
    match path.strip_prefix(prefix) {
        Some(rest) => prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/'),
        None => false,
    }
}

/// A host in lower case without its port.
pub(crate) fn plain_host(host: &str) -> Cow<'_, str> {
    let end = match host.rfind(':') {
        // In `[::1]` the last colon starts no port.
        Some(at) if !host[at..].contains(']') => at,
        _ => host.len(),
    };
    let host = &host[..end];
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.bytes().any(|c| c.is_ascii_uppercase()) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
    }
}

/// A path as prefixes are compared with it: escapes of letters that need none are undone, and empty segments left out, as
/// servers do before they look at it.
pub(crate) fn plain_path(path: &str) -> Cow<'_, str> {
    if !path.contains('%') && !path.contains("//") {
        return Cow::Borrowed(path);
    }
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(next) = rest.chars().next() {
        let (next, length) = unescaped(rest).map_or((next, next.len_utf8()), |next| (next, 3));
        if next != '/' || !plain.ends_with('/') {
            plain.push(next);
        }
        rest = &rest[length..];
    }
    Cow::Owned(plain)
}

/// The letter that an escape stands for, if it needs none.
fn unescaped(text: &str) -> Option<char> {
    let code = text.strip_prefix('%')?.get(..2)?;
    let code = code.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(code)?;
    let letter = char::from(u8::from_str_radix(code, 16).ok()?);
    (letter.is_ascii_alphanumeric() || "-._~".contains(letter)).then_some(letter)
}

/// Whether a path has segments `.` or `..`, plain or encoded: servers resolve them, and not all alike, so the
/// prefix that was matched may not be the one that is served. Some see the end of a segment in an encoded slash or in a
/// backslash, and the end of its name in a semicolon.
pub(crate) fn is_ambiguous(path: &str) -> bool {
    if !path.contains('.') && !path.contains('%') {
        return false;
    }
    let mut rest = path.as_bytes();
    loop {
        let mut dots = 0;
        while let Some(length) = starts_as(rest, b'.', b"2e") {
            rest = &rest[length..];
            dots += 1;
        }
        let is_over = rest.is_empty() || separator(rest).is_some() || starts_as(rest, b';', b"3b").is_some();
        if is_over && (dots == 1 || dots == 2) {
            return true;
        }
        let next = (0..rest.len()).find_map(|at| separator(&rest[at..]).map(|length| at + length));
        let Some(next) = next else { return false };
        rest = &rest[next..];
    }
}

/// The length of what a path starts with, if somebody may take it for the end of a segment.
fn separator(path: &[u8]) -> Option<usize> {
    starts_as(path, b'/', b"2f").or_else(|| starts_as(path, b'\\', b"5c"))
}

/// How long a letter is that a path starts with, plain or encoded.
fn starts_as(path: &[u8], plain: u8, code: &[u8]) -> Option<usize> {
    match path {
        [first, ..] if *first == plain => Some(1),
        [b'%', rest @ ..] if rest.len() >= 2 && rest[..2].eq_ignore_ascii_case(code) => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_config::source::{Document, Format};

    fn router(routes: &[(&str, &str)]) -> Router {
        let mut text = vec!["[[upstreams]]\nid = 'u'\nservers = ['http://h']\n".to_owned()];
        for (host, path) in routes {
            let host = if host.is_empty() { String::new() } else { format!("host = '{host}'\n") };
            text.push(format!("[[routes]]\n{host}path = '{path}'\nupstream = 'u'\n"));
        }
        let text = text.concat();
        let config = Document::parse(&text, Format::Toml).unwrap().read().unwrap();
        Router::new(&config.settings.gateway.routes)
    }

    #[test]
    fn the_longest_prefix_of_the_nearest_host_wins() {
        let router = router(&[
            ("", "/"),
            ("", "/api"),
            ("a.example", "/api"),
            ("*.example", "/"),
            ("*.b.example", "/api/v2/"),
        ]);
        let table = [
            ("other", "/", Some(0)),
            ("other", "/api", Some(1)),
            ("other", "/api/x", Some(1)),
            ("other", "/apix", Some(0)),
            ("A.Example:8080", "/api/x", Some(2)),
            ("a.example", "/else", Some(3)),
            ("c.b.example", "/api/v2/x", Some(4)),
            ("c.b.example", "/api/v2", Some(3)),
            ("example", "/x", Some(0)),
            ("[::1]:80", "/api", Some(1)),
        ];
        for (host, path, expected) in table {
            assert_eq!(router.find(host, path), expected, "{host} {path}");
        }
    }

    #[test]
    fn without_a_route_there_is_none() {
        assert_eq!(router(&[("a.example", "/")]).find("b.example", "/"), None);
        assert_eq!(router(&[("", "/a")]).find("b.example", "/b"), None);
    }

    #[test]
    fn dot_segments_are_ambiguous() {
        for path in ["/..", "/a/../b", "/a/./b", "/%2e%2E/b", "/a/.%2e", "/."] {
            assert!(is_ambiguous(path), "{path}");
        }
        for path in ["/", "/a.b", "/.a", "/...", "/a..", "/%2ea", "/a%20b", "/\u{e9}%"] {
            assert!(!is_ambiguous(path), "{path}");
        }
    }

    #[test]
    fn whatever_a_server_may_take_for_a_slash_ends_a_segment() {
        let cheap =
            ["..%2fdear", "..%5Cdear", "..\\dear", "..;/dear", "..;a=b/dear", "%2e%2E%2Fdear", "..%3b/dear"];
        for path in cheap.into_iter().chain(["x%2f..%2f..%2fdear", "x\\..\\dear", "x%5c..", ".%2fx"]) {
            assert!(is_ambiguous(&format!("/cheap/{path}")), "{path}");
        }
        // Keys of objects may be like these.
        for path in
            ["a%2fb", "a//b.c", "//a", "a%5cb", "a;b", "...%2f", "a..;b", "%2", "%2e%2ea;.", "a%2fb.c%2f.d"]
        {
            assert!(!is_ambiguous(&format!("/cheap/{path}")), "{path}");
        }
    }

    #[test]
    fn a_prefix_is_the_same_however_it_is_written() {
        let router = router(&[("", "/"), ("", "/dear"), ("", "/%66ree//of")]);
        for path in ["/dear/x", "//dear/x", "/%64ear/x", "/%64%65%61%72", "///%64ear//x"] {
            assert_eq!(router.find("h", path), Some(1), "{path}");
        }
        for path in ["/dear%2fx", "/dearer", "/%44ear", "/x//dear", "/%", "/%6", "/%+4ear", "/\u{e9}%64"] {
            assert_eq!(router.find("h", path), Some(0), "{path}");
        }
        assert_eq!(router.find("h", "/free/of/charge"), Some(2));
    }
}
