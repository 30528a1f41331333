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

    /// Replaces the password of somebody who has proved to know it, and every session of theirs is over; false, and nothing
    /// happens, if the account has changed since.
    pub(crate) async fn change_password(&self, before: &UserRow, password: &str) -> Stored<bool> {
        let text = "UPDATE users SET password = $2, must_change = 0, generation = generation + 1
                    WHERE name = $1 AND generation = $3 AND created_at = $4";
        let done = sqlx::query(text)
            .bind(&before.name)
            .bind(password)
            .bind(before.generation)
            .bind(before.created_at)
            .execute(&self.pool)
            .await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        let text = "DELETE FROM sessions WHERE user_name = $1 AND generation <= $2";
        sqlx::query(text).bind(&before.name).bind(before.generation).execute(&self.pool).await?;
        Ok(true)
    }

    /// Changes what a user may do, and every session of theirs is over; false, and nothing happens, if they are not any
    /// more who and what they were.
    pub(crate) async fn set_role(&self, before: &UserRow, role: &str, is_enabled: bool) -> Stored<bool> {
        let text = "UPDATE users SET role = $2, is_enabled = $3, generation = generation + 1
                    WHERE name = $1 AND role = $4 AND is_enabled = $5 AND created_at = $6";
        let done = sqlx::query(text)
            .bind(&before.name)
            .bind(role)
            .bind(i64::from(is_enabled))
            .bind(&before.role)
            .bind(i64::from(before.is_enabled))
            .bind(before.created_at)
            .execute(&self.pool)
            .await?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        let text = "DELETE FROM sessions WHERE user_name = $1";
        sqlx::query(text).bind(&before.name).execute(&self.pool).await?;
        Ok(true)
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

#[cfg(test)]
impl UserRow {
    /// An account for tests.
    pub(super) fn viewer(name: &str) -> Self {
        Self {
            name: name.into(),
            role: "viewer".into(),
            password: String::new(),
            must_change: false,
            is_enabled: true,
            generation: 1,
            created_at: 5,
            last_login_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_saw_an_account_as_it_was_does_not_change_it_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("admin.db").to_str().unwrap()).await.unwrap();
        let ann = UserRow::viewer("ann");
        store.add_user(&ann).await.unwrap();
        assert!(store.set_role(&ann, "operator", true).await.unwrap());
        assert!(!store.set_role(&ann, "viewer", false).await.unwrap(), "she is an operator by now");
        let now = store.user("ann").await.unwrap().unwrap();
        assert_eq!((now.role.as_str(), now.is_enabled, now.generation), ("operator", true, 2));
        let namesake = UserRow { created_at: 4, ..now };
        assert!(!store.set_role(&namesake, "admin", true).await.unwrap(), "she is somebody else");
    }
}
