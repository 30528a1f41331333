use super::{Store, Stored};
use sqlx::Row;

impl Store {
    /// Notes how a node is doing.
    pub(crate) async fn report_node(&self, node: &str, report: &str, now: i64) -> Stored<()> {
        let text = "INSERT INTO nodes (node, at, report) VALUES ($1, $2, $3)
                    ON CONFLICT (node) DO UPDATE SET at = excluded.at, report = excluded.report";
        sqlx::query(text).bind(node).bind(now).bind(report).execute(&self.pool).await?;
        Ok(())
    }

    /// How the nodes are doing that told so since.
    pub(crate) async fn node_reports(&self, since: i64) -> Stored<Vec<(String, i64, String)>> {
        let text = "SELECT node, at, report FROM nodes WHERE at >= $1 ORDER BY node LIMIT 1000";
        let rows = sqlx::query(text).bind(since).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))).collect()
    }
}
