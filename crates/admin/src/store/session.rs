use super::{Store, Stored};
use sqlx::Row;

/// How long the last refresh token is still good after it was replaced: two tabs may use it at the same time.
const GRACE_MS: i64 = 10_000;

/// A browser that is logged in.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) user: String,
    /// What is kept of its refresh token.
    pub(crate) hash: String,
    pub(crate) created_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) ip: String,
}

/// What became of a refresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rotation {
    /// It was replaced by the new one.
    Rotated {
        /// Whose it is.
        user: String,
    },
    /// It had just been replaced: the session goes on, and so does the token that replaced it.
    JustRotated {
        /// Whose it is.
        user: String,
    },
    /// It was replaced some time ago, so somebody else has used it: the session is over.
    Reused {
        /// Whose it was.
        user: String,
    },
    /// There is no such session.
    Unknown,
}

impl Store {
    pub(crate) async fn add_session(&self, session: &SessionRow) -> Stored<()> {
        let text = "INSERT INTO sessions (id, user_name, hash, previous_hash, rotated_at, created_at, expires_at, ip)
                    VALUES ($1, $2, $3, '', $4, $4, $5, $6)";
        sqlx::query(text)
            .bind(&session.id)
            .bind(&session.user)
            .bind(&session.hash)
            .bind(session.created_at)
            .bind(session.expires_at)
            .bind(&session.ip)
            .execute(&self.pool)
            .await?;
        let gone = sqlx::query("DELETE FROM sessions WHERE expires_at < $1").bind(session.created_at);
        gone.execute(&self.pool).await?;
        Ok(())
    }

    /// Replaces a refresh token by a new one.
    pub(crate) async fn rotate(&self, id: &str, old: &str, new: &str, now: i64) -> Stored<Rotation> {
        let text = "UPDATE sessions SET hash = $3, previous_hash = $2, rotated_at = $4
                    WHERE id = $1 AND hash = $2 AND expires_at > $4";
        let done = sqlx::query(text).bind(id).bind(old).bind(new).bind(now).execute(&self.pool).await?;
        let row = sqlx::query(
            "SELECT user_name, previous_hash, rotated_at FROM sessions WHERE id = $1 AND expires_at > $2",
        )
        .bind(id)
        .bind(now)
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(Rotation::Unknown) };
        let user: String = row.try_get(0)?;
        if done.rows_affected() > 0 {
            return Ok(Rotation::Rotated { user });
        }
        let (previous, rotated_at): (String, i64) = (row.try_get(1)?, row.try_get(2)?);
        if crate::secret::same(&previous, old) && now - rotated_at <= GRACE_MS {
            return Ok(Rotation::JustRotated { user });
        }
        self.end_session(id).await?;
        Ok(Rotation::Reused { user })
    }

    pub(crate) async fn end_session(&self, id: &str) -> Stored<()> {
        sqlx::query("DELETE FROM sessions WHERE id = $1").bind(id).execute(&self.pool).await?;
        Ok(())
    }

    /// Whether a session is still there.
    pub(crate) async fn has_session(&self, id: &str, now: i64) -> Stored<bool> {
        let text = "SELECT id FROM sessions WHERE id = $1 AND expires_at > $2";
        Ok(sqlx::query(text).bind(id).bind(now).fetch_optional(&self.pool).await?.is_some())
    }
}
