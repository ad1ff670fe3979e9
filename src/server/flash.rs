//! Flash messages: the outcome of a plain form, until its browser requests the next page. In a query string they would
//! end up in browser histories and logs, and anyone could forge one. In memory only, since some contain secrets.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use leptos::prelude::use_context;
use moka::future::Cache;
use moka::policy::EvictionPolicy;

use super::auth::token;
use super::cookie::CookieName;
use super::forms;
use crate::api::flash::{Confirmation, FlashMessage};
use crate::error::AppError;

/// The cookie with the id of a browser's message.
pub const COOKIE: CookieName = CookieName { https: "__Host-docket-flash", http: "docket-flash" };

/// How long a message is kept.
pub const KEPT_FOR: Duration = Duration::from_secs(300);

/// The memory limit for messages of signed-in people, in bytes; beyond it, the oldest are dropped.
const PEOPLES_BYTES: u64 = 16 * 1024 * 1024;

/// The same for people who are not signed in: they can post without limit, and must not displace the others' messages.
const STRANGERS_BYTES: u64 = 1024 * 1024;

/// The number of fields kept of a form, and their maximum length in bytes. For signed-in people the limit of the body
/// suffices.
const PEOPLES_FIELDS: (usize, usize) = (256, usize::MAX);
const STRANGERS_FIELDS: (usize, usize) = (8, 256);

/// Fields that are never kept.
const SECRETS: [&str; 6] = ["password", "old", "new", "code", "token", "credential"];

/// The approximate memory of a message without its texts, and of each field.
const OVERHEAD: usize = 200;
const OVERHEAD_OF_FIELD: usize = 64;

/// Messages by an id that only the browser that posted the form knows, and by their owner: a person or a session. Clones share them.
#[derive(Clone)]
pub struct FlashStore {
    peoples: Cache<String, FlashMessage>,
    strangers: Cache<String, FlashMessage>,
}

/// Where a server function stores its confirmation for the next page. In the request's extensions.
#[derive(Clone, Default)]
pub struct ConfirmationSlot(Arc<Mutex<Option<Confirmation>>>);

impl FlashStore {
    pub fn new() -> Self {
        Self { peoples: cache(PEOPLES_BYTES), strangers: cache(STRANGERS_BYTES) }
    }

    /// Stores a message for `owner`, the id of a person or of a session, `None` if not signed in, and returns its id.
    pub async fn keep(&self, owner: Option<&str>, message: FlashMessage) -> String {
        let id = token::new();
        self.put(owner, &id, message).await;
        id
    }

    /// Removes and returns the message with this id for `owner`.
    pub async fn take(&self, owner: Option<&str>, id: &str) -> Option<FlashMessage> {
        self.of(owner).remove(&key(owner, id)).await
    }

    /// Stores a message again that was taken and not shown.
    pub async fn put(&self, owner: Option<&str>, id: &str, message: FlashMessage) {
        self.of(owner).insert(key(owner, id), message).await;
    }

    fn of(&self, owner: Option<&str>) -> &Cache<String, FlashMessage> {
        if owner.is_some() { &self.peoples } else { &self.strangers }
    }
}

impl Default for FlashStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ConfirmationSlot {
    pub fn take(&self) -> Option<Confirmation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, confirmation: Confirmation) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(confirmation);
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

/// The fields of a form that are kept so that a person can correct it.
pub fn kept(is_known: bool, fields: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let (most, longest) = if is_known { PEOPLES_FIELDS } else { STRANGERS_FIELDS };
    let fields = fields.filter(|(name, value)| {
        !SECRETS.contains(&name.as_str()) && name.len() <= longest && value.len() <= longest
    });
    fields.take(most).collect()
}

fn cache(bytes: u64) -> Cache<String, FlashMessage> {
    let weigher = |_: &String, message: &FlashMessage| u32::try_from(bytes_of(message)).unwrap_or(u32::MAX);
    Cache::builder()
        .max_capacity(bytes)
        .weigher(weigher)
        // The default policy keeps frequently used entries, so that a full cache would reject new ones.
        .eviction_policy(EvictionPolicy::lru())
        .time_to_live(KEPT_FOR)
        .build()
}

fn key(owner: Option<&str>, id: &str) -> String {
    format!("{} {id}", owner.unwrap_or_default())
}

fn bytes_of(message: &FlashMessage) -> usize {
    let typed = message.typed.iter().map(|(name, value)| name.len() + value.len() + OVERHEAD_OF_FIELD);
    let outcome = match &message.outcome {
        Ok(confirmation) => confirmation.sentence.len() + confirmation.secret.as_ref().map_or(0, String::len),
        Err(error) => error.message.len(),
    };
    OVERHEAD + message.form.len() + outcome + typed.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: usize) -> FlashMessage {
        let typed = vec![("prompt".to_owned(), "x".repeat(bytes))];
        FlashMessage { form: "/api/x".to_owned(), outcome: Err(AppError::internal()), typed }
    }

    #[tokio::test]
    async fn messages_take_a_bounded_memory_and_the_newest_stay() {
        let flash = FlashStore::new();
        let mut ids = Vec::new();
        for _ in 0..100 {
            ids.push(flash.keep(Some("ada"), message(1024 * 1024)).await);
            flash.peoples.run_pending_tasks().await;
        }
        assert!(flash.peoples.weighted_size() <= PEOPLES_BYTES, "{}", flash.peoples.weighted_size());
        assert!(flash.take(Some("ada"), &ids[0]).await.is_none());
        assert!(flash.take(Some("ada"), &ids[99]).await.is_some(), "the last one was not taken in");
    }

    #[tokio::test]
    async fn strangers_push_out_nobody_elses_message() {
        let flash = FlashStore::new();
        let id = flash.keep(Some("ada"), message(10)).await;
        for _ in 0..100 {
            flash.keep(None, message(1024 * 1024)).await;
            flash.strangers.run_pending_tasks().await;
        }
        assert!(flash.strangers.weighted_size() <= STRANGERS_BYTES, "{}", flash.strangers.weighted_size());
        assert!(flash.take(Some("ada"), &id).await.is_some());
    }

    #[tokio::test]
    async fn a_message_is_for_one_person_and_once() {
        let flash = FlashStore::new();
        let id = flash.keep(Some("ada"), message(10)).await;
        assert!(flash.take(None, &id).await.is_none());
        assert!(flash.take(Some("olga"), &id).await.is_none());
        assert!(flash.take(Some("ada"), &id).await.is_some());
        assert!(flash.take(Some("ada"), &id).await.is_none());
    }

    #[test]
    fn of_a_strangers_form_only_what_is_short_is_kept() {
        let field = |name: &str, bytes| (name.to_owned(), "x".repeat(bytes));
        let fields = || [field("username", 10), field("next", 300), field("password", 10)].into_iter();
        assert_eq!(kept(false, fields()), [field("username", 10)]);
        assert_eq!(kept(true, fields()), [field("username", 10), field("next", 300)]);
        assert_eq!(kept(false, (0..100).map(|n| field(&format!("f{n}"), 1))).len(), 8);
    }
}
