use super::{Store, Stored};
use crate::history::DEMAND_PREFIX;
use sqlx::Row;
use sqlx::any::AnyRow;

/// How many bytes of a series are kept in one row: with what stands around them they fit into a page of SQLite.
const PIECE: usize = 3_900;

impl Store {
    /// Keeps a series as it is now.
    pub(crate) async fn save_series(&self, series: &str, data: &[u8], now: i64) -> Stored<()> {
        let text = "INSERT INTO history_pieces (series, piece, saved_at, data) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (series, piece) DO UPDATE SET saved_at = excluded.saved_at, data = excluded.data";
        let mut transaction = self.pool.begin().await?;
        let mut count = 0_i64;
        for piece in data.chunks(PIECE) {
            let query = sqlx::query(text).bind(series).bind(count).bind(now).bind(piece);
            query.execute(&mut *transaction).await?;
            count += 1;
        }
        // It may have been longer.
        let rest = sqlx::query("DELETE FROM history_pieces WHERE series = $1 AND piece >= $2");
        rest.bind(series).bind(count).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The series of a node as they were kept, at most `limit` of them, the latest.
    pub(crate) async fn series(&self, prefix: &str, limit: i64) -> Stored<Vec<(String, Vec<u8>)>> {
        let text = "SELECT series, data FROM history_pieces WHERE series IN
                        (SELECT series FROM history_pieces
                         WHERE piece = 0 AND SUBSTR(series, 1, CAST($2 AS INTEGER)) = $1
                         ORDER BY saved_at DESC LIMIT $3)
                    ORDER BY series, piece";
        let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
        let rows = sqlx::query(text).bind(prefix).bind(length).bind(limit).fetch_all(&self.pool).await?;
        joined(&rows)
    }

    /// What each node has written down of an application's demand.
    pub(crate) async fn demand_of(&self, app: &str) -> Stored<Vec<(String, Vec<u8>)>> {
        let suffix = format!("/{DEMAND_PREFIX}{app}");
        let text = "SELECT series, data FROM history_pieces WHERE series IN
                        (SELECT series FROM history_pieces WHERE piece = 0 AND series LIKE $1
                         ORDER BY series LIMIT 1000)
                    ORDER BY series, piece";
        let rows = sqlx::query(text).bind(format!("%{suffix}")).fetch_all(&self.pool).await?;
        // An underscore in a name stands for any letter there.
        let own = |(series, data): (String, Vec<u8>)| Some((series.strip_suffix(&suffix)?.to_owned(), data));
        Ok(joined(&rows)?.into_iter().filter_map(own).collect())
    }

    /// Forgets series that nobody has kept for long.
    pub(crate) async fn forget_series(&self, before: i64) -> Stored<()> {
        let text = "DELETE FROM history_pieces WHERE saved_at < $1";
        sqlx::query(text).bind(before).execute(&self.pool).await?;
        Ok(())
    }
}

/// Series put together from their pieces, which come in order.
fn joined(rows: &[AnyRow]) -> Stored<Vec<(String, Vec<u8>)>> {
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    for row in rows {
        let (series, data): (String, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
        match all.last_mut() {
            Some((last, whole)) if *last == series => whole.extend(data),
            _ => all.push((series, data)),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_series_comes_back_whole_however_long_it_was_before() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("kept.db").display().to_string()).await.unwrap();
        let bytes = |length: usize| -> Vec<u8> { (0..251).cycle().take(length).collect() };
        for (now, length) in [(1, 3 * PIECE + 1), (2, PIECE), (3, 2 * PIECE), (4, 0), (5, 7)] {
            store.save_series("node/app", &bytes(length), now).await.unwrap();
            store.save_series("node/apple", &bytes(2 * PIECE + 3), now).await.unwrap();
            let kept = store.series("node/", 10).await.unwrap();
            let expected =
                [("node/app".to_owned(), bytes(length)), ("node/apple".to_owned(), bytes(2 * PIECE + 3))];
            let expected: Vec<_> = expected.into_iter().filter(|(_, data)| !data.is_empty()).collect();
            assert_eq!(kept, expected, "{length}");
        }
        store.save_series("node/app", &bytes(PIECE + 5), 6).await.unwrap();
        assert_eq!(store.series("node/", 1).await.unwrap(), [("node/app".to_owned(), bytes(PIECE + 5))]);
        assert_eq!(store.series("other/", 10).await.unwrap(), []);
        store.save_series("a/demand/x_y", &bytes(PIECE + 9), 7).await.unwrap();
        store.save_series("b/demand/xzy", &bytes(9), 7).await.unwrap();
        let demand = store.demand_of("x_y").await.unwrap();
        assert_eq!(demand, [("a".to_owned(), bytes(PIECE + 9))]);
        store.forget_series(7).await.unwrap();
        assert_eq!(store.series("node/", 10).await.unwrap(), []);
        assert_eq!(store.demand_of("x_y").await.unwrap().len(), 1);
    }
}
