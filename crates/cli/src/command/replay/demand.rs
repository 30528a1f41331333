//! Recorded demand in a file.

use anyhow::{Context, bail, ensure};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use tollgate_admin::whatif::Demand;
use tollgate_core::id::AppId;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Reads lines of `second,app,tokens`; several lines of a second add up. A first line that names the columns, empty lines
/// and what starts with `#` are passed over.
pub(super) fn read(path: &Path) -> anyhow::Result<BTreeMap<AppId, Demand>> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot open {shown}"))?;
    let size = file.metadata().with_context(|| format!("cannot read {shown}"))?.len();
    ensure!(size <= MAX_BYTES, "{shown}: {size} bytes long, at most {MAX_BYTES} are read");
    parse(BufReader::new(file.take(MAX_BYTES))).with_context(|| shown.to_string())
}

fn parse(lines: impl BufRead) -> anyhow::Result<BTreeMap<AppId, Demand>> {
    let mut seconds: BTreeMap<AppId, BTreeMap<u32, u64>> = BTreeMap::new();
    for (index, line) in lines.lines().enumerate() {
        let line = line?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match entry(line) {
            Some((at, app, tokens)) => {
                let sum = seconds.entry(app).or_default().entry(at).or_default();
                *sum = sum.saturating_add(tokens);
            }
            None if index == 0 => {}
            None => bail!(
                "line {}: {line:?}, expected a second, an application and tokens, with commas",
                index + 1
            ),
        }
    }
    Ok(seconds.into_iter().map(|(app, demand)| (app, demand.into_iter().collect())).collect())
}

fn entry(line: &str) -> Option<(u32, AppId, u64)> {
    let mut words = line.split(',').map(str::trim);
    let (at, app, tokens) = (words.next()?, words.next()?, words.next()?);
    let entry = (at.parse().ok()?, AppId::new(app).ok()?, tokens.parse().ok()?);
    words.next().is_none().then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_second_add_up_in_any_order() {
        let text = "second,app,tokens\n# a note\n\n7,b,1\n5, a ,2\n3,a,4\n5,a,6\n";
        let demand = parse(text.as_bytes()).unwrap();
        assert_eq!(demand[&AppId::new("a").unwrap()], [(3, 4), (5, 8)]);
        assert_eq!(demand[&AppId::new("b").unwrap()], [(7, 1)]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for wrong in ["1,a,2\n1,a\n", "1,a,2\n1,a,-2\n", "1,a,2\n1,a b,2\n", "1,a,2\n1,a,2,3\n", "x\ny\n"] {
            let error = parse(wrong.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("line 2: "), "{error}");
        }
    }
}
