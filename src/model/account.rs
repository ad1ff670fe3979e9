//! A person's own account, as its page shows it.

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Whether they may see every project, also those that are added later.
    pub sees_all_projects: bool,
    /// Where they are signed in, the last used first.
    pub sessions: Vec<SignedIn>,
    pub second_factor: SecondFactor,
}

/// One place where a person is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    /// What ends it. Opens nothing.
    pub id: String,
    /// In a few words.
    pub device: String,
    pub address: String,
    pub since: Timestamp,
    pub last_used: Timestamp,
    /// Whether this was asked for there.
    pub is_here: bool,
}

/// Where a person is with their second factor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SecondFactor {
    /// Others vouch for the person; there is no password that a code could stand beside.
    NoPassword,
    Off,
    /// Waits for its first code.
    Proposed {
        /// In base32.
        secret: String,
        /// The same for an authenticator.
        address: String,
    },
    On {
        codes_left: i64,
    },
}
