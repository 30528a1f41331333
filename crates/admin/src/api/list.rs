//! Lists that can be searched and sorted, the same way whatever they list.

use super::page::{Listed, Paging, Params, plain};
use crate::problem::{FieldError, Problem};
use crate::store::{Order, Slice};
use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::Deserialize;
use std::cmp::Ordering;
use utoipa::IntoParams;

/// The longest text to search for, in characters.
const MAX_SEARCH: usize = 128;

/// Which entries of a list are asked for, in which order.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListParams {
    /// A part of the name, or of what stands for one; capitals do not matter.
    #[param(max_length = 128)]
    search: Option<String>,
    /// Whether the greatest comes first. If it is left out, the latest comes first by time, and the least by anything else.
    descending: Option<bool>,
}

/// The same, within bounds, and which page of it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) paging: Paging,
    /// In small letters; empty if anything will do.
    pub(crate) search: String,
    descending: Option<bool>,
}

/// Something that is listed.
pub(crate) trait Entry {
    /// What entries are sorted by.
    type Sort: Copy + Default;

    /// What it is searched by, and sorted by where all else is equal.
    fn name(&self) -> &str;

    /// Which of two comes first.
    fn compare(&self, other: &Self, by: Self::Sort) -> Ordering;

    /// Whether that is a time, by which the latest comes first.
    fn is_time(_by: Self::Sort) -> bool {
        false
    }
}

impl Asked {
    /// The page of a list that is all there.
    pub(crate) fn page<T: Entry>(
        &self,
        all: impl IntoIterator<Item = T>,
        sort: Option<T::Sort>,
    ) -> Listed<T> {
        let by = sort.unwrap_or_default();
        let is_found = |entry: &T| entry.name().to_lowercase().contains(&self.search);
        let mut found: Vec<T> = all.into_iter().filter(is_found).collect();
        found.sort_by(|a, b| a.compare(b, by).then_with(|| a.name().cmp(b.name())));
        if self.descending.unwrap_or(T::is_time(by)) {
            found.reverse();
        }
        self.paging.cut(found)
    }

    /// The same for a database, which sorts by time.
    pub(crate) fn slice(&self) -> Slice {
        let order = match self.descending {
            Some(false) => Order::EarliestFirst,
            Some(true) | None => Order::LatestFirst,
        };
        Slice { order, skip: self.paging.skip(), limit: self.paging.limit.into() }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Params(ListParams { search, descending }) = Params::from_request_parts(parts, state).await?;
        let paging = Paging::from_request_parts(parts, state).await?;
        let search = plain(search).to_lowercase();
        if search.chars().count() > MAX_SEARCH {
            let expected = format!("at most {MAX_SEARCH} characters");
            let error = FieldError::new("search", "out_of_range", "too long", expected);
            return Err(Problem::invalid(vec![error]));
        }
        Ok(Self { paging, search, descending })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing(&'static str, u32);

    #[derive(Clone, Copy, Default)]
    enum Sort {
        #[default]
        Name,
        Time,
    }

    impl Entry for Thing {
        type Sort = Sort;

        fn name(&self) -> &str {
            self.0
        }

        fn compare(&self, other: &Self, by: Sort) -> Ordering {
            match by {
                Sort::Name => self.0.cmp(other.0),
                Sort::Time => self.1.cmp(&other.1),
            }
        }

        fn is_time(by: Sort) -> bool {
            matches!(by, Sort::Time)
        }
    }

    fn names(asked: &Asked, sort: Option<Sort>) -> (Vec<&'static str>, u64) {
        let all = [Thing("Beta", 2), Thing("alpha", 3), Thing("gamma", 1), Thing("delta", 3)];
        let page = asked.page(all, sort);
        (page.data.into_iter().map(|Thing(name, _)| name).collect(), page.total)
    }

    #[test]
    fn a_list_is_searched_then_sorted_then_cut() {
        let paging = Paging { page: 1, limit: 3 };
        let any = Asked { paging, search: String::new(), descending: None };
        assert_eq!(names(&any, None), (vec!["Beta", "alpha", "delta"], 4));
        let second = Asked { paging: Paging { page: 2, ..paging }, ..any.clone() };
        assert_eq!(names(&second, None), (vec!["gamma"], 4));
        let up = Asked { descending: Some(true), ..any.clone() };
        assert_eq!(names(&up, None), (vec!["gamma", "delta", "alpha"], 4));
        let some = Asked { search: "et".into(), ..any };
        assert_eq!(names(&some, None), (vec!["Beta"], 1));
    }

    #[test]
    fn by_time_the_latest_comes_first_unless_it_is_said() {
        let paging = Paging { page: 1, limit: 10 };
        let any = Asked { paging, search: String::new(), descending: None };
        assert_eq!(names(&any, Some(Sort::Time)).0, ["delta", "alpha", "Beta", "gamma"]);
        let down = Asked { descending: Some(false), ..any };
        assert_eq!(names(&down, Some(Sort::Time)).0, ["gamma", "Beta", "alpha", "delta"]);
    }
}
