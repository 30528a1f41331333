use super::{Page, Store, StoreError, Stored};
use sqlx::Row;
use sqlx::any::AnyRow;

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

    /// The changes, the latest first.
    pub(crate) async fn versions(&self, skip: i64, limit: i64) -> Stored<Page<VersionRow>> {
        let row = sqlx::query("SELECT COUNT(*) FROM versions").fetch_one(&self.pool).await?;
        let rows = sqlx::query(select!("ORDER BY number DESC LIMIT $1 OFFSET $2"));
        let rows = rows.bind(limit).bind(skip).fetch_all(&self.pool).await?;
        Ok(Page { total: row.try_get(0)?, rows: rows.iter().map(VersionRow::read).collect::<Stored<_>>()? })
    }

    pub(crate) async fn version(&self, number: i64) -> Stored<Option<VersionRow>> {
        let row = sqlx::query(select!("WHERE number = $1")).bind(number).fetch_optional(&self.pool).await?;
        row.as_ref().map(VersionRow::read).transpose()
    }

    /// The changes after one up to another, the earliest first.
    pub(crate) async fn versions_between(&self, after: i64, until: i64) -> Stored<Vec<VersionRow>> {
        let rows = sqlx::query(select!("WHERE number > $1 AND number <= $2 ORDER BY number"));
        let rows = rows.bind(after).bind(until).fetch_all(&self.pool).await?;
        rows.iter().map(VersionRow::read).collect()
    }
}
