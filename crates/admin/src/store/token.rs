use super::{Store, Stored};
use sqlx::Row;
use sqlx::any::AnyRow;

/// A token for a machine.
#[derive(Clone, Debug)]
pub(crate) struct TokenRow {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What is kept of its secret.
    pub(crate) hash: String,
    pub(crate) role: String,
    pub(crate) created_by: String,
    pub(crate) created_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) last_used_at: Option<i64>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, hash, role, created_by, created_at, expires_at, last_used_at FROM tokens ",
            $rest
        )
    };
}

impl TokenRow {
    fn read(row: &AnyRow) -> Stored<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            hash: row.try_get(2)?,
            role: row.try_get(3)?,
            created_by: row.try_get(4)?,
            created_at: row.try_get(5)?,
            expires_at: row.try_get(6)?,
            last_used_at: row.try_get(7)?,
        })
    }
}

impl Store {
    pub(crate) async fn add_token(&self, token: &TokenRow) -> Stored<()> {
        let text = "INSERT INTO tokens (id, name, hash, role, created_by, created_at, expires_at)
                    VALUES ($1, $2, $3, $4, $5, $6, $7)";
        sqlx::query(text)
            .bind(&token.id)
            .bind(&token.name)
            .bind(&token.hash)
            .bind(&token.role)
            .bind(&token.created_by)
            .bind(token.created_at)
            .bind(token.expires_at)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    pub(crate) async fn token(&self, id: &str) -> Stored<Option<TokenRow>> {
        let row = sqlx::query(select!("WHERE id = $1")).bind(id).fetch_optional(&self.pool).await?;
        row.as_ref().map(TokenRow::read).transpose()
    }

    pub(crate) async fn tokens(&self) -> Stored<Vec<TokenRow>> {
        let rows = sqlx::query(select!("ORDER BY id")).fetch_all(&self.pool).await?;
        rows.iter().map(TokenRow::read).collect()
    }

    /// Notes that a token was used, to the minute: not every request is worth a write.
    pub(crate) async fn saw_token(&self, id: &str, now: i64) -> Stored<()> {
        let text = "UPDATE tokens SET last_used_at = $2
                    WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2 - 60000)";
        sqlx::query(text).bind(id).bind(now).execute(&self.pool).await?;
        Ok(())
    }

    /// Revokes what somebody made who is gone; returns how many there were.
    pub(crate) async fn delete_tokens_of(&self, maker: &str) -> Stored<u64> {
        let done =
            sqlx::query("DELETE FROM tokens WHERE created_by = $1").bind(maker).execute(&self.pool).await?;
        Ok(done.rows_affected())
    }

    pub(crate) async fn delete_token(&self, id: &str) -> Stored<bool> {
        let done = sqlx::query("DELETE FROM tokens WHERE id = $1").bind(id).execute(&self.pool).await?;
        Ok(done.rows_affected() > 0)
    }
}
