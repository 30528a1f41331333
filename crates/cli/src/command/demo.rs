//! What there is today, shown at work in virtual time: always the same, and over at once.

mod cluster;
mod prices;
mod script;
mod story;
mod table;
mod visits;

use super::Outcome;
use crate::output;
use clap::Args;
use serde_json::{Value, json};
use story::Story;

const ABOUT: &str = "\
This shows the arithmetic of Tollgate and its limiter library, in virtual time: the numbers are always the same.
The servers (node, gateway, admin API, console) are not built yet: nothing here listens or sends.";

/// Show the arithmetic and the limiter library at work
///
/// Prices a few requests, lets three applications share a cluster, and runs into a limit. All of it happens in
/// virtual time. The servers are not built yet, so nothing listens and nothing is sent.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub(super) fn run(&self) -> anyhow::Result<Outcome> {
        let priced = prices::demonstrate();
        let stories = script::SCRIPTS.each_ref().map(Story::play);
        let visits = visits::demonstrate()?;
        if self.json {
            output::print_json(&json!({
                "about": ABOUT,
                "prices": priced.iter().map(prices::Priced::to_value).collect::<Value>(),
                "stories": stories.iter().map(Story::to_value).collect::<Value>(),
                "limiter": visits.iter().map(visits::Visit::to_value).collect::<Value>(),
            }))?;
        } else {
            let mut sections = vec![prices::to_text(&priced)];
            sections.extend(stories.iter().map(Story::to_text));
            sections.push(visits::to_text(&visits));
            output::print(&format!("{ABOUT}\n\n{}", numbered(&sections)))?;
        }
        Ok(Outcome::Yes)
    }
}

/// The sections one after the other. Each begins with its heading, which gets a number and an underline.
fn numbered(sections: &[String]) -> String {
    let number = |(i, section): (usize, &String)| {
        let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
        let heading = format!("{}. {heading}", i + 1);
        let underline = "-".repeat(heading.len());
        format!("{heading}\n{underline}\n{}\n", body.trim_end())
    };
    sections.iter().enumerate().map(number).collect::<Vec<_>>().join("\n")
}
