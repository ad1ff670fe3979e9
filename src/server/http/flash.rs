//! Flash messages: the outcome of a plain form, until its browser requests the next page. In a query string they would
//! appear in histories and logs, and anyone could forge one. The database stores them, so that any process can show
//! them. Because some contain secrets, each is encrypted with a key derived from the id in its cookie.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::request::Parts;
use leptos::prelude::use_context;
use parking_lot::Mutex;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use sha2::{Digest, Sha256};

use super::cookie::CookieName;
use super::forms;
use crate::error::AppError;
use crate::model::flash::{Confirmation, FlashMessage};
use crate::model::time::Timestamp;
use crate::server::auth::token;
use crate::server::process::clock::Clock;
use crate::server::store::{Store, StoreError};

/// The cookie with the id of a browser's message.
pub const COOKIE: CookieName = CookieName { https: "__Host-docket-flash", http: "docket-flash" };

/// The lifetime of a message.
pub const LIFETIME: Duration = Duration::from_secs(300);

/// The limit for messages of signed-in people, in bytes; beyond it, the oldest are dropped.
const PEOPLES_BYTES: u64 = 16 * 1024 * 1024;

/// The same for anonymous clients. They can post without limit, and must not displace the messages of people.
const ANONYMOUS_BYTES: u64 = 1024 * 1024;

/// The limits are applied each time a 16th of them was stored.
const PARTS: u64 = 16;

/// The maximum number of stored fields of a form, and their maximum length in bytes. For signed-in people the limit of
/// the body suffices.
const PEOPLES_FIELDS: (usize, usize) = (256, usize::MAX);
const ANONYMOUS_FIELDS: (usize, usize) = (8, 256);

/// Fields that are never stored.
const SECRETS: [&str; 6] = ["password", "old", "new", "code", "token", "credential"];

/// Messages by their id, which only the posting browser has, and by their owner: a person or a session. Clones share
/// them.
#[derive(Clone)]
pub struct FlashStore {
    store: Store,
    clock: Clock,
    /// Bytes stored since the limits were last applied: of people and of anonymous clients.
    stored: Arc<[AtomicU64; 2]>,
}

/// A slot in the request's extensions in which a server function stores its confirmation for the next page.
#[derive(Clone, Default)]
pub struct ConfirmationSlot(Arc<Mutex<Option<Confirmation>>>);

impl FlashStore {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock, stored: Arc::default() }
    }

    /// Stores a message for `owner`, the id of a person or of a session, `None` if not signed in, and returns its id.
    pub async fn add(&self, owner: Option<&str>, message: FlashMessage) -> Result<String, StoreError> {
        let id = token::new();
        self.put(owner, &id, message, self.clock.now().after(LIFETIME)).await?;
        Ok(id)
    }

    /// Removes and returns the message with this id for `owner`, and its expiry.
    pub async fn take(
        &self,
        owner: Option<&str>,
        id: &str,
    ) -> Result<Option<(FlashMessage, Timestamp)>, StoreError> {
        let (owner, now) = (owner.unwrap_or_default(), self.clock.now());
        let removed = self.store.take_flash_message(&token::hash(id), owner, now).await?;
        Ok(removed.and_then(|(sealed, until)| Some((opened(id, sealed)?, until))))
    }

    /// Stores a message again that was removed but not shown.
    pub async fn put(
        &self,
        owner: Option<&str>,
        id: &str,
        message: FlashMessage,
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let Some(sealed) = sealed(id, &message) else { return Ok(()) };
        let (which, most) = if owner.is_some() { (0, PEOPLES_BYTES) } else { (1, ANONYMOUS_BYTES) };
        let size = sealed.len() as u64;
        self.store.put_flash_message(&token::hash(id), owner.unwrap_or_default(), sealed, until).await?;
        if self.stored[which].fetch_add(size, Ordering::Relaxed) + size > most / PARTS {
            self.stored[which].store(0, Ordering::Relaxed);
            self.store.trim_flash_messages(owner.is_none(), most, self.clock.now()).await?;
        }
        Ok(())
    }
}

