//! Password hashes: Argon2id with the parameters OWASP recommends (19 MiB, 2 passes, 1 lane). `hashing` schedules them.

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{self, Output, ParamsString, PasswordHash, Salt, SaltString};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use super::hashing::{Busy, Hashing, Memory, Requester};
use model::ParseError;

/// The minimum length of a chosen password, in characters.
pub const MIN_CHARS: usize = 12;
/// The maximum length in bytes; longer passwords only cost time.
const MAX_BYTES: usize = 1024;

/// Common passwords.
const COMMON: &str = include_str!("common_passwords.txt");

/// The result of comparing a password with a stored hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordCheck {
    Wrong,
    Correct,
    /// Correct, with weaker parameters than those of a new hash.
    NeedsRehash,
}

/// Checks whether the person called `username` may choose this password. Fails with the problem.
pub fn check_choice(password: &SecretString, username: &str) -> Result<(), ParseError> {
    let password = password.expose_secret();
    match password.chars().count() {
        ..MIN_CHARS => return Err(format!("A password has at least {MIN_CHARS} characters.").into()),
        _ if password.len() > MAX_BYTES => {
            return Err(format!("A password has at most {MAX_BYTES} bytes.").into());
        }
        _ => {}
    }
    if is_guessed_first(&password.to_lowercase(), &username.to_lowercase()) {
        return Err(
            "This password is too easy to guess. Choose another, such as a few unrelated words.".into()
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

/// The reason why a password could not be hashed.
#[derive(Debug, Error)]
pub enum PasswordError {
    #[error("too many passwords wait to be checked")]
    Busy,
    #[error("hashing a password: {0}")]
    Hash(#[from] password_hash::Error),
}

impl From<Busy> for PasswordError {
    fn from(Busy: Busy) -> Self {
        Self::Busy
    }
}

/// Hashes and checks passwords in the queue. Clones share their state.
#[derive(Clone)]
pub struct Passwords(Arc<Hashing>);

impl Passwords {
    /// `patience`: how long a password waits for others.
    pub fn new(patience: Duration) -> Self {
        Self(Arc::new(Hashing::new(patience)))
    }

    /// Like [`hash`], in the queue.
    pub async fn hash(&self, password: SecretString, requester: Requester) -> Result<String, PasswordError> {
        self.0.run(requester, move |memory| hashed(&password, memory)).await?
    }

    /// Whether `password` matches `hash`. Without a hash (no user of that name) it takes the same time and never
    /// matches.
    pub async fn verify(
        &self,
        password: SecretString,
        hash: Option<String>,
        requester: Requester,
    ) -> Result<PasswordCheck, PasswordError> {
        if password.expose_secret().len() > MAX_BYTES {
            return Ok(PasswordCheck::Wrong);
        }
        self.0.run(requester, move |memory| checked(&password, hash.as_deref(), memory)).await?
    }
}

/// The hash of a new password, with its salt and parameters, as a PHC string. For the command line: without a queue.
pub async fn hash(password: SecretString) -> anyhow::Result<String> {
    Ok(tokio::task::spawn_blocking(move || hashed(&password, &mut Memory::default())).await??)
}

fn hashed(password: &SecretString, memory: &mut Memory) -> Result<String, PasswordError> {
    let salt = SaltString::generate(&mut OsRng);
    let argon2 = Argon2::default();
    let hash = PasswordHash {
        algorithm: Algorithm::default().ident(),
        version: Some(Version::default().into()),
        params: ParamsString::try_from(argon2.params())?,
        salt: Some(salt.as_salt()),
        hash: Some(output(&argon2, password, salt.as_salt(), Params::DEFAULT_OUTPUT_LEN, memory)?),
    };
    Ok(hash.to_string())
}

fn checked(
    password: &SecretString,
    hash: Option<&str>,
    memory: &mut Memory,
) -> Result<PasswordCheck, PasswordError> {
    let parsed = PasswordHash::new(hash.unwrap_or(DUMMY_HASH))?;
    let right = is_right(&parsed, password, memory)?;
    Ok(match right && hash.is_some() {
        false => PasswordCheck::Wrong,
        true if is_weaker(&parsed) => PasswordCheck::NeedsRehash,
        true => PasswordCheck::Correct,
    })
}

fn is_right(
    stored: &PasswordHash,
    password: &SecretString,
    memory: &mut Memory,
) -> Result<bool, password_hash::Error> {
    let (Some(salt), Some(expected)) = (stored.salt, stored.hash) else { return Ok(false) };
    let version = stored.version.map_or(Ok(Version::default()), Version::try_from)?;
    let argon2 = Argon2::new(Algorithm::try_from(stored.algorithm)?, version, Params::try_from(stored)?);
    // Outputs are compared in constant time.
    Ok(output(&argon2, password, salt, expected.len(), memory)? == expected)
}

/// Hashes in reused memory, instead of allocating and freeing it for each password.
fn output(
    argon2: &Argon2,
    password: &SecretString,
    salt: Salt,
    length: usize,
    Memory(blocks): &mut Memory,
) -> Result<Output, password_hash::Error> {
    tracing::trace!("hashing a password");
    let mut decoded = [0; Salt::MAX_LENGTH];
    let salt = salt.decode_b64(&mut decoded)?;
    let needed = argon2.params().block_count();
    if blocks.len() < needed {
        blocks.resize(needed, Block::default());
    }
    let password = password.expose_secret().as_bytes();
    let output = Output::init_with(length, |output| {
        Ok(argon2.hash_password_into_with_memory(password, salt, output, &mut *blocks)?)
    });
    let usual = Params::default().block_count();
    if blocks.len() > usual {
        blocks.truncate(usual);
        blocks.shrink_to_fit();
    }
    output
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
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";

#[cfg(test)]
mod tests {
    use argon2::password_hash::PasswordHasher;

    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text)
    }

    fn requester() -> Requester {
        Requester::new(std::net::IpAddr::from([127, 0, 0, 1]), false)
    }

    #[tokio::test]
    async fn only_the_right_password_of_a_user_matches() {
        let (right, here) = (|| secret("correct horse battery"), requester());
        let passwords = Passwords::new(Duration::from_secs(60));
        let stored = passwords.hash(right(), here).await.expect("a hash");
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_eq!(
            passwords.verify(right(), Some(stored.clone()), here).await.expect("a result"),
            PasswordCheck::Correct
        );
        assert_eq!(
            passwords.verify(secret("wrong"), Some(stored), here).await.expect("a result"),
            PasswordCheck::Wrong
        );
        assert_eq!(passwords.verify(right(), None, here).await.expect("a result"), PasswordCheck::Wrong);
    }

    #[tokio::test]
    async fn hash_with_weaker_parameters_needs_a_rehash() {
        for (algorithm, memory) in [(Algorithm::Argon2id, 8_192), (Algorithm::Argon2i, 19_456)] {
            let params = Params::new(memory, 2, 1, None).expect("parameters");
            let old = Argon2::new(algorithm, Version::V0x13, params);
            let salt = SaltString::generate(&mut OsRng);
            let stored = old.hash_password(b"correct horse battery", &salt).expect("a hash").to_string();
            let check = Passwords::new(Duration::from_secs(60))
                .verify(secret("correct horse battery"), Some(stored), requester())
                .await
                .expect("a result");
            assert_eq!(check, PasswordCheck::NeedsRehash, "{algorithm:?}");
        }
    }

    #[test]
    fn password_length_is_limited() {
        assert!(check_choice(&secret("eleven char"), "olga").is_err());
        assert!(check_choice(&secret("twelve chars"), "olga").is_ok());
        assert!(check_choice(&secret(&"ab".repeat(600)), "olga").is_err());
    }

    #[test]
    fn easily_guessed_passwords_are_refused() {
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
