//! Accounts as the command line and the first start make them.

use super::{Role, password};
use crate::clock;
use crate::secret;
use crate::store::{NewAudit, Store, StoreError, Stored, UserRow};
use serde_json::{Value, json};

/// The account that the first start makes.
pub const FIRST_USER: &str = "admin";

/// The accounts of a control plane, for the command line.
#[derive(Debug)]
pub struct Accounts {
    store: Store,
}

/// An account, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Whether it can be used.
    pub is_enabled: bool,
    /// Whether its password has to be changed before anything else.
    pub must_change: bool,
    /// When it was last used to log in, in milliseconds since 1970.
    pub last_login_at: Option<i64>,
}

impl Accounts {
    /// Opens the database at a URL or path.
    pub async fn open(database: &str) -> Result<Self, StoreError> {
        Store::open(database).await.map(|store| Self { store })
    }

    /// All accounts, by name.
    pub async fn list(&self) -> Result<Vec<Account>, StoreError> {
        let users = self.store.users().await?;
        let account = |user: UserRow| {
            Some(Account {
                role: Role::parse(&user.role)?,
                name: user.name,
                is_enabled: user.is_enabled,
                must_change: user.must_change,
                last_login_at: user.last_login_at,
            })
        };
        Ok(users.into_iter().filter_map(account).collect())
    }

    /// Makes an account with a random password, which is returned and has to be changed; none if the name is taken or is
    /// not a name.
    pub async fn add(&self, name: &str, role: Role) -> Result<Option<String>, StoreError> {
        if !is_name(name) {
            return Ok(None);
        }
        let made = add_with_random_password(&self.store, name, role).await?;
        if made.is_some() {
            self.note("user.create", name, Some(&json!({"role": role}))).await?;
        }
        Ok(made)
    }

    /// Gives an account a random password, which is returned and has to be changed. Its sessions are over, and it can be
    /// used again if it could not. None if there is no such account.
    pub async fn reset_password(&self, name: &str) -> Result<Option<String>, StoreError> {
        let Some(user) = self.store.user(name).await? else { return Ok(None) };
        let password = secret::password()?;
        self.store.set_password(name, &hashed(&password).await?, true).await?;
        self.store.set_role(&user, &user.role, true).await?;
        self.store.revoke_sessions(name).await?;
        self.note("user.password", name, None).await?;
        Ok(Some(password))
    }

    /// Changes what an account may do; false if there is no such account, or if it was changed at the same time.
    pub async fn set_role(&self, name: &str, role: Role) -> Result<bool, StoreError> {
        let Some(user) = self.store.user(name).await? else { return Ok(false) };
        let is_done = self.store.set_role(&user, role.name(), user.is_enabled).await?;
        if is_done {
            self.note("user.update", name, Some(&json!({"role": role}))).await?;
        }
        Ok(is_done)
    }

    /// Removes an account and the tokens that it made; false if there is none.
    pub async fn remove(&self, name: &str) -> Result<bool, StoreError> {
        self.store.revoke_sessions(name).await?;
        self.store.delete_tokens_of(name).await?;
        let is_done = self.store.delete_user(name).await?;
        if is_done {
            self.note("user.delete", name, None).await?;
        }
        Ok(is_done)
    }

    /// Writes down what was done: nobody logged in for it, but whoever did it could open the database.
    async fn note(&self, action: &str, name: &str, after: Option<&Value>) -> Stored<()> {
        let entry = NewAudit {
            actor: "command line".into(),
            actor_kind: "system".into(),
            ip: "local".into(),
            action: action.into(),
            target: name.into(),
            before: None,
            after: after.map(ToString::to_string),
        };
        self.store.add_audit(&entry, clock::wall()).await
    }

    /// Closes the database.
    pub async fn close(self) {
        self.store.close().await;
    }
}

/// Whether a text can name an account.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'@'))
}

/// Makes the first account if there is none; returns its password.
pub(crate) async fn first_run(store: &Store) -> Stored<Option<String>> {
    if !store.users().await?.is_empty() {
        return Ok(None);
    }
    add_with_random_password(store, FIRST_USER, Role::Admin).await
}

async fn add_with_random_password(store: &Store, name: &str, role: Role) -> Stored<Option<String>> {
    let password = secret::password()?;
    let user = UserRow {
        name: name.into(),
        role: role.name().into(),
        password: hashed(&password).await?,
        must_change: true,
        is_enabled: true,
        generation: 1,
        created_at: clock::wall(),
        last_login_at: None,
    };
    Ok(store.add_user(&user).await?.then_some(password))
}

async fn hashed(password: &str) -> Stored<String> {
    let hash = password::hash(password.to_owned()).await;
    hash.ok_or_else(|| StoreError::from(secret::NoRandomness))
}
