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
    /// Writes down what somebody did. What was written down is never changed, and forgotten only when it is old.
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

    /// Forgets what was done before.
    pub(crate) async fn forget_audit(&self, before: i64) -> Stored<u64> {
        let done = sqlx::query("DELETE FROM audit WHERE at < $1").bind(before).execute(&self.pool).await?;
        Ok(done.rows_affected())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_old_is_forgotten_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("admin.db").to_str().unwrap()).await.unwrap();
        for at in [10, 20, 30] {
            let entry = NewAudit { actor: "ann".into(), action: "app.update".into(), ..NewAudit::default() };
            store.add_audit(&entry, at).await.unwrap();
        }
        assert_eq!(store.forget_audit(20).await.unwrap(), 1);
        let filter = AuditFilter { until: i64::MAX, ..AuditFilter::default() };
        let page = store.audit(&filter, 0, 10).await.unwrap();
        assert_eq!(page.rows.iter().map(|row| row.at).collect::<Vec<_>>(), [30, 20]);
    }
}
