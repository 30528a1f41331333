use super::{Store, Stored};
use sqlx::Row;
use sqlx::any::AnyRow;

/// An account.
#[derive(Clone, Debug)]
pub(crate) struct UserRow {
    pub(crate) name: String,
    pub(crate) role: String,
    /// The hash, with its salt and parameters.
    pub(crate) password: String,
    pub(crate) must_change: bool,
    pub(crate) is_enabled: bool,
    /// Raised by whatever makes earlier sessions worthless.
    pub(crate) generation: i64,
    pub(crate) created_at: i64,
    pub(crate) last_login_at: Option<i64>,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT name, role, password, must_change, is_enabled, generation, created_at, last_login_at FROM users ",
            $rest
        )
    };
}

impl UserRow {
    fn read(row: &AnyRow) -> Stored<Self> {
        Ok(Self {
            name: row.try_get(0)?,
            role: row.try_get(1)?,
            password: row.try_get(2)?,
            must_change: row.try_get::<i64, _>(3)? != 0,
            is_enabled: row.try_get::<i64, _>(4)? != 0,
            generation: row.try_get(5)?,
            created_at: row.try_get(6)?,
            last_login_at: row.try_get(7)?,
        })
    }
}

impl Store {
    /// Adds an account; false if the name is taken.
    pub(crate) async fn add_user(&self, user: &UserRow) -> Stored<bool> {
        let text = "INSERT INTO users (name, role, password, must_change, is_enabled, generation, created_at)
                    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO NOTHING";
        let done = sqlx::query(text)
            .bind(&user.name)
            .bind(&user.role)
            .bind(&user.password)
            .bind(i64::from(user.must_change))
            .bind(i64::from(user.is_enabled))
            .bind(user.generation)
            .bind(user.created_at)
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() > 0)
    }

    pub(crate) async fn user(&self, name: &str) -> Stored<Option<UserRow>> {
        let row = sqlx::query(select!("WHERE name = $1")).bind(name).fetch_optional(&self.pool).await?;
        row.as_ref().map(UserRow::read).transpose()
    }

    pub(crate) async fn users(&self) -> Stored<Vec<UserRow>> {
        let rows = sqlx::query(select!("ORDER BY name")).fetch_all(&self.pool).await?;
        rows.iter().map(UserRow::read).collect()
    }

    pub(crate) async fn set_password(&self, name: &str, password: &str, must_change: bool) -> Stored<bool> {
        let text =
            "UPDATE users SET password = $2, must_change = $3, generation = generation + 1 WHERE name = $1";
        let done = sqlx::query(text).bind(name).bind(password).bind(i64::from(must_change));
        Ok(done.execute(&self.pool).await?.rows_affected() > 0)
    }

    /// Changes what a user may do; every session of theirs is over.
    pub(crate) async fn set_role(&self, name: &str, role: &str, is_enabled: bool) -> Stored<bool> {
        let text = "UPDATE users SET role = $2, is_enabled = $3, generation = generation + 1 WHERE name = $1";
        let done = sqlx::query(text).bind(name).bind(role).bind(i64::from(is_enabled));
        let is_known = done.execute(&self.pool).await?.rows_affected() > 0;
        sqlx::query("DELETE FROM sessions WHERE user_name = $1").bind(name).execute(&self.pool).await?;
        Ok(is_known)
    }

    pub(crate) async fn saw_login(&self, name: &str, at: i64) -> Stored<()> {
        let text = "UPDATE users SET last_login_at = $2 WHERE name = $1";
        sqlx::query(text).bind(name).bind(at).execute(&self.pool).await?;
        Ok(())
    }

    pub(crate) async fn delete_user(&self, name: &str) -> Stored<bool> {
        let done = sqlx::query("DELETE FROM users WHERE name = $1").bind(name).execute(&self.pool).await?;
        Ok(done.rows_affected() > 0)
    }

    /// Makes every session of a user worthless.
    pub(crate) async fn revoke_sessions(&self, name: &str) -> Stored<()> {
        sqlx::query("DELETE FROM sessions WHERE user_name = $1").bind(name).execute(&self.pool).await?;
        let text = "UPDATE users SET generation = generation + 1 WHERE name = $1";
        sqlx::query(text).bind(name).execute(&self.pool).await?;
        Ok(())
    }
}