/// The key of one message. It encrypts only this message, so a constant nonce is safe.
fn key(id: &str) -> Option<LessSafeKey> {
    let secret = Sha256::new().chain_update("flash message ").chain_update(id).finalize();
    UnboundKey::new(&AES_256_GCM, &secret).ok().map(LessSafeKey::new)
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

fn sealed(id: &str, message: &FlashMessage) -> Option<Vec<u8>> {
    let mut text = serde_json::to_vec(message).ok()?;
    key(id)?.seal_in_place_append_tag(nonce(), Aad::empty(), &mut text).ok()?;
    Some(text)
}

/// `None` if it is not a message of this version.
fn opened(id: &str, mut sealed: Vec<u8>) -> Option<FlashMessage> {
    let text = key(id)?.open_in_place(nonce(), Aad::empty(), &mut sealed).ok()?;
    serde_json::from_slice(text).ok()
}

impl ConfirmationSlot {
    pub fn take(&self) -> Option<Confirmation> {
        self.0.lock().take()
    }

    fn set(&self, confirmation: Confirmation) {
        *self.0.lock() = Some(confirmation);
    }
}

/// Ends a server function: a plain form is redirected to `page`, which shows the confirmation.
pub fn respond(page: &str, outcome: Result<Confirmation, AppError>) -> Result<Confirmation, AppError> {
    if let Ok(confirmation) = &outcome {
        redirect_with(page, confirmation.clone());
    }
    outcome
}

/// Redirects a plain form to `page`, which shows `confirmation`.
pub fn redirect_with(page: &str, confirmation: Confirmation) {
    if !forms::is_plain() {
        return;
    }
    if let Some(slot) =
        use_context::<Parts>().and_then(|parts| parts.extensions.get::<ConfirmationSlot>().cloned())
    {
        slot.set(confirmation);
    }
    leptos_axum::redirect(page);
}

/// The fields of a form to store, so that a person can correct it.
pub fn storable_fields(
    is_known: bool,
    fields: impl Iterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let (most, longest) = if is_known { PEOPLES_FIELDS } else { ANONYMOUS_FIELDS };
    let fields = fields.filter(|(name, value)| {
        !SECRETS.contains(&name.as_str()) && name.len() <= longest && value.len() <= longest
    });
    fields.take(most).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn message(bytes: usize) -> FlashMessage {
        let typed = vec![("prompt".to_owned(), "x".repeat(bytes))];
        FlashMessage { form: "/api/x".to_owned(), outcome: Err(AppError::internal()), typed }
    }

    async fn flash() -> (tempfile::TempDir, FlashStore) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("docket.db").display());
        let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
        (folder, FlashStore::new(Store::open(&url).await.unwrap(), clock))
    }

    async fn is_there(flash: &FlashStore, owner: Option<&str>, id: &str) -> bool {
        flash.take(owner, id).await.unwrap().is_some()
    }

    #[tokio::test]
    async fn message_space_is_bounded_and_the_newest_remain() {
        let (_folder, flash) = flash().await;
        let mut ids = Vec::new();
        for _ in 0..40 {
            flash.clock.advance(Duration::from_millis(1));
            ids.push(flash.add(Some("ada"), message(1024 * 1024)).await.unwrap());
        }
        let mut remaining = 0;
        for id in &ids[..39] {
            remaining += u64::from(is_there(&flash, Some("ada"), id).await);
        }
        assert!((14..=17).contains(&remaining), "{remaining} MB");
        assert!(is_there(&flash, Some("ada"), &ids[39]).await, "the last one was not taken in");
    }

    #[tokio::test]
    async fn anonymous_messages_do_not_displace_those_of_people() {
        let (_folder, flash) = flash().await;
        let id = flash.add(Some("ada"), message(10)).await.unwrap();
        let first = flash.add(None, message(1024)).await.unwrap();
        for _ in 0..10 {
            flash.clock.advance(Duration::from_millis(1));
            flash.add(None, message(1024 * 1024)).await.unwrap();
        }
        assert!(!is_there(&flash, None, &first).await);
        assert!(is_there(&flash, Some("ada"), &id).await);
    }

    #[tokio::test]
    async fn message_is_shown_once_to_its_owner_within_five_minutes() {
        let (_folder, flash) = flash().await;
        let id = flash.add(Some("ada"), message(10)).await.unwrap();
        assert!(!is_there(&flash, None, &id).await);
        assert!(!is_there(&flash, Some("olga"), &id).await);
        let (removed, until) = flash.take(Some("ada"), &id).await.unwrap().unwrap();
        assert_eq!(removed, message(10));
        assert!(!is_there(&flash, Some("ada"), &id).await);
        flash.put(Some("ada"), &id, removed, until).await.unwrap();
        flash.clock.advance(LIFETIME);
        assert!(!is_there(&flash, Some("ada"), &id).await);
    }

    #[test]
    fn message_is_readable_only_with_its_id() {
        let secret = sealed("one id", &message(10)).unwrap();
        assert_eq!(opened("one id", secret.clone()), Some(message(10)));
        assert_eq!(opened("another id", secret.clone()), None);
        assert!(!String::from_utf8_lossy(&secret).contains("xxxxx"));
    }

    #[test]
    fn only_short_fields_of_anonymous_forms_are_stored() {
        let field = |name: &str, bytes| (name.to_owned(), "x".repeat(bytes));
        let fields = || [field("username", 10), field("next", 300), field("password", 10)].into_iter();
        assert_eq!(storable_fields(false, fields()), [field("username", 10)]);
        assert_eq!(storable_fields(true, fields()), [field("username", 10), field("next", 300)]);
        assert_eq!(storable_fields(false, (0..100).map(|n| field(&format!("f{n}"), 1))).len(), 8);
    }
}
