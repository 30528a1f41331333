//! As much of Markdown as our pages use, and anchors as GitHub makes them.

use std::path::{Path, PathBuf};

/// A page, from heading to heading. The first section is what stands before any.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) sections: Vec<Section>,
    pub(crate) links: Vec<String>,
    anchors: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) level: usize,
    pub(crate) heading: String,
    pub(crate) links: Vec<String>,
    pub(crate) blocks: Vec<Block>,
    /// How many rows its tables have.
    pub(crate) rows: usize,
}

/// What stands between fences.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn read(file: &Path) -> Self {
        let text =
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut page = Self { sections: vec![Section::default()], links: Vec::new(), anchors: Vec::new() };
        let mut open: Option<Block> = None;
        for line in text.lines() {
            let fence = line.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (Some(_), Some(_)) => page.last().blocks.extend(open.take()),
                (Some(block), None) => block.text.extend([line, "\n"]),
                (None, Some(language)) => {
                    open = Some(Block { language: language.trim().into(), ..Block::default() });
                }
                (None, None) => page.add(line),
            }
        }
        assert_eq!(open, None, "{}: a fence is not closed", file.display());
        page
    }

    fn last(&mut self) -> &mut Section {
        self.sections.last_mut().unwrap()
    }

    fn add(&mut self, line: &str) {
        let level = line.bytes().take_while(|c| *c == b'#').count();
        if (1..=6).contains(&level) && line[level..].starts_with(' ') {
            let heading = line[level..].trim();
            self.anchors.push(anchor(heading));
            self.sections.push(Section { level, heading: heading.into(), ..Section::default() });
        }
        let links = links(line);
        self.links.extend(links.clone());
        let section = self.last();
        section.links.extend(links);
        section.rows += usize::from(line.starts_with('|'));
    }

    /// Whether a heading has this anchor; the second of the same name has `-1`.
    pub(crate) fn has_anchor(&self, anchor: &str) -> bool {
        let (name, number) = match anchor.rsplit_once('-') {
            Some((name, number)) if !self.anchors.iter().any(|known| known == anchor) => {
                (name, number.parse().unwrap_or(usize::MAX))
            }
            _ => (anchor, 0),
        };
        self.anchors.iter().filter(|known| *known == name).count() > number
    }

    /// Every `$ command` of a console with what is shown below it.
    pub(crate) fn commands(&self) -> Vec<(String, String)> {
        let consoles = self
            .sections
            .iter()
            .flat_map(|section| &section.blocks)
            .filter(|block| block.language == "console");
        consoles
            .map(|block| {
                let (command, shown) = block.text.split_once('\n').unwrap();
                (command.strip_prefix("$ ").unwrap().to_owned(), shown.trim_end().to_owned())
            })
            .collect()
    }
}

/// The targets of `[text](target)`, also of pictures, outside code; and of pictures that are written as HTML.
fn links(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect();
    let mut links: Vec<String> = between(&prose, "](", ")").map(ToOwned::to_owned).collect();
    links.extend(between(&prose, " src=\"", "\"").map(ToOwned::to_owned));
    // Each of several has its width or density behind it.
    let sets = between(&prose, " srcset=\"", "\"").flat_map(|set| set.split(','));
    links.extend(sets.filter_map(|picture| picture.split_whitespace().next()).map(ToOwned::to_owned));
    links
}

/// Whatever stands between these two, wherever they do.
fn between<'t>(text: &'t str, start: &'t str, end: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(start).skip(1).map(move |rest| rest.split_once(end).map_or(rest, |(inside, _)| inside))
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Every page that belongs to the repository.
pub(crate) fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let is_foreign = name.starts_with('.') || name.starts_with("target") || name == "node_modules";
        if entry.file_type().unwrap().is_dir() && !is_foreign {
            found.extend(all_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

#[test]
fn links_are_found_in_both_ways_of_writing_them() {
    let line = "[a](b.md#c) `[no](link)` <source srcset=\"d.webp 1x, e.webp 2x\"><img src=\"f.webp\" alt=\"g\"> ![h](i.svg)";
    assert_eq!(links(line), ["b.md#c", "i.svg", "f.webp", "d.webp", "e.webp"]);
}
