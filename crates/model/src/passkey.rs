//! A person's passkeys, for the account page and the sign-in pages.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkeys {
    /// Oldest first.
    pub list: Vec<Passkey>,
    pub adding: Adding,
    /// How many unused recovery codes remain, if there are passkeys but no authenticator app.
    pub codes_left: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    pub id: String,
    pub name: String,
    pub added: Timestamp,
    pub last_used: Option<Timestamp>,
    /// Whether it is the only second factor.
    pub is_last_factor: bool,
}

/// Whether a person can add a passkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Adding {
    Possible {
        /// A name for a passkey of this browser.
        suggested: String,
    },
    /// Another service signs the person in.
    NoPassword,
    /// Browsers do not support passkeys for the public URL.
    NoAddress { address: String },
}

/// What the second step of a sign-in accepts, besides recovery codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptedFactors {
    /// Codes of an authenticator app.
    pub authenticator: bool,
    pub passkey: StepPasskey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPasskey {
    /// The person has none.
    None,
    Usable,
    /// The person has some, but browsers do not support passkeys for the public URL.
    Unusable,
}
