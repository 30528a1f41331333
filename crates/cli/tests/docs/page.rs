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

/// The targets of `[text](target)`, also of pictures, outside code.
fn links(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect();
    let mut links = Vec::new();
    let mut rest = prose.as_str();
    while let Some((_, after)) = rest.split_once("](") {
        let (target, after) = after.split_once(')').unwrap_or((after, ""));
        links.push(target.to_owned());
        rest = after;
    }
    links
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
