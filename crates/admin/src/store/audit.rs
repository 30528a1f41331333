use super::{Page, Store, Stored};
use crate::secret;
use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

/// Something that somebody did.
#[derive(Clone, Debug)]
pub(crate) struct AuditRow {
    pub(crate) id: String,
    pub(crate) at: i64,
    pub(crate) entry: NewAudit,
}

/// The same before it is written down.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewAudit {
    pub(crate) actor: String,
    /// `user`, `token` or `system`.
    pub(crate) actor_kind: String,
    pub(crate) ip: String,
    /// Like `app.update`.
    pub(crate) action: String,
    pub(crate) target: String,
    /// As JSON.
    pub(crate) before: Option<String>,
    /// As JSON.
    pub(crate) after: Option<String>,
}

/// Which of them to show. What is empty does not matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditFilter {
    pub(crate) actor: String,
    pub(crate) action: String,
    pub(crate) target: String,
    pub(crate) from: i64,
    pub(crate) until: i64,
}

const WHERE: &str = "WHERE ($1 = '' OR actor = $1) AND ($2 = '' OR action = $2 OR action LIKE $2 || '.%')
                     AND ($3 = '' OR target = $3) AND at >= $4 AND at <= $5";

impl AuditRow {
    fn read(row: &AnyRow) -> Stored<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            at: row.try_get(1)?,
            entry: NewAudit {
                actor: row.try_get(2)?,
                actor_kind: row.try_get(3)?,
                ip: row.try_get(4)?,
                action: row.try_get(5)?,
                target: row.try_get(6)?,
                before: row.try_get(7)?,
                after: row.try_get(8)?,
            },
        })
    }
}

impl Store {
    /// Writes down what somebody did. What was written down is never changed.
    pub(crate) async fn add_audit(&self, entry: &NewAudit, now: i64) -> Stored<()> {
        let text = "INSERT INTO audit (id, at, actor, actor_kind, ip, action, target, before, after)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        sqlx::query(text)
            .bind(secret::ordered_id()?)
            .bind(now)
            .bind(&entry.actor)
            .bind(&entry.actor_kind)
            .bind(&entry.ip)
            .bind(&entry.action)
            .bind(&entry.target)
            .bind(&entry.before)
            .bind(&entry.after)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// What was done, the latest first.
    pub(crate) async fn audit(&self, filter: &AuditFilter, skip: i64, limit: i64) -> Stored<Page<AuditRow>> {
        let total = count(&self.pool, filter).await?;
        let text = format!(
            "SELECT id, at, actor, actor_kind, ip, action, target, before, after FROM audit {WHERE}
             ORDER BY id DESC LIMIT $6 OFFSET $7"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(text))
            .bind(&filter.actor)
            .bind(&filter.action)
            .bind(&filter.target)
            .bind(filter.from)
            .bind(filter.until)
            .bind(limit)
            .bind(skip)
            .fetch_all(&self.pool)
            .await?;
        let rows = rows.iter().map(AuditRow::read).collect::<Stored<_>>()?;
        Ok(Page { rows, total })
    }
}

async fn count(pool: &AnyPool, filter: &AuditFilter) -> Stored<i64> {
    let text = format!("SELECT COUNT(*) FROM audit {WHERE}");
    let row = sqlx::query(sqlx::AssertSqlSafe(text))
        .bind(&filter.actor)
        .bind(&filter.action)
        .bind(&filter.target)
        .bind(filter.from)
        .bind(filter.until)
        .fetch_one(pool)
        .await?;
    Ok(row.try_get(0)?)
}
