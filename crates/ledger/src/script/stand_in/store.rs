//! Keys and what they hold.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

pub(super) type Bytes = Vec<u8>;

/// All that is stored: cheap enough to copy, so that a test can lose writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Store {
    keys: BTreeMap<Bytes, Data>,
}

/// What a key holds. As on a server, nothing is kept that is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Data {
    Hash(BTreeMap<Bytes, Bytes>),
    List(VecDeque<Bytes>),
    Sorted(Sorted),
}

/// Members by score, and by themselves where scores are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sorted {
    scores: BTreeMap<Bytes, i64>,
    order: BTreeSet<(i64, Bytes)>,
}

impl Store {
    /// The bytes of a field of a hash, if there is one.
    pub fn field(&self, key: &str, field: &str) -> Option<&[u8]> {
        match self.keys.get(key.as_bytes())? {
            Data::Hash(hash) => hash.get(field.as_bytes()).map(Vec::as_slice),
            _ => None,
        }
    }

    /// Sets a field of a hash, as something that is not a script might.
    pub fn set_field(&mut self, key: &str, field: &str, value: &[u8]) {
        if let Some(hash) = self.hash(&key.into()) {
            hash.insert(field.into(), value.into());
        }
    }

    /// Forgets a key, as a server that runs out of memory might.
    pub fn forget(&mut self, key: &str) {
        self.keys.remove(key.as_bytes());
    }

    /// Whether there is such a key.
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.keys.contains_key(key)
    }

    pub(super) fn remove(&mut self, key: &Bytes) -> bool {
        self.keys.remove(key).is_some()
    }

    /// The hash at a key, a new one if there is nothing; `None` if there is something else.
    pub(super) fn hash(&mut self, key: &Bytes) -> Option<&mut BTreeMap<Bytes, Bytes>> {
        match self.keys.entry(key.clone()).or_insert_with(|| Data::Hash(BTreeMap::new())) {
            Data::Hash(hash) => Some(hash),
            _ => None,
        }
    }

    /// The list at a key, likewise.
    pub(super) fn list(&mut self, key: &Bytes) -> Option<&mut VecDeque<Bytes>> {
        match self.keys.entry(key.clone()).or_insert_with(|| Data::List(VecDeque::new())) {
            Data::List(list) => Some(list),
            _ => None,
        }
    }

    /// The sorted set at a key, likewise.
    pub(super) fn sorted(&mut self, key: &Bytes) -> Option<&mut Sorted> {
        match self.keys.entry(key.clone()).or_insert_with(|| Data::Sorted(Sorted::default())) {
            Data::Sorted(sorted) => Some(sorted),
            _ => None,
        }
    }

    /// Forgets a key that holds nothing.
    pub(super) fn prune(&mut self, key: &Bytes) {
        let is_empty = match self.keys.get(key) {
            Some(Data::Hash(hash)) => hash.is_empty(),
            Some(Data::List(list)) => list.is_empty(),
            Some(Data::Sorted(sorted)) => sorted.scores.is_empty(),
            None => false,
        };
        if is_empty {
            self.keys.remove(key);
        }
    }
}

impl Sorted {
    /// Sets a member's score; returns whether it is new.
    pub(super) fn insert(&mut self, score: i64, member: &[u8]) -> bool {
        let is_new = !self.remove(member);
        self.scores.insert(member.into(), score);
        self.order.insert((score, member.into()));
        is_new
    }

    pub(super) fn remove(&mut self, member: &[u8]) -> bool {
        let Some(score) = self.scores.remove(member) else { return false };
        self.order.remove(&(score, member.into()))
    }

    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    pub(super) fn score(&self, member: &[u8]) -> Option<i64> {
        self.scores.get(member).copied()
    }

    /// All members with their scores, in order.
    pub(super) fn scored(&self) -> impl Iterator<Item = (i64, Bytes)> {
        self.order.iter().cloned()
    }

    /// Members with scores from `least`, in order.
    pub(super) fn from(&self, least: i64) -> impl Iterator<Item = Bytes> {
        self.order.range((least, Bytes::new())..).map(|(_, member)| member.clone())
    }

    /// All members, in order.
    pub(super) fn members(&self) -> impl Iterator<Item = Bytes> {
        self.order.iter().map(|(_, member)| member.clone())
    }

    /// Members with scores up to `most`, in order.
    pub(super) fn up_to(&self, most: i64) -> impl Iterator<Item = Bytes> {
        self.order.iter().take_while(move |(score, _)| *score <= most).map(|(_, member)| member.clone())
    }

    /// Members with scores above `least`, in order.
    pub(super) fn above(&self, least: i64) -> impl Iterator<Item = (i64, Bytes)> {
        self.order.iter().skip_while(move |(score, _)| *score <= least).cloned()
    }

    /// Members after one, where all scores are equal.
    pub(super) fn after(&self, member: Option<&[u8]>) -> impl Iterator<Item = Bytes> {
        let from = member.map_or(Bound::Unbounded, Bound::Excluded);
        self.scores.range::<[u8], _>((from, Bound::Unbounded)).map(|(member, _)| member.clone())
    }
}
