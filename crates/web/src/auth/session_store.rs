//! The tower-sessions store on the database. Session ids are stored hashed. A session is loaded together with its
//! person, whom the login layer requests next.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use axum_login::tower_sessions::cookie::time::OffsetDateTime;
use axum_login::tower_sessions::session::{Id, Record};
use axum_login::tower_sessions::session_store::{Error, Result, SessionStore};

use crate::request::cookie::CookieName;
use crate::state::AppState;
use base::clock::Clock;
use model::time::Timestamp;
use service::auth::token;
use store::accounts::admission::Account;
use store::{Store, StoreError};

/// Browsers accept the prefix `__Host-` only over https.
pub const COOKIE: CookieName = CookieName { https: "__Host-docket", http: "docket" };

tokio::task_local! {
    static READ: Read;
}

/// The session data of the current request.
#[derive(Default)]
struct Read {
    /// The owner of the session, until the login layer takes it.
    owner: RefCell<Option<Account>>,
    failed: Cell<bool>,
}

/// In the extensions of a response: loading the session failed because of the database. It may work again by now.
#[derive(Clone)]
pub struct DatabaseFailed;

/// The layer around the session layers. Within it, [`owner`] returns the person whose session was loaded.
pub async fn with_owner(request: Request, next: Next) -> Response {
    let inner = async {
        let mut response = next.run(request).await;
        if READ.with(|read| read.failed.get()) {
            response.extensions_mut().insert(DatabaseFailed);
        }
        response
    };
    READ.scope(Read::default(), inner).await
}

/// The account with this id, if the last loaded session of the request is theirs. Returns it once.
pub(super) fn owner(id: &str) -> Option<Account> {
    let owner = READ.try_with(|read| read.owner.take()).ok().flatten();
    owner.filter(|owner| owner.user().id == id)
}

/// Records the failure, because the session layers return an empty 500 for every error.
pub(super) fn note(error: &StoreError) {
    if !error.is_corrupt() {
        // Outside of a request there is nothing to record.
        _ = READ.try_with(|read| read.failed.set(true));
    }
}

#[derive(Clone)]
pub struct Sessions {
    store: Store,
    clock: Clock,
    idle: Duration,
    lifetime: Duration,
}

impl Sessions {
    pub fn new(state: &AppState) -> Self {
        Self {
            store: state.store.clone(),
            clock: state.clock.clone(),
            idle: state.settings().access.session_idle,
            lifetime: state.settings().access.session_lifetime,
        }
    }

    /// Whether the session of a person who may enter has this id.
    pub(super) async fn is_open(&self, id: &Id) -> std::result::Result<bool, StoreError> {
        let session = self.store.session(&key(id), self.clock.now(), self.idle_since()).await?;
        Ok(session.and_then(|(_, _, owner)| owner).and_then(Account::admitted).is_some())
    }

    /// The limit of idleness: a session last used at this time or earlier has ended.
    pub fn idle_since(&self) -> Timestamp {
        self.clock.now().plus_seconds(-(self.idle.as_secs() as i64))
    }
}

/// The stored hash of a session id, which identifies the session.
pub fn key(id: &Id) -> String {
    token::hash(&id.to_string())
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sessions")
    }
}

#[async_trait::async_trait]
impl SessionStore for Sessions {
    async fn create(&self, record: &mut Record) -> Result<()> {
        let (now, data) = (self.clock.now(), encoded(record)?);
        self.store.delete_expired_sessions(now, self.idle_since()).await.map_err(backend)?;
        // The expiry in the record uses the system clock; this one uses Docket's clock.
        let end = now.plus_seconds(self.lifetime.as_secs() as i64);
        while !self.store.add_session(&key(&record.id), &data, now, end).await.map_err(backend)? {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> Result<()> {
        self.store.change_session(&key(&record.id), &encoded(record)?).await.map_err(backend)
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let found = self.store.session(&key(id), self.clock.now(), self.idle_since()).await;
        let Some((data, expires_at, owner)) = found.map_err(backend)? else { return Ok(None) };
        // Outside of a request the person is not needed.
        _ = READ.try_with(|read| read.owner.replace(owner));
        let data = serde_json::from_str(&data).map_err(|error| Error::Decode(error.to_string()))?;
        let expiry_date: OffsetDateTime = expires_at.to_datetime();
        Ok(Some(Record { id: *id, data, expiry_date }))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        self.store.delete_session(&key(id)).await.map_err(backend)
    }
}

fn encoded(record: &Record) -> Result<String> {
    serde_json::to_string(&record.data).map_err(|error| Error::Encode(error.to_string()))
}

fn backend(error: StoreError) -> Error {
    note(&error);
    Error::Backend(error.to_string())
}
