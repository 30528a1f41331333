use super::{Store, Stored};
use crate::history::DEMAND_PREFIX;
use sqlx::Row;

impl Store {
    /// Keeps a series as it is now.
    pub(crate) async fn save_series(&self, series: &str, data: &[u8], now: i64) -> Stored<()> {
        let text = "INSERT INTO history (series, saved_at, data) VALUES ($1, $2, $3)
                    ON CONFLICT (series) DO UPDATE SET saved_at = excluded.saved_at, data = excluded.data";
        sqlx::query(text).bind(series).bind(now).bind(data).execute(&self.pool).await?;
        Ok(())
    }

    /// The series of a node as they were kept, at most `limit` of them.
    pub(crate) async fn series(&self, prefix: &str, limit: i64) -> Stored<Vec<(String, Vec<u8>)>> {
        let text = "SELECT series, data FROM history WHERE SUBSTR(series, 1, CAST($2 AS INTEGER)) = $1
                    ORDER BY saved_at DESC LIMIT $3";
        let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
        let rows = sqlx::query(text).bind(prefix).bind(length).bind(limit).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// What each node has written down of an application's demand.
    pub(crate) async fn demand_of(&self, app: &str) -> Stored<Vec<(String, Vec<u8>)>> {
        let suffix = format!("/{DEMAND_PREFIX}{app}");
        let text = "SELECT series, data FROM history WHERE series LIKE $1 ORDER BY series LIMIT 1000";
        let rows = sqlx::query(text).bind(format!("%{suffix}")).fetch_all(&self.pool).await?;
        let mut found = Vec::new();
        for row in &rows {
            let series: String = row.try_get(0)?;
            // An underscore in a name stands for any letter there.
            if let Some(node) = series.strip_suffix(&suffix) {
                found.push((node.to_owned(), row.try_get(1)?));
            }
        }
        Ok(found)
    }

    /// Forgets series that nobody has kept for long.
    pub(crate) async fn forget_series(&self, before: i64) -> Stored<()> {
        sqlx::query("DELETE FROM history WHERE saved_at < $1").bind(before).execute(&self.pool).await?;
        Ok(())
    }
}
