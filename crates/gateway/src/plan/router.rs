//! Which route a request takes: by host, then by the longest path prefix.

use super::reading::{Ambiguous, Reading, is_loose};
use std::borrow::Cow;
use std::collections::HashMap;
use tollgate_config::gateway::Route;

/// Routes, found by host and path. A route is known by its number.
#[derive(Debug)]
pub(crate) struct Router {
    plain: Hosts,
    /// The same for whoever reads paths in another way.
    loose: [(Reading, Hosts); 4],
}

/// The routes of all hosts, as paths are read in one way.
#[derive(Debug, Default)]
struct Hosts {
    exact: HashMap<String, Paths>,
    /// By the domain of a `*.domain`.
    domains: HashMap<String, Paths>,
    any: Paths,
}

/// The routes of one host, longest prefix first.
#[derive(Debug, Default)]
struct Paths(Vec<(String, usize)>);

impl Router {
    pub(crate) fn new(routes: &[Route]) -> Self {
        let loose = Reading::LOOSE.map(|reading| (reading, Hosts::new(routes, reading)));
        Self { plain: Hosts::new(routes, Reading::Plain), loose }
    }

    /// The number of the route, if there is one and no server can take the path for one of another route. `host` may have a
    /// port and any case.
    pub(crate) fn find(&self, host: &str, path: &str) -> Result<Option<usize>, Ambiguous> {
        let number = self.plain.find(host, &Reading::Plain.of(path));
        let is_elsewhere =
            |(reading, hosts): &(Reading, Hosts)| hosts.find(host, &reading.of(path)) != number;
        if is_loose(path) && self.loose.iter().any(is_elsewhere) { Err(Ambiguous) } else { Ok(number) }
    }
}

impl Hosts {
    fn new(routes: &[Route], reading: Reading) -> Self {
        let mut made = Self::default();
        for (number, route) in routes.iter().enumerate() {
            let paths = match &route.host {
                None => &mut made.any,
                Some(host) => match host.domain() {
                    Some(domain) => made.domains.entry(domain.to_owned()).or_default(),
                    None => made.exact.entry(host.as_str().to_owned()).or_default(),
                },
            };
            paths.0.push((reading.of(&route.path).into_owned(), number));
        }
        let all = made.exact.values_mut().chain(made.domains.values_mut()).chain([&mut made.any]);
        all.for_each(|paths| paths.0.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len())));
        made
    }

    fn find(&self, host: &str, path: &str) -> Option<usize> {
        self.of_host(host, path).or_else(|| self.any.find(path))
    }

    fn of_host(&self, host: &str, path: &str) -> Option<usize> {
        if self.exact.is_empty() && self.domains.is_empty() {
            return None;
        }
        let host = plain_host(host);
        let exact = self.exact.get(&*host).and_then(|paths| paths.find(path));
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
pub(super) fn separator(path: &[u8]) -> Option<usize> {
    starts_as(path, b'/', b"2f").or_else(|| starts_as(path, b'\\', b"5c"))
}

/// How long a letter is that a path starts with, plain or encoded.
pub(super) fn starts_as(path: &[u8], plain: u8, code: &[u8]) -> Option<usize> {
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
            assert_eq!(router.find(host, path), Ok(expected), "{host} {path}");
        }
    }

    #[test]
    fn without_a_route_there_is_none() {
        assert_eq!(router(&[("a.example", "/")]).find("b.example", "/"), Ok(None));
        assert_eq!(router(&[("", "/a")]).find("b.example", "/b"), Ok(None));
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
            assert_eq!(router.find("h", path), Ok(Some(1)), "{path}");
        }
        for path in ["/dearer", "/%44ear", "/x//dear", "/%", "/%6", "/%+4ear", "/\u{e9}%64"] {
            assert_eq!(router.find("h", path), Ok(Some(0)), "{path}");
        }
        assert_eq!(router.find("h", "/free/of/charge"), Ok(Some(2)));
    }

    #[test]
    fn a_path_that_some_server_takes_for_one_of_another_route_leads_nowhere() {
        let router = router(&[("", "/"), ("", "/dear"), ("", "/dear/free"), ("a.example", "/deep/dear")]);
        for path in [
            "/dear;a=b/x",
            "/dear;",
            "/;/dear/x",
            "/dear%2fx",
            "/dear%2Fx",
            "/\\dear",
            "/%5cdear",
            "/%5Cdear",
            "/%64ear%2fx",
            "/%64ear;x",
            "/dear%3bx",
            "/%2fdear",
            "/;%2fdear",
            // What is behind a semicolon may reach up to a slash as it is written, or as it is decoded.
            "/;x%2fcheap/dear",
            "/;x%2fdear",
            "/dear/free;x",
            "/dear/free%2fx",
            "/dear;x/free",
        ] {
            assert_eq!(router.find("h", path), Err(Ambiguous), "{path}");
        }
        assert_eq!(router.find("a.example", "/deep%2fdear"), Err(Ambiguous));
    }

    #[test]
    fn a_path_that_leads_to_the_same_route_however_it_is_read_is_as_good_as_any() {
        let router = router(&[("", "/"), ("", "/dear"), ("", "/odd%2fone"), ("", "/list;of")]);
        for (path, number) in [
            ("/bucket/a%2fb;c", 0),
            ("/bucket/dear%2fdear", 0),
            ("/bucket;v=1/x", 0),
            ("/dearer;x", 0),
            ("/dear/a%2fb\\c;d", 1),
            ("/dear/%5c%3B", 1),
            ("/odd%2fone/x", 2),
            ("/list;of/x", 3),
        ] {
            assert_eq!(router.find("h", path), Ok(Some(number)), "{path}");
        }
    }
}
