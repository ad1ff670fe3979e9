//! The axum-login backend on the users table.

use axum_login::{AuthUser, AuthnBackend, UserId};
use secrecy::SecretString;
use thiserror::Error;

use super::hashing::Requester;
use super::password::{PasswordCheck, PasswordError, Passwords};
use super::session_store;
use crate::server::store::accounts::users::User;
use crate::server::store::{Store, StoreError};

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

impl AuthUser for User {
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
    type User = User;
    type Credentials = Credentials;
    type Error = BackendError;

    /// The person, if name and password are right and the account is enabled. Takes the same time in all cases.
    async fn authenticate(&self, credentials: Credentials) -> Result<Option<User>, BackendError> {
        let user = self.store.user_by_name(&credentials.username).await?.filter(|user| !user.disabled);
        let hash = user.as_ref().map(|user| user.password_hash.clone()).filter(|hash| !hash.is_empty());
        let check = self.passwords.verify(credentials.password.clone(), hash, credentials.requester).await?;
        if let (Some(user), PasswordCheck::NeedsRehash) = (&user, check) {
            let new = self.passwords.hash(credentials.password, credentials.requester).await?;
            self.store.rehash(&user.id, &user.password_hash, &new).await?;
        }
        Ok(user.filter(|_| check != PasswordCheck::Wrong))
    }

    /// The person of a session; `None` once they are disabled.
    async fn get_user(&self, id: &UserId<Self>) -> Result<Option<User>, BackendError> {
        let user = match session_store::owner(id) {
            Some(owner) => Some(owner),
            None => self.store.user_by_id(id).await.inspect_err(session_store::note)?,
        };
        Ok(user.filter(|user| !user.disabled))
    }
}
