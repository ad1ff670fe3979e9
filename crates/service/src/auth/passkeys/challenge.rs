//! Challenges that browsers sign. They are stored in the database, bound to the token in the browser's cookie, and used
//! once.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use webauthn_rs::prelude::{DiscoverableAuthentication, PasskeyAuthentication, PasskeyRegistration};

use super::error::PasskeyError;
use super::{Passkeys, corrupt};
use crate::auth::token;
use model::error::AppError;
use store::StoreError;
use store::accounts::passkeys::ChallengeLimits;
use store::authorization::Authorization;

/// How long a person may take to respond, in seconds.
pub const CHALLENGE_SECONDS: i64 = 5 * 60;

/// Anonymous clients can request challenges, so the number of pending ones is limited.
const LIMITS: ChallengeLimits = ChallengeLimits { per_requester: 50, in_all: 10_000 };

/// The options for the browser, and the token for its cookie.
pub struct IssuedChallenge {
    /// The options of `navigator.credentials`, in JSON.
    pub options: String,
    pub token: String,
}

/// The purpose of a challenge, with the state that verifies the response.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Purpose {
    /// A new passkey.
    Add {
        #[serde(flatten)]
        by: Requester,
        /// Whether the person showed a second factor that was on.
        #[serde(default)]
        is_proven: bool,
        state: PasskeyRegistration,
    },
    /// Proof of an existing passkey, by a person whose password was right.
    Prove {
        #[serde(flatten)]
        by: Requester,
        state: PasskeyAuthentication,
    },
    /// Signing in with a passkey alone.
    SignIn { state: DiscoverableAuthentication },
    /// The second step of a person's sign-in.
    SecondStep { user: String, state: PasskeyAuthentication },
}

/// The session that requested a challenge.
#[derive(Serialize, Deserialize)]
pub(super) struct Requester {
    user: String,
    /// The person's session stamp at that time.
    session_stamp: String,
    /// The stored hash of the session's id; `None` if a trusted proxy named the user, or in a challenge of a version before this one.
    #[serde(default)]
    session: Option<String>,
}

impl Requester {
    pub(super) fn of(request: &Authorization) -> Self {
        let (user, session) = (request.user(), request.session().map(str::to_owned));
        Self { user: user.id.clone(), session_stamp: user.session_stamp.clone(), session }
    }

    /// Whether a request has the same session. A challenge that was begun elsewhere is not valid in it.
    pub(super) fn has_sent(&self, request: &Authorization) -> bool {
        let user = request.user();
        self.user == user.id
            && self.session_stamp == user.session_stamp
            && self.session.as_deref() == request.session()
    }
}

impl Passkeys {
    /// Stores a challenge.
    pub(super) async fn issue(
        &self,
        requester: &str,
        purpose: &Purpose,
        options: Result<Value, serde_json::Error>,
    ) -> Result<IssuedChallenge, AppError> {
        let (token, now) = (token::new(), self.clock.now());
        let state = serde_json::to_string(purpose).map_err(PasskeyError::not_begun)?;
        let options = options.map_err(PasskeyError::not_begun)?.to_string();
        let (hash, expires_at) = (token::hash(&token), now.plus_seconds(CHALLENGE_SECONDS));
        self.store.put_passkey_challenge(&hash, requester, &state, LIMITS, expires_at, now).await?;
        Ok(IssuedChallenge { options, token })
    }

    /// Consumes the challenge with this token and returns its purpose; `None` if it is not pending any more.
    pub(super) async fn answered(&self, token: &str) -> Result<Option<Purpose>, StoreError> {
        let state = self.store.take_passkey_challenge(&token::hash(token), self.clock.now()).await?;
        state.map(|state| serde_json::from_str(&state).map_err(|_| corrupt("a challenge"))).transpose()
    }
}

/// The stored form of a credential's id.
pub(super) fn base64url(id: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(id)
}
