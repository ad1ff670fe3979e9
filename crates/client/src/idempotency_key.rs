//! The idempotency key of a run. The API accepts letters, digits, - and _ as a key, and a CI system has names such as `release/v1.2.3`.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::output::inform;
use model::id::IntentId;

/// The begin of a key that is the hash of another text.
const OF_HASH: &str = "sha256-";

/// The key of a run. All its requests have it.
pub(super) struct IdempotencyKey {
    sent: String,
    is_given: bool,
}

impl IdempotencyKey {
    /// Without a given key, a new one is printed before anything is sent, so that a later run can repeat this one, however it ends.
    pub(super) fn of_run(given: Option<&str>) -> Self {
        match given {
            Some(given) => Self { sent: sent_for(given), is_given: true },
            None => {
                let sent = Uuid::new_v4().to_string();
                inform(&format!(
                    "if this run is interrupted, repeat it with its idempotency key: --key {sent}"
                ));
                Self { sent, is_given: false }
            }
        }
    }

    pub(super) fn sent(&self) -> &str {
        &self.sent
    }

    pub(super) fn how_to_repeat(&self) -> String {
        match self.is_given {
            true => "repeat the command with the same --key".to_owned(),
            false => format!("repeat the command with --key {}", self.sent),
        }
    }
}

/// The given key, or its hash if the API does not accept it. A key that looks like a hash is replaced, too: different keys stay different.
fn sent_for(given: &str) -> String {
    match given.parse::<IntentId>() {
        Ok(_) if !given.starts_with(OF_HASH) => given.to_owned(),
        _ => format!("{OF_HASH}{}", BASE64URL_NOPAD.encode(&Sha256::digest(given))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sent_keys_are_accepted_and_differ() {
        let hash = sent_for("release/v1.2.3");
        assert_eq!(hash, "sha256-MQHzhx-mbshABkDj3O8tp_twvzoOj6PPJIQAeDDPCQ8");
        let long = "x".repeat(65);
        let similar = ["release/v1.2.3", "release-v1.2.3", "Release/v1.2.3", " a", "a", "é", "e\u{301}"];
        let given: Vec<&str> = similar.into_iter().chain([&*hash, &*long, &long[1..]]).collect();
        let sent: BTreeSet<String> = given.iter().map(|key| sent_for(key)).collect();
        assert_eq!(sent.len(), given.len());
        assert!(sent.iter().all(|key| key.parse::<IntentId>().is_ok()), "{sent:?}");
    }

    #[test]
    fn key_that_the_api_accepts_is_sent_as_it_is() {
        for key in ["a", "release-v1_2-3", "6f0b6f5e-3e5d-4a8f-9d5a-0a1b2c3d4e5f", &"x".repeat(64)] {
            assert_eq!(sent_for(key), key);
        }
    }
}
