//! The documents: links lead somewhere, languages keep in step, and what README shows is what happens.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod measured;
mod numbers;
mod page;
mod shown;

use page::Page;
use shown::{Demo, matches};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn readme() -> Page {
    Page::read(&root().join("README.md"))
}

#[test]
fn every_link_leads_somewhere() {
    let files = page::all_below(&root());
    let pages: BTreeMap<PathBuf, Page> =
        files.into_iter().map(|file| (file.clone(), Page::read(&file))).collect();
    assert!(pages.len() > 15, "{:?}", pages.keys());
    let mut broken = Vec::new();
    for (file, page) in &pages {
        for link in page.links.iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (target, anchor) = link.split_once('#').map_or((link.as_str(), None), |(t, a)| (t, Some(a)));
            let target = if target.is_empty() {
                Ok(file.clone())
            } else {
                file.parent().unwrap().join(target).canonicalize()
            };
            let is_there = match (target, anchor) {
                (Err(_), _) => false,
                (Ok(_), None) => true,
                (Ok(target), Some(anchor)) => pages.get(&target).is_some_and(|page| page.has_anchor(anchor)),
            };
            if !is_there {
                broken.push(format!("{}: {link}", file.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn readme_says_the_same_in_chinese() {
    let (english, chinese) = (readme(), Page::read(&root().join("README.zh-CN.md")));
    let levels = |page: &Page| page.sections.iter().map(|section| section.level).collect::<Vec<_>>();
    assert_eq!(levels(&english), levels(&chinese));
    for (ours, theirs) in english.sections.iter().zip(&chinese.sections) {
        // Sentences have another order in another language. Each page links to the other, and to its own headings.
        let links = |section: &page::Section, other: &str| {
            let plain = |link: &String| match link {
                link if link.starts_with('#') => "a heading".to_owned(),
                link if link == other => "the other".to_owned(),
                link => link.clone(),
            };
            let mut links: Vec<String> = section.links.iter().map(plain).collect();
            links.sort_unstable();
            links
        };
        assert_eq!(
            links(ours, "README.zh-CN.md"),
            links(theirs, "README.md"),
            "{} / {}",
            ours.heading,
            theirs.heading
        );
        assert_eq!(ours.blocks, theirs.blocks, "{} / {}", ours.heading, theirs.heading);
        assert_eq!(ours.rows, theirs.rows, "{} / {}: rows of tables", ours.heading, theirs.heading);
    }
}

#[test]
fn the_curl_lines_of_readme_are_answered_as_it_says() {
    let demo = Demo::start();
    let mut shown = Vec::new();
    for (command, expected) in
        readme().commands().into_iter().filter(|(command, _)| command.starts_with("curl "))
    {
        let line = demo.in_place(&command).replacen("curl -i", "curl -si", 1);
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let answer = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
        assert!(
            matches(&expected, answer.trim_end()),
            "{line}\n--- README says\n{expected}\n--- the answer\n{answer}"
        );
        shown.push(demo.in_place(&command));
    }
    assert_eq!(shown, demo.curl_lines());
    assert_eq!(shown.len(), 3);
}

#[test]
fn what_readme_shows_of_the_configuration_is_what_is_said() {
    let page = readme();
    let folder = tempfile::tempdir().unwrap();
    let yaml = page
        .sections
        .iter()
        .flat_map(|section| &section.blocks)
        .find(|block| block.language == "yaml")
        .unwrap();
    std::fs::write(folder.path().join("wrong.yaml"), &yaml.text).unwrap();
    std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples")).unwrap();
    let mut tried = 0;
    for (command, expected) in page.commands() {
        let Some(arguments) = command.strip_prefix("cargo run -q -p tollgate -- ") else { continue };
        let mut program = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        let output = program.args(arguments.split(' ')).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(said.trim_end(), expected, "{command}");
        tried += 1;
    }
    assert_eq!(tried, 2);
}

#[test]
fn the_sum_of_all_results_is_that_of_their_pages() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("REPORT.md");
    let results = root().join("bench/results");
    let output = Command::new(root().join("scripts/bench-report")).args([&results, &made]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let [made, committed] =
        [made, results.join("REPORT.md")].map(|file| std::fs::read_to_string(file).unwrap());
    for (made, committed) in made.lines().zip(committed.lines()) {
        assert_eq!(made, committed, "run: scripts/bench-report");
    }
    assert_eq!(made.lines().count(), committed.lines().count());
}

#[test]
fn the_reference_of_the_configuration_is_current() {
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("reference").output().unwrap();
    let committed = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap_or_default();
    let made = String::from_utf8(output.stdout).unwrap();
    for (made, committed) in made.lines().zip(committed.lines()) {
        assert_eq!(made, committed, "run: tollgate reference > docs/configuration.md");
    }
    assert_eq!(made.lines().count(), committed.lines().count());
}

/// What the playbook prints in italics is what stands above a panel or on a page of the console.
#[test]
fn what_the_playbook_points_at_is_there() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let playbook = read("docs/operations/failure-playbook.md").replace("**", "").replace('\n', " ");
    let (panels, console) = (read("deploy/grafana/tollgate.json"), read("console/src/i18n/en.ts"));
    let prose = playbook.split("```").step_by(2).flat_map(|part| part.split('`').step_by(2));
    let prose: String = prose.collect();
    let names: Vec<&str> =
        prose.split('*').skip(1).step_by(2).map(|name| name.trim_end_matches(" ...")).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let is_panel = panels.contains(&format!("\"title\": \"{name}\""));
        assert!(
            is_panel || console.contains(&format!("'{name}")),
            "neither a panel nor a word of the console: {name}"
        );
    }
}
