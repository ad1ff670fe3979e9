//! The axum-login backend on the users table.

use std::ops::Deref;

use axum_login::{AuthUser, AuthnBackend, UserId};
use secrecy::SecretString;
use thiserror::Error;

use super::session_store;
use service::auth::hashing::Requester;
use service::auth::password::{PasswordCheck, PasswordError, Passwords};
use store::accounts::admission::{Account, Admitted};
use store::{Store, StoreError};

#[derive(Clone)]
pub struct Backend {
    store: Store,
    passwords: Passwords,
}

pub struct Credentials {
    pub username: String,
    pub password: SecretString,
    pub requester: Requester,
}

#[derive(Debug, Error)]
pub enum BackendError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("passwords cannot be checked: {0}")]
    Password(#[from] PasswordError),
}

pub type AuthSession = axum_login::AuthSession<Backend>;

impl Backend {
    pub fn new(store: Store, passwords: Passwords) -> Self {
        Self { store, passwords }
    }
}

/// The person of a session.
#[derive(Debug, Clone)]
pub struct SessionUser(pub Admitted);

impl Deref for SessionUser {
    type Target = Admitted;

    fn deref(&self) -> &Admitted {
        &self.0
    }
}

impl AuthUser for SessionUser {
    type Id = String;

    fn id(&self) -> String {
        self.id.clone()
    }

    /// A change of the password, role or the like ends earlier sessions.
    fn session_auth_hash(&self) -> &[u8] {
        self.session_stamp.as_bytes()
    }
}

impl AuthnBackend for Backend {
    type User = SessionUser;
    type Credentials = Credentials;
    type Error = BackendError;

    /// The person, if name and password are right and they may enter. Takes the same time in all cases.
    async fn authenticate(&self, credentials: Credentials) -> Result<Option<SessionUser>, BackendError> {
        let user = self.store.account_by_name(&credentials.username).await?.and_then(Account::admitted);
        let hash = user.as_ref().map(|user| user.password_hash.clone()).filter(|hash| !hash.is_empty());
        let check = self.passwords.verify(credentials.password.clone(), hash, credentials.requester).await?;
        if let (Some(user), PasswordCheck::NeedsRehash) = (&user, check) {
            let new = self.passwords.hash(credentials.password, credentials.requester).await?;
            self.store.rehash(&user.id, &user.password_hash, &new).await?;
        }
        Ok(user.filter(|_| check != PasswordCheck::Wrong).map(SessionUser))
    }

    /// The person of a session; `None` once they are disabled.
    async fn get_user(&self, id: &UserId<Self>) -> Result<Option<SessionUser>, BackendError> {
        let account = match session_store::owner(id) {
            Some(owner) => Some(owner),
            None => self.store.account_by_id(id).await.inspect_err(session_store::note)?,
        };
        Ok(account.and_then(Account::admitted).map(SessionUser))
    }
}
