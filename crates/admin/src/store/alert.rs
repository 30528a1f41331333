use super::{Page, Store, Stored};
use sqlx::Row;
use sqlx::any::AnyRow;

/// Something that is, or was, not as it should be.
#[derive(Clone, Debug)]
pub(crate) struct AlertRow {
    pub(crate) id: String,
    pub(crate) rule: String,
    /// What it is about: an application, a cluster or a node.
    pub(crate) subject: String,
    pub(crate) severity: String,
    pub(crate) message: String,
    pub(crate) value: f64,
    pub(crate) raised_at: i64,
    pub(crate) seen_at: i64,
    pub(crate) acknowledged_at: Option<i64>,
    pub(crate) acknowledged_by: Option<String>,
    pub(crate) resolved_at: Option<i64>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, rule, subject, severity, message, value, raised_at, seen_at, acknowledged_at,
             acknowledged_by, resolved_at FROM alerts ",
            $rest
        )
    };
}

macro_rules! in_state {
    ($rest:literal) => {
        concat!(
            "WHERE ($1 = 'all' OR ($1 = 'resolved' AND resolved_at IS NOT NULL)
             OR ($1 = 'open' AND resolved_at IS NULL)
             OR ($1 = 'acknowledged' AND resolved_at IS NULL AND acknowledged_at IS NOT NULL)) ",
            $rest
        )
    };
}

impl AlertRow {
    fn read(row: &AnyRow) -> Stored<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            rule: row.try_get(1)?,
            subject: row.try_get(2)?,
            severity: row.try_get(3)?,
            message: row.try_get(4)?,
            value: row.try_get(5)?,
            raised_at: row.try_get(6)?,
            seen_at: row.try_get(7)?,
            acknowledged_at: row.try_get(8)?,
            acknowledged_by: row.try_get(9)?,
            resolved_at: row.try_get(10)?,
        })
    }
}

impl Store {
    /// Raises an alert; false if it is open already, which is noted.
    pub(crate) async fn raise_alert(&self, alert: &AlertRow) -> Stored<bool> {
        let text = "UPDATE alerts SET seen_at = $3, value = $4, message = $5, severity = $6
                    WHERE rule = $1 AND subject = $2 AND resolved_at IS NULL";
        let again = sqlx::query(text)
            .bind(&alert.rule)
            .bind(&alert.subject)
            .bind(alert.seen_at)
            .bind(alert.value)
            .bind(&alert.message)
            .bind(&alert.severity)
            .execute(&self.pool)
            .await?;
        if again.rows_affected() > 0 {
            return Ok(false);
        }
        let text = "INSERT INTO alerts (id, rule, subject, severity, message, value, raised_at, seen_at)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
        let done = sqlx::query(text)
            .bind(&alert.id)
            .bind(&alert.rule)
            .bind(&alert.subject)
            .bind(&alert.severity)
            .bind(&alert.message)
            .bind(alert.value)
            .bind(alert.raised_at)
            .bind(alert.seen_at)
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Closes an open alert; false if there is none.
    pub(crate) async fn resolve_alert(&self, rule: &str, subject: &str, now: i64) -> Stored<bool> {
        let text =
            "UPDATE alerts SET resolved_at = $3 WHERE rule = $1 AND subject = $2 AND resolved_at IS NULL";
        let done = sqlx::query(text).bind(rule).bind(subject).bind(now).execute(&self.pool).await?;
        Ok(done.rows_affected() > 0)
    }

    /// Notes who has seen an alert; the first stays.
    pub(crate) async fn acknowledge_alert(&self, id: &str, by: &str, now: i64) -> Stored<bool> {
        let text = "UPDATE alerts SET acknowledged_at = $3, acknowledged_by = $2
                    WHERE id = $1 AND acknowledged_at IS NULL";
        Ok(sqlx::query(text).bind(id).bind(by).bind(now).execute(&self.pool).await?.rows_affected() > 0)
    }

    /// Closes an alert by hand. It is raised anew if what it is about goes on.
    pub(crate) async fn close_alert(&self, id: &str, now: i64) -> Stored<bool> {
        let text = "UPDATE alerts SET resolved_at = $2 WHERE id = $1 AND resolved_at IS NULL";
        Ok(sqlx::query(text).bind(id).bind(now).execute(&self.pool).await?.rows_affected() > 0)
    }

    pub(crate) async fn alert(&self, id: &str) -> Stored<Option<AlertRow>> {
        let row = sqlx::query(select!("WHERE id = $1")).bind(id).fetch_optional(&self.pool).await?;
        row.as_ref().map(AlertRow::read).transpose()
    }

    pub(crate) async fn open_alert(&self, rule: &str, subject: &str) -> Stored<Option<AlertRow>> {
        let text = select!("WHERE rule = $1 AND subject = $2 AND resolved_at IS NULL");
        let row = sqlx::query(text).bind(rule).bind(subject).fetch_optional(&self.pool).await?;
        row.as_ref().map(AlertRow::read).transpose()
    }

    /// The alerts of a state (`open`, `acknowledged`, `resolved`, `all`), the latest first.
    pub(crate) async fn alerts(&self, state: &str, skip: i64, limit: i64) -> Stored<Page<AlertRow>> {
        let count = sqlx::query(concat!("SELECT COUNT(*) FROM alerts ", in_state!("")));
        let total = count.bind(state).fetch_one(&self.pool).await?.try_get(0)?;
        let text = concat!(select!(""), in_state!("ORDER BY raised_at DESC, id DESC LIMIT $2 OFFSET $3"));
        let rows = sqlx::query(text).bind(state).bind(limit).bind(skip).fetch_all(&self.pool).await?;
        Ok(Page { total, rows: rows.iter().map(AlertRow::read).collect::<Stored<_>>()? })
    }

    /// Forgets alerts that were resolved long ago.
    pub(crate) async fn forget_alerts(&self, before: i64) -> Stored<()> {
        sqlx::query("DELETE FROM alerts WHERE resolved_at < $1").bind(before).execute(&self.pool).await?;
        Ok(())
    }

    /// The rules, as they are written.
    pub(crate) async fn alert_rules(&self) -> Stored<Vec<(String, String)>> {
        let rows = sqlx::query("SELECT id, rule FROM alert_rules ORDER BY id").fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    pub(crate) async fn put_alert_rule(&self, id: &str, rule: &str) -> Stored<()> {
        let text = "INSERT INTO alert_rules (id, rule) VALUES ($1, $2)
                    ON CONFLICT (id) DO UPDATE SET rule = excluded.rule";
        sqlx::query(text).bind(id).bind(rule).execute(&self.pool).await?;
        Ok(())
    }
}
