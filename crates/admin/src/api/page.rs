//! Lists, page by page.

use crate::problem::{FieldError, Problem};
use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The last page that can be asked for.
const MAX_PAGE: u32 = 100_000;

/// The most entries of a page.
const MAX_LIMIT: u32 = 1_000;

/// A page of a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Listed<T> {
    /// The entries of this page.
    pub(crate) data: Vec<T>,
    /// How many there are in all.
    pub(crate) total: u64,
    /// The number of this page, from 1.
    pub(crate) page: u32,
    /// The most entries of a page.
    pub(crate) limit: u32,
}

/// Which page is asked for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParams {
    /// Which page, from 1.
    #[param(minimum = 1, maximum = 100_000, default = 1)]
    page: Option<u32>,
    /// The most entries of a page.
    #[param(minimum = 1, maximum = 1_000, default = 20)]
    limit: Option<u32>,
}

/// The same, within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paging {
    pub(crate) page: u32,
    pub(crate) limit: u32,
}

impl Paging {
    /// The page that was asked for, or the first one of twenty entries.
    pub(crate) fn new(page: Option<u32>, limit: Option<u32>) -> Result<Self, Problem> {
        let paging = Self { page: page.unwrap_or(1), limit: limit.unwrap_or(20) };
        let bounds = [("page", paging.page, MAX_PAGE), ("limit", paging.limit, MAX_LIMIT)];
        let wrong = bounds.into_iter().filter(|(_, value, most)| *value == 0 || value > most);
        let errors: Vec<FieldError> = wrong
            .map(|(key, value, most)| {
                let expected = format!("a whole number from 1 to {most}");
                FieldError::new(key, "out_of_range", "out of range", expected).with_value(value.into())
            })
            .collect();
        if errors.is_empty() { Ok(paging) } else { Err(Problem::invalid(errors)) }
    }

    /// How many entries come before this page.
    pub(crate) fn skip(self) -> i64 {
        i64::from(self.page - 1) * i64::from(self.limit)
    }

    /// A page that a database made.
    pub(crate) fn listed<T>(self, data: Vec<T>, total: i64) -> Listed<T> {
        Listed { data, total: total.unsigned_abs(), page: self.page, limit: self.limit }
    }

    /// The page of a list that is all there.
    pub(crate) fn cut<T>(self, all: Vec<T>) -> Listed<T> {
        let total = all.len() as u64;
        let skip = usize::try_from(self.skip()).unwrap_or(usize::MAX);
        let data = all.into_iter().skip(skip).take(self.limit as usize).collect();
        Listed { data, total, page: self.page, limit: self.limit }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Paging {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Params(PageParams { page, limit }) = Params::from_request_parts(parts, state).await?;
        Self::new(page, limit)
    }
}

impl<T> Listed<T> {
    /// The same page, each entry made into something else.
    pub(crate) fn map<U>(self, make: impl FnMut(T) -> U) -> Listed<U> {
        let data = self.data.into_iter().map(make).collect();
        Listed { data, total: self.total, page: self.page, limit: self.limit }
    }
}

/// A text as a database can look for it: it knows none with a zero in it, and neither does anything that was written down.
pub(crate) fn plain(text: Option<String>) -> String {
    text.unwrap_or_default().replace('\0', "\u{fffd}")
}

/// What stands behind the question mark of a call.
#[derive(Clone, Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(params)| Self(params)).map_err(|rejection| Problem::malformed(rejection.body_text()))
    }
}

/// What stands in the path of a call.
#[derive(Clone, Debug)]
pub(crate) struct Segment<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Segment<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        path.map(|axum::extract::Path(value)| Self(value))
            .map_err(|rejection| Problem::malformed(rejection.body_text()))
    }
}
