//! Password hashes: Argon2id with the parameters OWASP recommends (19 MiB, 2 passes, 1 lane).

use argon2::Argon2;
use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

/// The fewest characters of a password that a person chooses.
pub const MIN_CHARS: usize = 12;
/// Longer ones only cost time.
const MAX_BYTES: usize = 1024;

/// Each hash costs 19 MiB and a core for a moment; more than two at once would starve the pages.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// Whether a person may choose this password, else what is wrong with it.
pub fn check_choice(password: &SecretString) -> Result<(), String> {
    let password = password.expose_secret();
    match password.chars().count() {
        ..MIN_CHARS => Err(format!("A password has at least {MIN_CHARS} characters.")),
        _ if password.len() > MAX_BYTES => Err(format!("A password has at most {MAX_BYTES} bytes.")),
        _ => Ok(()),
    }
}

/// The hash of a new password, with its salt and parameters, as a PHC string.
pub async fn hash(password: SecretString) -> anyhow::Result<String> {
    blocking(move || {
        let salt = SaltString::generate(&mut OsRng);
        let hash = Argon2::default().hash_password(password.expose_secret().as_bytes(), &salt);
        Ok(hash.map_err(|error| anyhow::anyhow!("hashing a password: {error}"))?.to_string())
    })
    .await
}

/// Whether `password` is the one behind `hash`. Without a hash (nobody of that name) it takes as long and
/// is always wrong.
pub async fn verify(password: SecretString, hash: Option<String>) -> anyhow::Result<bool> {
    if password.expose_secret().len() > MAX_BYTES {
        return Ok(false);
    }
    blocking(move || {
        let somebody = hash.is_some();
        let hash = hash.unwrap_or_else(|| NOBODYS_HASH.to_owned());
        let parsed =
            PasswordHash::new(&hash).map_err(|error| anyhow::anyhow!("a stored password hash: {error}"))?;
        let right = Argon2::default().verify_password(password.expose_secret().as_bytes(), &parsed).is_ok();
        Ok(right && somebody)
    })
    .await
}

/// Whether somebody with this hash has a password at all.
pub fn is_had(hash: &str) -> bool {
    hash != NOBODYS_HASH
}

/// A hash under today’s parameters that no password is meant to have: of nobody, and of those whom others vouch for.
pub(super) const NOBODYS_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let _turn = AT_ONCE.acquire().await?;
    tokio::task::spawn_blocking(work).await?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_of_somebody_is_right() {
        let secret = || SecretString::from("correct horse battery");
        let stored = hash(secret()).await.expect("a hash");
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(verify(secret(), Some(stored.clone())).await.expect("an answer"));
        assert!(!verify(SecretString::from("wrong"), Some(stored)).await.expect("an answer"));
        assert!(!verify(secret(), None).await.expect("an answer"));
    }

    #[test]
    fn a_chosen_password_has_a_length() {
        assert!(check_choice(&SecretString::from("eleven char")).is_err());
        assert!(check_choice(&SecretString::from("twelve chars")).is_ok());
        assert!(check_choice(&SecretString::from("x".repeat(1025))).is_err());
    }
}
