use super::{Store, Stored};
use sqlx::Row;

/// How long the last refresh token is still good after it was replaced: two tabs may use it at the same time.
const GRACE_MS: i64 = 10_000;

/// A browser that is logged in.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) user: String,
    /// Of which generation of the account. With another one it is worthless.
    pub(crate) generation: i64,
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

/// That a session has not expired, and that its account is as it was when it was opened.
macro_rules! good {
    ($now:literal) => {
        concat!(
            "expires_at > ",
            $now,
            " AND generation = (SELECT users.generation FROM users WHERE users.name = sessions.user_name)"
        )
    };
}

impl Store {
    pub(crate) async fn add_session(&self, session: &SessionRow) -> Stored<()> {
        let text = "INSERT INTO sessions (id, user_name, hash, previous_hash, rotated_at, created_at, expires_at, ip, generation)
                    VALUES ($1, $2, $3, '', $4, $4, $5, $6, $7)";
        sqlx::query(text)
            .bind(&session.id)
            .bind(&session.user)
            .bind(&session.hash)
            .bind(session.created_at)
            .bind(session.expires_at)
            .bind(&session.ip)
            .bind(session.generation)
            .execute(&self.pool)
            .await?;
        let gone = sqlx::query("DELETE FROM sessions WHERE expires_at < $1").bind(session.created_at);
        gone.execute(&self.pool).await?;
        Ok(())
    }

    /// Replaces a refresh token by a new one.
    pub(crate) async fn rotate(&self, id: &str, old: &str, new: &str, now: i64) -> Stored<Rotation> {
        let text = concat!(
            "UPDATE sessions SET hash = $3, previous_hash = $2, rotated_at = $4 WHERE id = $1 AND hash = $2 AND ",
            good!("$4")
        );
        let done = sqlx::query(text).bind(id).bind(old).bind(new).bind(now).execute(&self.pool).await?;
        let row = sqlx::query(concat!(
            "SELECT user_name, previous_hash, rotated_at FROM sessions WHERE id = $1 AND ",
            good!("$2")
        ))
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

    /// Whether a session is still good.
    pub(crate) async fn has_session(&self, id: &str, now: i64) -> Stored<bool> {
        let text = concat!("SELECT id FROM sessions WHERE id = $1 AND ", good!("$2"));
        Ok(sqlx::query(text).bind(id).bind(now).fetch_optional(&self.pool).await?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::UserRow;

    #[tokio::test]
    async fn whoever_logs_in_while_the_password_is_replaced_has_no_session() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("admin.db").to_str().unwrap()).await.unwrap();
        let ann = UserRow::viewer("ann");
        store.add_user(&ann).await.unwrap();
        let session = |id: &str, user: &UserRow| SessionRow {
            id: id.into(),
            user: user.name.clone(),
            generation: user.generation,
            hash: "first".into(),
            created_at: 5,
            expires_at: 100,
            ip: String::new(),
        };
        // The password was right when it was looked at; until that was worked out it was replaced.
        store.set_password("ann", "new", true).await.unwrap();
        store.revoke_sessions("ann").await.unwrap();
        store.add_session(&session("late", &ann)).await.unwrap();
        assert!(!store.has_session("late", 6).await.unwrap());
        assert_eq!(store.rotate("late", "first", "second", 6).await.unwrap(), Rotation::Unknown);
        assert!(!store.change_password(&ann, "old again").await.unwrap(), "nor is the new one undone");
        let now = store.user("ann").await.unwrap().unwrap();
        assert_eq!(now.password, "new");
        store.add_session(&session("good", &now)).await.unwrap();
        let rotated = store.rotate("good", "first", "second", 6).await.unwrap();
        assert_eq!(rotated, Rotation::Rotated { user: "ann".into() });
        assert!(store.change_password(&now, "newest").await.unwrap());
        assert!(!store.has_session("good", 6).await.unwrap());
    }
}
