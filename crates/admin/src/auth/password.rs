//! Passwords, hashed with argon2id away from the threads that serve requests.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use std::sync::LazyLock;
use tokio::sync::Semaphore;

/// The shortest password that somebody may choose.
pub(crate) const MIN_LENGTH: usize = 12;

/// The longest: hashing it must not become work by itself.
pub(crate) const MAX_LENGTH: usize = 256;

/// How many are hashed at a time: each takes 19 MiB for some tens of milliseconds.
static AT_A_TIME: Semaphore = Semaphore::const_new(4);

/// The hash of a password that nobody knows: whoever logs in under a name that does not exist waits as long as others.
static NOBODYS: LazyLock<Option<String>> =
    LazyLock::new(|| crate::secret::token().ok().and_then(|secret| hash_now(&secret)));

/// The hash of a password, with its salt and parameters; none if the system has no randomness to give.
pub(crate) async fn hash(password: String) -> Option<String> {
    let _turn = AT_A_TIME.acquire().await;
    tokio::task::spawn_blocking(move || hash_now(&password)).await.ok().flatten()
}

/// Whether the password is the one that was hashed. Without a hash the answer is no, and takes as long.
pub(crate) async fn verify(password: String, hash: Option<String>) -> bool {
    let _turn = AT_A_TIME.acquire().await;
    let verified = tokio::task::spawn_blocking(move || {
        let is_known = hash.is_some();
        let hash = hash.or_else(|| NOBODYS.clone()).unwrap_or_default();
        verify_now(&password, &hash) && is_known
    });
    verified.await.unwrap_or(false)
}

fn hash_now(password: &str) -> Option<String> {
    Argon2::default().hash_password(password.as_bytes()).ok().map(|hash| hash.to_string())
}

fn verify_now(password: &str, hash: &str) -> bool {
    let Ok(hash) = PasswordHash::new(hash) else { return false };
    Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_same_password_is_right() {
        let hash = hash("correct horse".into()).await.unwrap();
        assert!(hash.starts_with("$argon2id$"), "{hash}");
        assert!(verify("correct horse".into(), Some(hash.clone())).await);
        assert!(!verify("correct house".into(), Some(hash)).await);
        assert!(!verify("correct horse".into(), None).await);
        assert!(!verify(String::new(), Some("nonsense".into())).await);
    }
}
