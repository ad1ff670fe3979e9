//! Password hashes: Argon2id with the parameters OWASP recommends (19 MiB, 2 passes, 1 lane).

use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Algorithm, Argon2, Params};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;

/// The minimum length of a chosen password, in characters.
pub const MIN_CHARS: usize = 12;
/// The maximum length in bytes; longer passwords only cost time.
const MAX_BYTES: usize = 1024;

/// Each hash costs 19 MiB and a core for a moment; more than two at once would slow down pages.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// Common passwords.
const COMMON: &str = include_str!("common_passwords.txt");

/// The result of comparing a password with a stored hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordCheck {
    Wrong,
    Correct,
    /// Correct, and its hash is weaker than today's.
    NeedsRehash,
}

/// Whether the person called `username` may choose this password, or the problem with it.
pub fn check_choice(password: &SecretString, username: &str) -> Result<(), String> {
    let password = password.expose_secret();
    match password.chars().count() {
        ..MIN_CHARS => return Err(format!("A password has at least {MIN_CHARS} characters.")),
        _ if password.len() > MAX_BYTES => {
            return Err(format!("A password has at most {MAX_BYTES} bytes."));
        }
        _ => {}
    }
    if is_guessed_first(&password.to_lowercase(), &username.to_lowercase()) {
        return Err(
            "This password is too easy to guess. Choose another, such as a few unrelated words.".to_owned()
        );
    }
    Ok(())
}

/// Whether it is a common password, a repetition, or little more than the person's name.
fn is_guessed_first(password: &str, username: &str) -> bool {
    let is_common = COMMON.lines().any(|common| common == password);
    let bytes = password.as_bytes();
    let repeats = (1..=bytes.len() / 2).any(|piece| bytes.iter().zip(&bytes[piece..]).all(|(a, b)| a == b));
    let is_named = !username.is_empty() && password.replace(username, "").chars().count() < 6;
    is_common || repeats || is_named
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

/// Whether `password` matches `hash`. Without a hash (no user of that name) it takes the same time and
/// never matches.
pub async fn verify(password: SecretString, hash: Option<String>) -> anyhow::Result<PasswordCheck> {
    if password.expose_secret().len() > MAX_BYTES {
        return Ok(PasswordCheck::Wrong);
    }
    blocking(move || {
        let somebody = hash.is_some();
        let hash = hash.unwrap_or_else(|| NOBODYS_HASH.to_owned());
        let parsed =
            PasswordHash::new(&hash).map_err(|error| anyhow::anyhow!("a stored password hash: {error}"))?;
        let right = Argon2::default().verify_password(password.expose_secret().as_bytes(), &parsed).is_ok();
        Ok(match right && somebody {
            false => PasswordCheck::Wrong,
            true if is_weaker(&parsed) => PasswordCheck::NeedsRehash,
            true => PasswordCheck::Correct,
        })
    })
    .await
}

/// Whether a hash has weaker parameters than a new one.
fn is_weaker(hash: &PasswordHash) -> bool {
    let today = Params::default();
    Algorithm::try_from(hash.algorithm) != Ok(Algorithm::Argon2id)
        || Params::try_from(hash).map_or(true, |then| {
            then.m_cost() < today.m_cost() || then.t_cost() < today.t_cost() || then.p_cost() < today.p_cost()
        })
}

/// A hash with today's parameters that belongs to no known password.
const NOBODYS_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let turn = AT_ONCE.acquire().await?;
    // The caller may disconnect; the work continues and keeps its permit.
    let work = move || {
        let _turn = turn;
        tracing::trace!("hashing a password");
        work()
    };
    tokio::task::spawn_blocking(work).await?
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use argon2::Version;

    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text)
    }

    #[tokio::test]
    async fn only_the_right_password_of_somebody_is_right() {
        let right = || secret("correct horse battery");
        let stored = hash(right()).await.expect("a hash");
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_eq!(verify(right(), Some(stored.clone())).await.expect("an answer"), PasswordCheck::Correct);
        assert_eq!(verify(secret("wrong"), Some(stored)).await.expect("an answer"), PasswordCheck::Wrong);
        assert_eq!(verify(right(), None).await.expect("an answer"), PasswordCheck::Wrong);
    }

    #[tokio::test]
    async fn a_hash_of_weaker_parameters_is_told_from_todays() {
        for (algorithm, memory) in [(Algorithm::Argon2id, 8_192), (Algorithm::Argon2i, 19_456)] {
            let params = Params::new(memory, 2, 1, None).expect("parameters");
            let old = Argon2::new(algorithm, Version::V0x13, params);
            let salt = SaltString::generate(&mut OsRng);
            let stored = old.hash_password(b"correct horse battery", &salt).expect("a hash").to_string();
            let check = verify(secret("correct horse battery"), Some(stored)).await.expect("an answer");
            assert_eq!(check, PasswordCheck::NeedsRehash, "{algorithm:?}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn two_passwords_at_most_are_hashed_at_once() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let all = (0..8).map(|_| {
            let (now, most) = (now.clone(), most.clone());
            tokio::spawn(blocking(move || {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(20));
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            }))
        });
        for one in futures::future::join_all(all).await {
            one.expect("it ends").expect("it works");
        }
        assert!(most.load(Ordering::SeqCst) <= 2, "{most:?} at once");
    }

    #[test]
    fn a_chosen_password_has_a_length() {
        assert!(check_choice(&secret("eleven char"), "olga").is_err());
        assert!(check_choice(&secret("twelve chars"), "olga").is_ok());
        assert!(check_choice(&secret(&"ab".repeat(600)), "olga").is_err());
    }

    #[test]
    fn what_is_guessed_first_is_not_chosen() {
        for guessed in [
            "qwertyuiop123",
            "Password1234",
            "administrator",
            "aaaaaaaaaaaaa",
            "abcabcabcabca",
            "olgaolga12345",
        ] {
            assert!(check_choice(&secret(guessed), "olga").is_err(), "{guessed}");
        }
        assert!(check_choice(&secret("olgapetrova123"), "Olga Petrova").is_ok());
        assert!(check_choice(&secret("Olga Petrova 123"), "Olga Petrova").is_err());
        assert!(check_choice(&secret("a long sentence"), "").is_ok());
    }
}
