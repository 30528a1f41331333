use super::{Page, Store, Stored};
use sqlx::Row;
use sqlx::any::AnyRow;

/// An emergency, over or not.
#[derive(Clone, Debug)]
pub(crate) struct EmergencyRow {
    pub(crate) id: String,
    pub(crate) cluster: String,
    /// `operator` or `usage`.
    pub(crate) cause: String,
    pub(crate) reason: String,
    /// Who declared it.
    pub(crate) actor: String,
    pub(crate) started_at: i64,
    pub(crate) until_at: i64,
    pub(crate) ended_at: Option<i64>,
    /// Who ended it, or `expired`, or `recovered`.
    pub(crate) ended_by: Option<String>,
}

impl EmergencyRow {
    fn read(row: &AnyRow) -> Stored<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            cluster: row.try_get(1)?,
            cause: row.try_get(2)?,
            reason: row.try_get(3)?,
            actor: row.try_get(4)?,
            started_at: row.try_get(5)?,
            until_at: row.try_get(6)?,
            ended_at: row.try_get(7)?,
            ended_by: row.try_get(8)?,
        })
    }
}

impl Store {
    /// Notes that an emergency goes on, by its start; the first note tells who declared it, later ones its end.
    pub(crate) async fn note_emergency(&self, row: &EmergencyRow) -> Stored<()> {
        let text = "INSERT INTO emergencies (id, cluster, cause, reason, actor, started_at, until_at)
                    VALUES ($1, $2, $3, $4, $5, $6, $7)
                    ON CONFLICT (cluster, started_at) DO UPDATE SET until_at = excluded.until_at,
                    cause = excluded.cause, reason = excluded.reason,
                    actor = CASE WHEN excluded.actor = '' THEN emergencies.actor ELSE excluded.actor END";
        sqlx::query(text)
            .bind(&row.id)
            .bind(&row.cluster)
            .bind(&row.cause)
            .bind(&row.reason)
            .bind(&row.actor)
            .bind(row.started_at)
            .bind(row.until_at)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Notes that what goes on at a cluster is over.
    pub(crate) async fn end_emergencies(&self, cluster: &str, by: &str, at: i64) -> Stored<()> {
        let text =
            "UPDATE emergencies SET ended_at = $3, ended_by = $2 WHERE cluster = $1 AND ended_at IS NULL";
        sqlx::query(text).bind(cluster).bind(by).bind(at).execute(&self.pool).await?;
        Ok(())
    }

    /// The emergencies, the latest first.
    pub(crate) async fn emergencies(&self, skip: i64, limit: i64) -> Stored<Page<EmergencyRow>> {
        let row = sqlx::query("SELECT COUNT(*) FROM emergencies").fetch_one(&self.pool).await?;
        let text = "SELECT id, cluster, cause, reason, actor, started_at, until_at, ended_at, ended_by
                    FROM emergencies ORDER BY started_at DESC, id LIMIT $1 OFFSET $2";
        let rows = sqlx::query(text).bind(limit).bind(skip).fetch_all(&self.pool).await?;
        Ok(Page { total: row.try_get(0)?, rows: rows.iter().map(EmergencyRow::read).collect::<Stored<_>>()? })
    }
}
