use super::Outcome;
use crate::output;
use anyhow::{Context, ensure};
use clap::Args;
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use tollgate_config::import::{Imported, ratelimit};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Read a configuration of envoyproxy/ratelimit and print the same in Tollgate's words
///
/// The answer is a TOML file that `tollgate validate` accepts: an application for each limit, and the rules by which
/// Envoy's descriptors find it. What cannot be said is noted beside it. Exits with 0, or with 2 if the file is wrong.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The YAML file of one domain
    file: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Import {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        match ratelimit(&self.read()?) {
            Ok(imported) => self.print(&imported).map(|()| Outcome::Yes),
            Err(errors) => {
                if self.json {
                    output::print_json(&json!({ "errors": errors.to_value() }))?;
                } else {
                    output::complain(&errors.to_string());
                }
                Ok(Outcome::Wrong)
            }
        }
    }

    fn print(&self, imported: &Imported) -> anyhow::Result<()> {
        if self.json {
            return output::print_json(&json!({ "toml": imported.toml, "notes": imported.notes }));
        }
        for note in &imported.notes {
            output::complain(&format!("note: {note}"));
        }
        output::print(&imported.toml)
    }

    fn read(&self) -> anyhow::Result<String> {
        let shown = self.file.display();
        let file = File::open(&self.file).with_context(|| format!("cannot open {shown}"))?;
        let mut text = String::new();
        file.take(MAX_BYTES + 1).read_to_string(&mut text).with_context(|| format!("cannot read {shown}"))?;
        ensure!(text.len() as u64 <= MAX_BYTES, "{shown} is larger than {MAX_BYTES} bytes");
        Ok(text)
    }
}
