//! What the control plane remembers: one code path over SQLite and PostgreSQL.

mod alert;
mod audit;
mod emergency;
mod history;
mod node;
mod page;
mod schema;
mod session;
mod token;
mod user;
mod version;
mod webhook;

pub(crate) use alert::AlertRow;
pub(crate) use audit::{AuditFilter, AuditRow, NewAudit};
pub(crate) use emergency::{EmergencyFilter, EmergencyRow};
pub(crate) use page::{Order, Page, Slice};
pub(crate) use session::{Rotation, SessionRow};
pub(crate) use token::TokenRow;
pub(crate) use user::UserRow;
pub(crate) use version::{NewVersion, VersionFilter, VersionRow};
pub(crate) use webhook::WebhookRow;

use sqlx::any::AnyPoolOptions;
use sqlx::{AnyPool, AssertSqlSafe, Executor, Row};
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// How long a caller waits for a connection to the database.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait for a sign of life: less than probes wait for ours, which is a second unless they were told otherwise.
const PING_PATIENCE: Duration = Duration::from_millis(300);

/// The database of the control plane.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pool: AnyPool,
}

/// The database did not do what it was asked to.
#[derive(Debug)]
pub struct StoreError(String);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the database failed: {}", self.0)
    }
}

impl std::error::Error for StoreError {}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<crate::secret::NoRandomness> for StoreError {
    fn from(error: crate::secret::NoRandomness) -> Self {
        Self(error.to_string())
    }
}

pub(crate) type Stored<T> = Result<T, StoreError>;

impl Store {
    /// Opens the database at a URL (`postgres://...`, `sqlite:...`) or path (of an SQLite file, made if it is not
    /// there), and brings its tables up to date.
    pub(crate) async fn open(place: &str) -> Stored<Self> {
        sqlx::any::install_default_drivers();
        let url = url_of(place)?;
        let is_sqlite = url.starts_with("sqlite:");
        let options = AnyPoolOptions::new().acquire_timeout(PATIENCE);
        let options = if is_sqlite { one_of_sqlite(options) } else { options.max_connections(8) };
        let pool = options.connect(&url).await?;
        let store = Self { pool };
        store.migrate(is_sqlite).await?;
        Ok(store)
    }

    /// Whether the database answers soon: whoever asks how the node is must not have to wait for a slow disk.
    pub(crate) async fn ping(&self) -> Stored<()> {
        let answer = sqlx::query("SELECT 1").execute(&self.pool);
        let answer = tokio::time::timeout(PING_PATIENCE, answer).await;
        answer.map_err(|_| StoreError("it does not answer".into()))??;
        Ok(())
    }

    /// Waits until everything is written, and closes the connections.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    /// A text that is kept under a name; the first one to be kept under that name stays.
    pub(crate) async fn setting(
        &self,
        key: &str,
        initial: impl FnOnce() -> Stored<String>,
    ) -> Stored<String> {
        if let Some(value) = self.read_setting(key).await? {
            return Ok(value);
        }
        sqlx::query("INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING")
            .bind(key)
            .bind(initial()?)
            .execute(&self.pool)
            .await?;
        let value = self.read_setting(key).await?;
        value.ok_or_else(|| StoreError(format!("the setting {key} was not kept")))
    }

