use super::{Page, Store, Stored};
use sqlx::Row;
use sqlx::any::AnyRow;

/// For how long an alert is its node's that does not say so again, in milliseconds; a node that sees it says so every second.
const HELD_MS: i64 = 5_000;

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
    /// The node that sees it, and says when it is over.
    pub(crate) node: String,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, rule, subject, severity, message, value, raised_at, seen_at, acknowledged_at,
             acknowledged_by, resolved_at, node FROM alerts ",
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
            node: row.try_get(11)?,
        })
    }
}

impl Store {
    /// Raises an alert; false if it is open already, which is noted. One that its node has not seen for a while passes to
    /// the node that sees it now.
    pub(crate) async fn raise_alert(&self, alert: &AlertRow) -> Stored<bool> {
        let text = "UPDATE alerts SET seen_at = $3, value = $4, message = $5, severity = $6, node = $7
                    WHERE rule = $1 AND subject = $2 AND resolved_at IS NULL AND (node = $7 OR seen_at < $8)";
        let again = sqlx::query(text)
            .bind(&alert.rule)
            .bind(&alert.subject)
            .bind(alert.seen_at)
            .bind(alert.value)
            .bind(&alert.message)
            .bind(&alert.severity)
            .bind(&alert.node)
            .bind(alert.seen_at - HELD_MS)
            .execute(&self.pool)
            .await?;
        if again.rows_affected() > 0 {
            return Ok(false);
        }
        let text =
            "INSERT INTO alerts (id, rule, subject, severity, message, value, raised_at, seen_at, node)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
        let done = sqlx::query(text)
            .bind(&alert.id)
            .bind(&alert.rule)
            .bind(&alert.subject)
            .bind(&alert.severity)
            .bind(&alert.message)
            .bind(alert.value)
            .bind(alert.raised_at)
            .bind(alert.seen_at)
            .bind(&alert.node)
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() > 0)
    }

    /// Closes an open alert of a node; false if there is none.
    pub(crate) async fn resolve_alert(
        &self,
        rule: &str,
        subject: &str,
        node: &str,
        now: i64,
    ) -> Stored<bool> {
        let text = "UPDATE alerts SET resolved_at = $4
                    WHERE rule = $1 AND subject = $2 AND node = $3 AND resolved_at IS NULL";
        let done =
            sqlx::query(text).bind(rule).bind(subject).bind(node).bind(now).execute(&self.pool).await?;
        Ok(done.rows_affected() > 0)
    }

    /// The open alerts of a node.
    pub(crate) async fn open_alerts_of(&self, node: &str) -> Stored<Vec<AlertRow>> {
        let text = select!("WHERE node = $1 AND resolved_at IS NULL ORDER BY id LIMIT 1000");
        let rows = sqlx::query(text).bind(node).fetch_all(&self.pool).await?;
        rows.iter().map(AlertRow::read).collect()
    }

    /// The open alerts that nobody has seen since then.
    pub(crate) async fn unseen_alerts(&self, since: i64) -> Stored<Vec<AlertRow>> {
        let text = select!("WHERE seen_at < $1 AND resolved_at IS NULL ORDER BY id LIMIT 1000");
        let rows = sqlx::query(text).bind(since).fetch_all(&self.pool).await?;
        rows.iter().map(AlertRow::read).collect()
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

    /// A rule as it is written, if somebody changed it.
    pub(crate) async fn alert_rule(&self, id: &str) -> Stored<Option<String>> {
        let row = sqlx::query("SELECT rule FROM alert_rules WHERE id = $1").bind(id);
        let row = row.fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Writes a rule in place of what was written; false, and nothing happens, if that is not what is written any more.
    pub(crate) async fn put_alert_rule(&self, id: &str, before: Option<&str>, rule: &str) -> Stored<bool> {
        let done = match before {
            Some(before) => sqlx::query("UPDATE alert_rules SET rule = $2 WHERE id = $1 AND rule = $3")
                .bind(id)
                .bind(rule)
                .bind(before),
            None => sqlx::query("INSERT INTO alert_rules (id, rule) VALUES ($1, $2) ON CONFLICT DO NOTHING")
                .bind(id)
                .bind(rule),
        };
        Ok(done.execute(&self.pool).await?.rows_affected() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(id: &str, node: &str, seen_at: i64) -> AlertRow {
        AlertRow {
            id: id.into(),
            rule: "emergency".into(),
            subject: "c".into(),
            severity: "critical".into(),
            message: String::new(),
            value: 1.0,
            raised_at: seen_at,
            seen_at,
            acknowledged_at: None,
            acknowledged_by: None,
            resolved_at: None,
            node: node.into(),
        }
    }

    async fn store(folder: &tempfile::TempDir) -> Store {
        Store::open(folder.path().join("admin.db").to_str().unwrap()).await.unwrap()
    }

    #[tokio::test]
    async fn a_node_closes_only_what_it_sees_itself() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder).await;
        assert!(store.raise_alert(&alert("1", "a", 0)).await.unwrap());
        assert!(!store.raise_alert(&alert("2", "b", 1_000)).await.unwrap(), "it is open already");
        assert_eq!(store.open_alerts_of("b").await.unwrap().len(), 0);
        assert!(!store.resolve_alert("emergency", "c", "b", 2_000).await.unwrap());
        assert_eq!(store.open_alerts_of("a").await.unwrap().len(), 1);
        assert!(store.resolve_alert("emergency", "c", "a", 2_000).await.unwrap());
    }

    #[tokio::test]
    async fn an_alert_of_a_node_that_is_gone_passes_on_or_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder).await;
        store.raise_alert(&alert("1", "a", 0)).await.unwrap();
        assert!(!store.raise_alert(&alert("2", "b", HELD_MS + 1)).await.unwrap(), "it is no other alert");
        assert_eq!(store.open_alerts_of("b").await.unwrap()[0].id, "1");
        assert_eq!(store.unseen_alerts(HELD_MS).await.unwrap().len(), 0);
        assert_eq!(store.unseen_alerts(HELD_MS + 2).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn a_rule_is_written_only_in_place_of_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder).await;
        assert!(store.put_alert_rule("debt", None, "1").await.unwrap());
        assert!(!store.put_alert_rule("debt", None, "2").await.unwrap(), "somebody was faster");
        assert!(!store.put_alert_rule("debt", Some("0"), "2").await.unwrap());
        assert!(store.put_alert_rule("debt", Some("1"), "2").await.unwrap());
        assert_eq!(store.alert_rule("debt").await.unwrap().as_deref(), Some("2"));
        assert_eq!(store.alert_rule("drift").await.unwrap(), None);
    }
}
