//! The words of a line, and what is wrong with them.

use std::fmt;

/// Why a text is not a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// In which line; zero if it is about the whole.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl ScenarioError {
    pub(super) const fn new(line: usize, message: String) -> Self {
        Self { line, message }
    }

    /// What is wrong with the whole of it.
    pub(super) const fn whole(message: String) -> Self {
        Self::new(0, message)
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for ScenarioError {}

/// The words of one line, one after the other.
pub(super) struct Words<'a> {
    line: usize,
    all: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    /// The lines of a text that say something; what follows a `#` does not.
    pub(super) fn lines(text: &'a str) -> impl Iterator<Item = Self> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let lines = lines.enumerate().map(|(i, line)| Self {
            line: i + 1,
            all: line.split_whitespace().collect(),
            at: 0,
        });
        lines.filter(|words| !words.all.is_empty())
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.all.get(self.at).copied()
    }

    pub(super) fn is_over(&self) -> bool {
        self.at >= self.all.len()
    }

    /// Goes back to the first word.
    pub(super) const fn back(&mut self) {
        self.at = 0;
    }

    pub(super) fn next(&mut self, expected: &str) -> Result<&'a str, ScenarioError> {
        let Some(word) = self.peek() else {
            return Err(ScenarioError::new(self.line, format!("ends too early, expected {expected}")));
        };
        self.at += 1;
        Ok(word)
    }

    /// Passes over a word that must be there.
    pub(super) fn expect(&mut self, expected: &str) -> Result<(), ScenarioError> {
        let word = self.next(expected)?;
        if word == expected { Ok(()) } else { Err(self.wrong(word, expected)) }
    }

    /// Passes over a word if it is there.
    pub(super) fn takes(&mut self, word: &str) -> bool {
        let is_there = self.peek() == Some(word);
        self.at += usize::from(is_there);
        is_there
    }

    pub(super) fn end(&self) -> Result<(), ScenarioError> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err(self.wrong(word, "the end of the line")),
        }
    }

    pub(super) fn wrong(&self, word: &str, expected: &str) -> ScenarioError {
        ScenarioError::new(self.line, format!("{word:?}, expected {expected}"))
    }

    pub(super) fn number(&mut self, least: u64, most: u64) -> Result<u64, ScenarioError> {
        let expected = format!("a number from {least} to {most}");
        let word = self.next(&expected)?;
        let number = word.replace('_', "").parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| self.wrong(word, &expected))
    }

    pub(super) fn count(&mut self, least: u64, most: u64) -> Result<usize, ScenarioError> {
        self.number(least, most).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub(super) fn decimal(&mut self, least: f64, most: f64) -> Result<f64, ScenarioError> {
        let expected = format!("a number from {least} to {most}");
        let word = self.next(&expected)?;
        let number = word.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| self.wrong(word, &expected))
    }

    /// A share such as `5%` or `half`.
    pub(super) fn share(&mut self, most: f64) -> Result<f64, ScenarioError> {
        let expected = format!("a share such as 5%, at most {}%", most * 100.0);
        let word = self.next(&expected)?;
        let share = match word {
            "half" => Some(0.5),
            "all" => Some(1.0),
            _ => word
                .strip_suffix('%')
                .and_then(|word| word.parse::<f64>().ok())
                .map(|percent| percent / 100.0),
        };
        share.filter(|share| (0.0..=most).contains(share)).ok_or_else(|| self.wrong(word, &expected))
    }

    /// A rate such as `15000/s`.
    pub(super) fn rate(&mut self) -> Result<f64, ScenarioError> {
        let expected = "a rate such as 15000/s, at most 100000000/s";
        let word = self.next(expected)?;
        let number = word.strip_suffix("/s").and_then(|word| word.replace('_', "").parse::<f64>().ok());
        number.filter(|rate| (0.0..=1e8).contains(rate)).ok_or_else(|| self.wrong(word, expected))
    }
}