    async fn read_setting(&self, key: &str) -> Stored<Option<String>> {
        let row = sqlx::query("SELECT value FROM settings WHERE key = $1").bind(key);
        let row = row.fetch_optional(&self.pool).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Takes the steps that the database has not taken yet, all of them or none.
    async fn migrate(&self, is_sqlite: bool) -> Stored<()> {
        let mut transaction = self.pool.begin().await?;
        if !is_sqlite {
            // Two processes that start at the same time take the steps one after the other.
            transaction.execute("SELECT pg_advisory_xact_lock(7084533)").await?;
        }
        transaction.execute("CREATE TABLE IF NOT EXISTS schema_steps (step BIGINT PRIMARY KEY)").await?;
        let row = transaction.fetch_one("SELECT COUNT(*) FROM schema_steps").await?;
        let taken: i64 = row.try_get(0)?;
        let taken = usize::try_from(taken).unwrap_or_default();
        if taken > schema::STEPS.len() {
            return Err(StoreError(format!("it was written by a later version, at step {taken}")));
        }
        for (index, statements) in schema::STEPS.iter().enumerate().skip(taken) {
            for statement in *statements {
                transaction.execute(*statement).await?;
            }
            let step = AssertSqlSafe(format!("INSERT INTO schema_steps (step) VALUES ({})", index + 1));
            transaction.execute(step).await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}

/// Only one at a time may write to SQLite: whoever waits for the one connection waits in line instead of being turned away. It stays
/// open, since it takes a thread and its memory to open another, and nothing is held elsewhere that could become stale.
fn one_of_sqlite(options: AnyPoolOptions) -> AnyPoolOptions {
    let options = options.max_connections(1).idle_timeout(None).max_lifetime(None);
    options.after_connect(|connection, _| {
        Box::pin(async {
            connection.execute("PRAGMA journal_mode = WAL").await?;
            connection.execute("PRAGMA synchronous = NORMAL").await?;
            connection.execute("PRAGMA cache_size = -256").await?;
            Ok(())
        })
    })
}

/// The URL of a place. A path is an SQLite file.
fn url_of(place: &str) -> Stored<String> {
    if place.starts_with("postgres://") || place.starts_with("postgresql://") || place.starts_with("sqlite:")
    {
        return Ok(place.to_owned());
    }
    if place.contains("://") {
        return Err(StoreError(format!(
            "{} is no database, expected postgres://..., sqlite:... or a path",
            scheme(place)
        )));
    }
    if let Some(folder) = Path::new(place).parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|error| StoreError(format!("cannot make {}: {error}", folder.display())))?;
    }
    Ok(format!("sqlite://{place}?mode=rwc"))
}

/// A URL may hold a password: only its first part is shown.
fn scheme(url: &str) -> &str {
    url.split("://").next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_database_that_is_busy_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("busy.db").display().to_string()).await.unwrap();
        store.ping().await.unwrap();
        let busy = store.pool.acquire().await.unwrap();
        let answer = tokio::time::timeout(PATIENCE, store.ping()).await.unwrap();
        assert_eq!(answer.unwrap_err().to_string(), StoreError("it does not answer".into()).to_string());
        drop(busy);
        store.ping().await.unwrap();
    }

    #[tokio::test]
    async fn what_an_earlier_version_kept_is_still_there() {
        sqlx::any::install_default_drivers();
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("old.db").display().to_string();
        let old = AnyPoolOptions::new().connect(&url_of(&place).unwrap()).await.unwrap();
        old.execute("CREATE TABLE schema_steps (step BIGINT PRIMARY KEY)").await.unwrap();
        for (step, statements) in schema::STEPS[..2].iter().enumerate() {
            for statement in *statements {
                old.execute(*statement).await.unwrap();
            }
            let taken = AssertSqlSafe(format!("INSERT INTO schema_steps (step) VALUES ({})", step + 1));
            old.execute(taken).await.unwrap();
        }
        old.execute("INSERT INTO history (series, saved_at, data) VALUES ('node/a', 5, x'010203')")
            .await
            .unwrap();
        old.close().await;
        let store = Store::open(&place).await.unwrap();
        assert_eq!(store.series("node/", 10).await.unwrap(), [("node/a".to_owned(), vec![1, 2, 3])]);
    }

    #[tokio::test]
    async fn a_token_that_was_made_by_a_token_belongs_to_whoever_had_that_one_made() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("old.db").display().to_string()).await.unwrap();
        let users = ["ann", "bob"]
            .map(|name| format!("INSERT INTO users VALUES ('{name}', 'admin', '', 0, 1, 1, 0, NULL)"));
        let made =
            [("deploy", "ann"), ("ci", "deploy"), ("twice", "ann"), ("twice", "bob"), ("whose", "twice")];
        let tokens = made.iter().enumerate().map(|(id, (name, maker))| {
            format!("INSERT INTO tokens VALUES ('{id}', '{name}', '', 'admin', '{maker}', 1, 2, NULL)")
        });
        for statement in users.into_iter().chain(tokens) {
            store.pool.execute(AssertSqlSafe(statement)).await.unwrap();
        }
        for statement in schema::STEPS[3] {
            store.pool.execute(*statement).await.unwrap();
        }
        let makers: Vec<String> =
            store.tokens().await.unwrap().into_iter().map(|token| token.created_by).collect();
        assert_eq!(makers, ["ann", "ann", "ann", "bob", "twice"]);
    }

    #[tokio::test]
    async fn every_connection_to_sqlite_is_set_up_alike() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("again.db").display().to_string()).await.unwrap();
        for _ in 0..2 {
            let mut connection = store.pool.acquire().await.unwrap();
            let row = connection.fetch_one("PRAGMA synchronous").await.unwrap();
            assert_eq!(row.get::<i64, _>(0), 1, "NORMAL");
            connection.close().await.unwrap();
        }
    }
}
