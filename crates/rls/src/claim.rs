//! A descriptor as a request of an application.

use crate::api::{RateLimitDescriptor, RateLimitRequest};
use std::borrow::Cow;
use tollgate_config::rls::{Name, Rls, Rule};
use tollgate_core::cost::Operation;
use tollgate_node::Request;

/// What one descriptor asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim<'a> {
    pub(crate) app: Cow<'a, str>,
    operation: Operation,
    bytes: u64,
    pub(crate) hits: Hits,
}

/// Whose a descriptor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// An application's.
    Claim(Claim<'a>),
    /// Nobody's, as a rule says.
    Unlimited,
    /// Nobody's, as far as anybody can tell.
    Nobody,
}

/// What it costs, as far as the caller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hits {
    /// Nothing was said: by the price list.
    Listed,
    /// That much.
    Named(u64),
    /// Nothing: whether anything is left is all that is asked.
    Peek,
    /// That much is given back.
    Returned(u64),
}

impl<'a> Claim<'a> {
    /// Whose the descriptor is, and what it asks for.
    pub(crate) fn find(
        settings: &Rls,
        call: &'a RateLimitRequest,
        descriptor: &'a RateLimitDescriptor,
    ) -> Found<'a> {
        let value = |key: &str| value_of(descriptor, key);
        let rule = settings.rules.iter().find(|rule| matches(rule, &call.domain, descriptor));
        let app = match rule.map(|rule| &rule.app) {
            Some(None) => return Found::Unlimited,
            Some(Some(app)) => name(app, descriptor),
            None => value(&settings.app).map(Cow::Borrowed),
        };
        let Some(app) = app else { return Found::Nobody };
        Found::Claim(Self {
            app,
            operation: value(&settings.operation).map_or(Operation::Get, Operation::parse),
            bytes: value(&settings.bytes).map_or(0, bytes),
            hits: Hits::of(call, descriptor),
        })
    }

    /// What somebody asks for who cannot be told.
    pub(crate) const fn nobody() -> Self {
        Self { app: Cow::Borrowed(""), operation: Operation::Other, bytes: 0, hits: Hits::Listed }
    }

    /// The request to decide about.
    pub(crate) fn request(&self) -> Request<'_> {
        let request = Request::new(&self.app, self.operation).with_bytes(self.bytes);
        match self.hits {
            Hits::Listed => request,
            Hits::Named(cost) | Hits::Returned(cost) => request.with_cost(cost),
            Hits::Peek => request.with_cost(1),
        }
    }
}

impl Hits {
    /// What the descriptor says, or else what the call says; zero says nothing in the call, where it cannot be told from
    /// silence.
    fn of(call: &RateLimitRequest, descriptor: &RateLimitDescriptor) -> Self {
        match (&descriptor.hits_addend, call.hits_addend) {
            (Some(0), _) => Self::Peek,
            (Some(hits), _) if descriptor.is_negative_hits => Self::Returned(*hits),
            (Some(hits), _) => Self::Named(*hits),
            (None, 0) if descriptor.is_negative_hits => Self::Returned(1),
            (None, 0) => Self::Listed,
            (None, hits) if descriptor.is_negative_hits => Self::Returned(hits.into()),
            (None, hits) => Self::Named(hits.into()),
        }
    }
}

fn matches(rule: &Rule, domain: &str, descriptor: &RateLimitDescriptor) -> bool {
    let is_there = |(key, wanted): &(String, Option<String>)| match (value_of(descriptor, key), wanted) {
        (Some(value), Some(wanted)) => value == wanted,
        (value, None) => value.is_some(),
        (None, Some(_)) => false,
    };
    rule.domain.as_deref().is_none_or(|wanted| wanted == domain) && rule.entries.iter().all(is_there)
}

fn name<'a>(name: &Name, descriptor: &'a RateLimitDescriptor) -> Option<Cow<'a, str>> {
    let value = |key: &str| value_of(descriptor, key);
    match name.key() {
        Some(key) => value(key).map(Cow::Borrowed),
        None => name.fill(value).map(Cow::Owned),
    }
}

/// The first entry of that key counts.
fn value_of<'a>(descriptor: &'a RateLimitDescriptor, key: &str) -> Option<&'a str> {
    descriptor.entries.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str())
}

/// A number too large to be read is large; what is no number says nothing.
fn bytes(text: &str) -> u64 {
    let is_number = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if is_number { text.parse().unwrap_or(u64::MAX) } else { 0 }
}

#[cfg(test)]
mod tests;
