//! The tables, as a list of steps. A step that was released is never changed: a new one is added behind it.
//!
//! The texts mean the same to SQLite and to PostgreSQL. Truth is 0 or 1, time is milliseconds since 1970, and what has a
//! shape of its own is JSON in a text.

/// Each step may consist of several statements.
pub(super) const STEPS: &[&[&str]] = &[&[
    "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE users (
        name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT NOT NULL,
        must_change BIGINT NOT NULL, is_enabled BIGINT NOT NULL, generation BIGINT NOT NULL,
        created_at BIGINT NOT NULL, last_login_at BIGINT)",
    "CREATE TABLE sessions (
        id TEXT PRIMARY KEY, user_name TEXT NOT NULL, hash TEXT NOT NULL, previous_hash TEXT NOT NULL,
        rotated_at BIGINT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, ip TEXT NOT NULL)",
    "CREATE INDEX sessions_by_user ON sessions (user_name)",
    "CREATE TABLE tokens (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, role TEXT NOT NULL,
        created_by TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, last_used_at BIGINT)",
    "CREATE TABLE audit (
        id TEXT PRIMARY KEY, at BIGINT NOT NULL, actor TEXT NOT NULL, actor_kind TEXT NOT NULL, ip TEXT NOT NULL,
        action TEXT NOT NULL, target TEXT NOT NULL, before TEXT, after TEXT)",
    "CREATE INDEX audit_by_time ON audit (at)",
    "CREATE TABLE versions (
        number BIGINT PRIMARY KEY, at BIGINT NOT NULL, author TEXT NOT NULL, reason TEXT NOT NULL,
        kind TEXT NOT NULL, effective_at BIGINT, changes TEXT NOT NULL)",
    "CREATE TABLE emergencies (
        id TEXT PRIMARY KEY, cluster TEXT NOT NULL, cause TEXT NOT NULL, reason TEXT NOT NULL, actor TEXT NOT NULL,
        started_at BIGINT NOT NULL, until_at BIGINT NOT NULL, ended_at BIGINT, ended_by TEXT)",
    "CREATE UNIQUE INDEX emergencies_by_start ON emergencies (cluster, started_at)",
    "CREATE TABLE alert_rules (id TEXT PRIMARY KEY, rule TEXT NOT NULL)",
    "CREATE TABLE alerts (
        id TEXT PRIMARY KEY, rule TEXT NOT NULL, subject TEXT NOT NULL, severity TEXT NOT NULL, message TEXT NOT NULL,
        value DOUBLE PRECISION NOT NULL, raised_at BIGINT NOT NULL, seen_at BIGINT NOT NULL,
        acknowledged_at BIGINT, acknowledged_by TEXT, resolved_at BIGINT)",
    "CREATE UNIQUE INDEX alerts_open ON alerts (rule, subject) WHERE resolved_at IS NULL",
    "CREATE TABLE webhooks (
        id TEXT PRIMARY KEY, url TEXT NOT NULL, secret TEXT NOT NULL, is_enabled BIGINT NOT NULL,
        created_at BIGINT NOT NULL)",
    "CREATE TABLE history (series TEXT PRIMARY KEY, saved_at BIGINT NOT NULL, data BYTEA NOT NULL)",
    "CREATE TABLE nodes (node TEXT PRIMARY KEY, at BIGINT NOT NULL, report TEXT NOT NULL)",
], &[
    // Nodes that share a database close only what they see themselves.
    "ALTER TABLE alerts ADD COLUMN node TEXT NOT NULL DEFAULT ''",
], &[
    // Pieces of one size take memory of one size, however long a history gets.
    "CREATE TABLE history_pieces (
        series TEXT NOT NULL, piece BIGINT NOT NULL, saved_at BIGINT NOT NULL, data BYTEA NOT NULL,
        PRIMARY KEY (series, piece))",
    "INSERT INTO history_pieces (series, piece, saved_at, data) SELECT series, 0, saved_at, data FROM history",
    "DROP TABLE history",
], &[
    // A token that was made by a token had the name of that one for its maker. Where it is clear whose that was, it is theirs.
    "UPDATE tokens SET created_by = (
        SELECT MIN(maker.created_by) FROM tokens AS maker WHERE maker.name = tokens.created_by)
     WHERE created_by NOT IN (SELECT name FROM users) AND 1 = (
        SELECT COUNT(DISTINCT maker.created_by) FROM tokens AS maker WHERE maker.name = tokens.created_by)",
], &[
    // Whoever logs in while the password is replaced has seen an earlier generation of the account.
    "ALTER TABLE sessions ADD COLUMN generation BIGINT NOT NULL DEFAULT 0",
    "UPDATE sessions SET generation =
        COALESCE((SELECT users.generation FROM users WHERE users.name = sessions.user_name), 0)",
]];
