use super::page::containing;
use super::{Page, Slice, Store, Stored};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

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

/// Which of them to show. What is empty does not matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct EmergencyFilter {
    pub(crate) cluster: String,
    pub(crate) cause: String,
    /// A part of the reason.
    pub(crate) search: String,
}

const WHERE: &str =
    "WHERE ($1 = '' OR cluster = $1) AND ($2 = '' OR cause = $2) AND LOWER(reason) LIKE $3 ESCAPE '!'";

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

    /// The emergencies that are wanted.
    pub(crate) async fn emergencies(
        &self,
        filter: &EmergencyFilter,
        slice: Slice,
    ) -> Stored<Page<EmergencyRow>> {
        let search = containing(&filter.search);
        let count = sqlx::query(AssertSqlSafe(format!("SELECT COUNT(*) FROM emergencies {WHERE}")))
            .bind(&filter.cluster)
            .bind(&filter.cause)
            .bind(&search)
            .fetch_one(&self.pool)
            .await?;
        let order = slice.order.sql();
        let text = format!(
            "SELECT id, cluster, cause, reason, actor, started_at, until_at, ended_at, ended_by
             FROM emergencies {WHERE} ORDER BY started_at {order}, id {order} LIMIT $4 OFFSET $5"
        );
        let rows = sqlx::query(AssertSqlSafe(text))
            .bind(&filter.cluster)
            .bind(&filter.cause)
            .bind(&search)
            .bind(slice.limit)
            .bind(slice.skip)
            .fetch_all(&self.pool)
            .await?;
        let rows = rows.iter().map(EmergencyRow::read).collect::<Stored<_>>()?;
        Ok(Page { total: count.try_get(0)?, rows })
    }
}
