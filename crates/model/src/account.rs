//! A person's own account, as the account page shows it.

use serde::{Deserialize, Serialize};

use crate::passkey::Passkeys;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Whether they may see every project, including projects added later.
    pub sees_all_projects: bool,
    /// Their sessions, most recently used first.
    pub sessions: Vec<SignedIn>,
    pub second_factor: SecondFactor,
    pub passkeys: Passkeys,
}

/// One session of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    /// Identifies the session for ending it; it does not authenticate.
    pub id: String,
    /// A short description of the browser and system.
    pub device: String,
    pub address: String,
    pub since: Timestamp,
    pub last_used: Timestamp,
    /// Whether the request belongs to this session.
    pub is_here: bool,
}

/// The state of a person's second factor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SecondFactor {
    /// The person signs in without a password, so no code is required.
    NoPassword,
    Off,
    /// Not active until the first code is entered.
    Proposed {
        /// Base32.
        secret: String,
        /// The `otpauth:` URL for an authenticator app.
        address: String,
    },
    On {
        codes_left: i64,
    },
}
