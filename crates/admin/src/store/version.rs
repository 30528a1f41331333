use super::page::containing;
use super::{Page, Slice, Store, StoreError, Stored};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

/// How often the next number is tried when others take it first.
const ATTEMPTS: usize = 16;

/// A change of policy, with its number.
#[derive(Clone, Debug)]
pub(crate) struct VersionRow {
    pub(crate) number: i64,
    pub(crate) at: i64,
    pub(crate) change: NewVersion,
}

/// The same before it has a number.
#[derive(Clone, Debug)]
pub(crate) struct NewVersion {
    pub(crate) author: String,
    pub(crate) reason: String,
    /// `found`, `create`, `update`, `delete`, `import`, `rollback` or `cluster`.
    pub(crate) kind: String,
    /// When it takes effect, if that was in the future.
    pub(crate) effective_at: Option<i64>,
    /// What changed, as JSON.
    pub(crate) changes: String,
}

/// Which of them to show. What is empty does not matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct VersionFilter {
    pub(crate) author: String,
    pub(crate) kind: String,
    /// A part of the reason.
    pub(crate) search: String,
}

const WHERE: &str =
    "WHERE ($1 = '' OR author = $1) AND ($2 = '' OR kind = $2) AND LOWER(reason) LIKE $3 ESCAPE '!'";

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT number, at, author, reason, kind, effective_at, changes FROM versions ", $rest)
    };
}

impl VersionRow {
    fn read(row: &AnyRow) -> Stored<Self> {
        Ok(Self {
            number: row.try_get(0)?,
            at: row.try_get(1)?,
            change: NewVersion {
                author: row.try_get(2)?,
                reason: row.try_get(3)?,
                kind: row.try_get(4)?,
                effective_at: row.try_get(5)?,
                changes: row.try_get(6)?,
            },
        })
    }
}

impl Store {
    /// Gives a change the next number.
    pub(crate) async fn add_version(&self, version: &NewVersion, now: i64) -> Stored<i64> {
        let text = "INSERT INTO versions (number, at, author, reason, kind, effective_at, changes)
                    SELECT COALESCE(MAX(number), 0) + 1, CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT),
                           CAST($4 AS TEXT), CAST($5 AS BIGINT), CAST($6 AS TEXT) FROM versions WHERE 1 = 1
                    ON CONFLICT (number) DO NOTHING RETURNING number";
        for _ in 0..ATTEMPTS {
            let row = sqlx::query(text)
                .bind(now)
                .bind(&version.author)
                .bind(&version.reason)
                .bind(&version.kind)
                .bind(version.effective_at)
                .bind(&version.changes)
                .fetch_optional(&self.pool)
                .await?;
            if let Some(row) = row {
                return Ok(row.try_get(0)?);
            }
        }
        Err(StoreError(format!("no version number was free in {ATTEMPTS} attempts")))
    }

    /// Whether there is any.
    pub(crate) async fn has_versions(&self) -> Stored<bool> {
        let row = sqlx::query("SELECT number FROM versions LIMIT 1").fetch_optional(&self.pool).await?;
        Ok(row.is_some())
    }

    /// The changes that are wanted.
    pub(crate) async fn versions(&self, filter: &VersionFilter, slice: Slice) -> Stored<Page<VersionRow>> {
        let search = containing(&filter.search);
        let count = sqlx::query(AssertSqlSafe(format!("SELECT COUNT(*) FROM versions {WHERE}")))
            .bind(&filter.author)
            .bind(&filter.kind)
            .bind(&search)
            .fetch_one(&self.pool)
            .await?;
        let text =
            format!("{} {WHERE} ORDER BY number {} LIMIT $4 OFFSET $5", select!(""), slice.order.sql());
        let rows = sqlx::query(AssertSqlSafe(text))
            .bind(&filter.author)
            .bind(&filter.kind)
            .bind(&search)
            .bind(slice.limit)
            .bind(slice.skip)
            .fetch_all(&self.pool)
            .await?;
        let rows = rows.iter().map(VersionRow::read).collect::<Stored<_>>()?;
        Ok(Page { total: count.try_get(0)?, rows })
    }

    pub(crate) async fn version(&self, number: i64) -> Stored<Option<VersionRow>> {
        let row = sqlx::query(select!("WHERE number = $1")).bind(number).fetch_optional(&self.pool).await?;
        row.as_ref().map(VersionRow::read).transpose()
    }

    /// The first of the versions up to one that was scheduled for a later time than that.
    pub(crate) async fn first_due_after(&self, at: i64, until: i64) -> Stored<Option<i64>> {
        let text =
            "SELECT number FROM versions WHERE number <= $1 AND effective_at > $2 ORDER BY number LIMIT 1";
        let row = sqlx::query(text).bind(until).bind(at).fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// The changes after one up to another, the earliest first.
    pub(crate) async fn versions_between(&self, after: i64, until: i64) -> Stored<Vec<VersionRow>> {
        let rows = sqlx::query(select!("WHERE number > $1 AND number <= $2 ORDER BY number"));
        let rows = rows.bind(after).bind(until).fetch_all(&self.pool).await?;
        rows.iter().map(VersionRow::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Order;
    use super::*;

    #[tokio::test]
    async fn versions_are_found_by_author_kind_and_reason() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("admin.db").to_str().unwrap()).await.unwrap();
        for (author, kind, reason) in
            [("ann", "create", "a Try"), ("bob", "update", "100 % more"), ("ann", "update", "100 x more")]
        {
            let (author, kind, reason) = (author.into(), kind.into(), reason.into());
            let version = NewVersion { author, kind, reason, effective_at: None, changes: "[]".into() };
            store.add_version(&version, 1).await.unwrap();
        }
        let found = async |author: &str, kind: &str, search: &str, order: Order| {
            let filter = VersionFilter { author: author.into(), kind: kind.into(), search: search.into() };
            let page = store.versions(&filter, Slice { order, skip: 0, limit: 2 }).await.unwrap();
            (page.rows.iter().map(|row| row.number).collect::<Vec<_>>(), page.total)
        };
        assert_eq!(found("", "", "", Order::LatestFirst).await, (vec![3, 2], 3));
        assert_eq!(found("", "", "", Order::EarliestFirst).await, (vec![1, 2], 3));
        assert_eq!(found("ann", "update", "", Order::LatestFirst).await, (vec![3], 1));
        assert_eq!(found("", "", "TRY", Order::LatestFirst).await, (vec![1], 1));
        assert_eq!(
            found("", "", "0 % m", Order::LatestFirst).await,
            (vec![2], 1),
            "a sign stands for itself"
        );
    }
}
