use super::{Store, Stored};
use sqlx::Row;

/// Where alerts are sent to.
#[derive(Clone, Debug)]
pub(crate) struct WebhookRow {
    pub(crate) id: String,
    pub(crate) url: String,
    /// What messages are signed with.
    pub(crate) secret: String,
    pub(crate) is_enabled: bool,
    pub(crate) created_at: i64,
}

impl Store {
    pub(crate) async fn webhooks(&self) -> Stored<Vec<WebhookRow>> {
        let text = "SELECT id, url, secret, is_enabled, created_at FROM webhooks ORDER BY id LIMIT 100";
        let rows = sqlx::query(text).fetch_all(&self.pool).await?;
        let read = |row: &sqlx::any::AnyRow| {
            Ok(WebhookRow {
                id: row.try_get(0)?,
                url: row.try_get(1)?,
                secret: row.try_get(2)?,
                is_enabled: row.try_get::<i64, _>(3)? != 0,
                created_at: row.try_get(4)?,
            })
        };
        rows.iter().map(read).collect()
    }

    pub(crate) async fn add_webhook(&self, webhook: &WebhookRow) -> Stored<()> {
        let text =
            "INSERT INTO webhooks (id, url, secret, is_enabled, created_at) VALUES ($1, $2, $3, $4, $5)";
        sqlx::query(text)
            .bind(&webhook.id)
            .bind(&webhook.url)
            .bind(&webhook.secret)
            .bind(i64::from(webhook.is_enabled))
            .bind(webhook.created_at)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    pub(crate) async fn delete_webhook(&self, id: &str) -> Stored<bool> {
        let done = sqlx::query("DELETE FROM webhooks WHERE id = $1").bind(id).execute(&self.pool).await?;
        Ok(done.rows_affected() > 0)
    }
}
