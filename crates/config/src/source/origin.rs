use std::collections::BTreeMap;
use std::fmt;

/// Who set a value, if not the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The environment variable of this name.
    Variable(String),
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::Flag => f.write_str("the command line"),
        }
    }
}

/// Who set which path. These values arrived as text: a number among them is read as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins(BTreeMap<String, Origin>);

impl Origins {
    /// Remembers that `origin` set the value at `path`, and with it all below.
    pub(crate) fn set(&mut self, path: String, origin: Origin) {
        self.0.retain(|known, _| !is_below(known, &path));
        self.0.insert(path, origin);
    }

    /// Who set exactly this path.
    pub(crate) fn of(&self, path: &str) -> Option<&Origin> {
        self.0.get(path)
    }

    /// Everything that was set at this path or below it.
    pub(crate) fn within<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a Origin)> {
        self.0
            .iter()
            .map(|(known, origin)| (known.as_str(), origin))
            .filter(move |(known, _)| *known == path || is_below(known, path))
    }
}

fn is_below(path: &str, ancestor: &str) -> bool {
    path.strip_prefix(ancestor).is_some_and(|rest| rest.starts_with('.'))
}
