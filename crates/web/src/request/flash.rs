//! Flash messages: the outcome of a plain form, until its browser requests the next page. In a query string they would
//! appear in histories and logs, and anyone could forge one. That of a signed-in person is in the row of their session,
//! so that any process can show it; a cookie has its id. That of an anonymous client is in a signed cookie, so that
//! nobody without an account can fill the database.

use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use leptos::prelude::use_context;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::cookie::CookieName;
use super::forms;
use base::clock::Clock;
use model::error::AppError;
use model::flash::{Confirmation, FlashMessage};
use model::time::Timestamp;
use service::auth::shared_key::SharedKey;
use service::auth::token;
use store::{Store, StoreError};

/// The cookie of a browser's message.
pub const COOKIE: CookieName = CookieName { https: "__Host-docket-flash", http: "docket-flash" };

/// The lifetime of a message.
pub const LIFETIME: Duration = Duration::from_secs(300);

/// The maximum length of the cookie's value. Browsers drop a cookie of more than 4,096 bytes, and nginx by default a
/// response with that much in its headers.
const COOKIE_MAX_BYTES: usize = 2_000;

/// The maximum number of stored fields of a form, and their maximum length in bytes. For signed-in people the limit of
/// the body suffices.
const PEOPLES_FIELDS: (usize, usize) = (256, usize::MAX);
const ANONYMOUS_FIELDS: (usize, usize) = (8, 256);

/// Fields that are never stored.
const SECRETS: [&str; 7] = ["password", "old", "new", "code", "token", "credential", "proof"];

/// Whose message it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// A session, by the stored hash of its id.
    Session(String),
    /// A person without a session, whom a proxy names. They have a row of their own.
    Person(String),
    Anonymous,
}

/// Messages by their owner and the cookie of the posting browser. Clones share them.
#[derive(Clone)]
pub struct FlashStore {
    store: Store,
    clock: Clock,
    key: SharedKey,
}

/// The content of a signed cookie.
#[derive(Serialize, Deserialize)]
struct SignedMessage {
    message: FlashMessage,
    until: Timestamp,
}

/// A slot in the request's extensions in which a server function stores its confirmation for the next page.
#[derive(Clone, Default)]
pub struct ConfirmationSlot(Arc<Mutex<Option<Confirmation>>>);

impl Owner {
    /// The key of the row with the owner's message: the hash of a session's id, or a text that no hash equals.
    fn row(&self) -> Option<String> {
        match self {
            Self::Session(session) => Some(session.clone()),
            Self::Person(user) => Some(format!("flash message of {user}")),
            Self::Anonymous => None,
        }
    }
}

impl FlashStore {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { key: SharedKey::new(store.clone(), "flash message"), store, clock }
    }

    /// Stores a message, which replaces an earlier one of its owner, and returns the value of the cookie. `None` if the
    /// owner's session has ended, or the message is too long for a cookie.
    pub async fn add(&self, owner: &Owner, message: FlashMessage) -> Result<Option<String>, StoreError> {
        let (now, until) = (self.clock.now(), self.clock.now().after(LIFETIME));
        let Some(row) = owner.row() else { return self.sign(SignedMessage { message, until }).await };
        if matches!(owner, Owner::Person(_)) {
            self.store.add_flash_row(&row, until, now).await?;
        }
        let (message, secret) = without_secret(message);
        let cookie = match secret {
            Some(secret) => format!("{}.{}", token::new(), URL_SAFE_NO_PAD.encode(secret)),
            None => token::new(),
        };
        let text = serde_json::to_string(&message).unwrap_or_default();
        let is_put = self.store.put_flash_message(&row, &token::hash(&cookie), &text, until).await?;
        self.store.trim_flash_messages(&row, now).await?;
        Ok(is_put.then_some(cookie).filter(|cookie| cookie.len() <= COOKIE_MAX_BYTES))
    }

    /// The message of `owner` for this cookie. A stored one is claimed: until it is released, no other call returns it.
    pub async fn claim(&self, owner: &Owner, cookie: &str) -> Result<Option<FlashMessage>, StoreError> {
        let Some(row) = owner.row() else { return self.verified(cookie).await };
        let claimed = self.store.claim_flash_message(&row, &token::hash(cookie), self.clock.now()).await?;
        Ok(claimed.and_then(|text| with_secret(&text, cookie)))
    }

    /// Makes a claimed message that was not shown pending again.
    pub async fn release(&self, owner: &Owner, cookie: &str) -> Result<(), StoreError> {
        match owner.row() {
            Some(row) => self.store.release_flash_message(&row, &token::hash(cookie)).await,
            None => Ok(()),
        }
    }

    /// Removes a claimed message that was shown.
    pub async fn remove(&self, owner: &Owner, cookie: &str) -> Result<(), StoreError> {
        match owner.row() {
            Some(row) => self.store.remove_flash_message(&row, &token::hash(cookie)).await,
            None => Ok(()),
        }
    }

    /// The message as Base64 of JSON, a dot, and its signature. Without the last fields if it would be too long.
    async fn sign(&self, mut signed: SignedMessage) -> Result<Option<String>, StoreError> {
        loop {
            let text = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&signed).unwrap_or_default());
            let cookie = format!("{text}.{}", URL_SAFE_NO_PAD.encode(self.key.hash(&text).await?));
            if cookie.len() <= COOKIE_MAX_BYTES {
                return Ok(Some(cookie));
            }
            if signed.message.typed.pop().is_none() {
                return Ok(None);
            }
        }
    }

    /// The message of a signed cookie that has not expired.
    async fn verified(&self, cookie: &str) -> Result<Option<FlashMessage>, StoreError> {
        let Some((text, signature)) = cookie.split_once('.') else { return Ok(None) };
        let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return Ok(None) };
        if !self.key.verifies(text, &signature).await? {
            return Ok(None);
        }
        let signed: Option<SignedMessage> =
            URL_SAFE_NO_PAD.decode(text).ok().and_then(|json| serde_json::from_slice(&json).ok());
        Ok(signed.filter(|signed| signed.until > self.clock.now()).map(|signed| signed.message))
    }
}

/// A message for the database, and its secret, which only the cookie contains: it must not be readable in the database
/// or its backups.
fn without_secret(mut message: FlashMessage) -> (FlashMessage, Option<String>) {
    let secret = message.outcome.as_mut().ok().and_then(|confirmation| confirmation.secret.take());
    (message, secret)
}

/// The message of a row, with the secret in its cookie. `None` if it is not a message of this version.
fn with_secret(text: &str, cookie: &str) -> Option<FlashMessage> {
    let mut message: FlashMessage = serde_json::from_str(text).ok()?;
    if let (Ok(confirmation), Some((_, secret))) = (&mut message.outcome, cookie.split_once('.')) {
        confirmation.secret = String::from_utf8(URL_SAFE_NO_PAD.decode(secret).ok()?).ok();
    }
    Some(message)
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
    use sqlx::Connection;

    use super::*;
    use model::limits::FLASH_MESSAGES;

    fn message(bytes: usize) -> FlashMessage {
        let typed = vec![("prompt".to_owned(), "x".repeat(bytes))];
        FlashMessage { form: "/api/x".to_owned(), outcome: Err(AppError::internal()), typed }
    }

    #[test]
    fn no_session_id_hashes_to_the_key_of_a_person() {
        let key = Owner::Person("ada".to_owned()).row().unwrap();
        assert!(key.contains(' ') && !token::hash(&key).contains(' '), "{key}");
    }

    async fn flash() -> (tempfile::TempDir, FlashStore) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("docket.db").display());
        let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
        (folder, FlashStore::new(Store::open(&url).await.unwrap(), clock))
    }

    /// The texts in the database.
    async fn stored(folder: &tempfile::TempDir) -> Vec<String> {
        let url = format!("sqlite://{}", folder.path().join("docket.db").display());
        let mut database = sqlx::SqliteConnection::connect(&url).await.unwrap();
        let texts = sqlx::query_scalar("SELECT flash_message FROM sessions WHERE flash_message IS NOT NULL");
        texts.fetch_all(&mut database).await.unwrap()
    }

    async fn session(flash: &FlashStore, id: &str) -> Owner {
        let now = flash.clock.now();
        assert!(flash.store.add_session(id, "{}", now, now.plus_seconds(3600)).await.unwrap());
        Owner::Session(id.to_owned())
    }

    async fn add(flash: &FlashStore, owner: &Owner, message: FlashMessage) -> String {
        flash.add(owner, message).await.unwrap().unwrap()
    }

    async fn is_there(flash: &FlashStore, owner: &Owner, cookie: &str) -> bool {
        flash.claim(owner, cookie).await.unwrap().is_some()
    }

    #[tokio::test]
    async fn each_owner_has_one_message_and_the_newest_remains() {
        let (_folder, flash) = flash().await;
        for owner in [session(&flash, "ada").await, Owner::Person("olga".to_owned())] {
            let first = add(&flash, &owner, message(1024 * 1024)).await;
            let second = add(&flash, &owner, message(10)).await;
            assert!(!is_there(&flash, &owner, &first).await, "{owner:?}");
            assert_eq!(flash.claim(&owner, &second).await.unwrap(), Some(message(10)), "{owner:?}");
        }
    }

    #[tokio::test]
    async fn message_is_shown_once_to_its_owner_within_five_minutes() {
        let (_folder, flash) = flash().await;
        let (ada, olga) = (session(&flash, "ada").await, session(&flash, "olga").await);
        for owner in [ada, Owner::Person("ada".to_owned())] {
            let cookie = add(&flash, &owner, message(10)).await;
            for other in [&olga, &Owner::Person("olga".to_owned()), &Owner::Anonymous] {
                assert!(!is_there(&flash, other, &cookie).await, "{owner:?}, {other:?}");
            }
            assert_eq!(flash.claim(&owner, &cookie).await.unwrap(), Some(message(10)));
            assert!(!is_there(&flash, &owner, &cookie).await, "{owner:?}");
            flash.release(&owner, &cookie).await.unwrap();
            assert!(is_there(&flash, &owner, &cookie).await, "{owner:?}");
            flash.remove(&owner, &cookie).await.unwrap();
            flash.release(&owner, &cookie).await.unwrap();
            assert!(!is_there(&flash, &owner, &cookie).await, "{owner:?}");
            let late = add(&flash, &owner, message(10)).await;
            flash.clock.advance(LIFETIME);
            assert!(!is_there(&flash, &owner, &late).await, "{owner:?}");
        }
    }

    #[tokio::test]
    async fn message_that_is_released_late_does_not_replace_a_newer_one() {
        let (_folder, flash) = flash().await;
        let ada = session(&flash, "ada").await;
        let first = add(&flash, &ada, message(10)).await;
        assert!(is_there(&flash, &ada, &first).await);
        let second = add(&flash, &ada, message(20)).await;
        flash.release(&ada, &first).await.unwrap();
        flash.remove(&ada, &first).await.unwrap();
        assert!(!is_there(&flash, &ada, &first).await);
        assert_eq!(flash.claim(&ada, &second).await.unwrap(), Some(message(20)));
    }

    #[tokio::test]
    async fn messages_of_a_person_are_limited_and_the_newest_remain() {
        let (_folder, flash) = flash().await;
        let own = async |id: &str, user: &str| {
            let owner = session(&flash, id).await;
            flash.store.own_session(id, user, "", "").await.unwrap();
            flash.clock.advance(Duration::from_millis(1));
            let cookie = add(&flash, &owner, message(1024)).await;
            (owner, cookie)
        };
        let olga = own("olga", "olga").await;
        let mut of_ada = Vec::new();
        for n in 0..FLASH_MESSAGES + 2 {
            of_ada.push(own(&format!("ada {n}"), "ada").await);
        }
        for (n, (owner, cookie)) in of_ada.iter().enumerate() {
            assert_eq!(is_there(&flash, owner, cookie).await, n >= 2, "{n}");
        }
        assert!(is_there(&flash, &olga.0, &olga.1).await, "a message of another person was removed");
    }

    #[tokio::test]
    async fn message_of_an_ended_session_is_not_stored() {
        let (_folder, flash) = flash().await;
        let owner = Owner::Session("ended".to_owned());
        assert_eq!(flash.add(&owner, message(10)).await.unwrap(), None);
    }

    #[tokio::test]
    async fn expired_and_shown_messages_are_removed_from_the_database() {
        let (folder, flash) = flash().await;
        let (ada, olga) = (session(&flash, "ada").await, session(&flash, "olga").await);
        let texts = async || stored(&folder).await.len();
        add(&flash, &ada, message(10)).await;
        flash.clock.advance(LIFETIME);
        let cookie = add(&flash, &olga, message(10)).await;
        assert_eq!(texts().await, 1);
        flash.claim(&olga, &cookie).await.unwrap();
        flash.remove(&olga, &cookie).await.unwrap();
        assert_eq!(texts().await, 0);
    }

    #[tokio::test]
    async fn secret_is_in_the_cookie_and_not_in_the_database() {
        let (folder, flash) = flash().await;
        let ada = session(&flash, "ada").await;
        let outcome = Ok(Confirmation::new("Invited.").with_secret("/setup#token=hush".to_owned()));
        let invited = FlashMessage { form: "/api/x".to_owned(), outcome, typed: Vec::new() };
        let cookie = add(&flash, &ada, invited.clone()).await;
        let stored = stored(&folder).await;
        assert!(stored.len() == 1 && !stored[0].contains("hush"), "{stored:?}");
        let (id, _) = cookie.split_once('.').unwrap();
        let forged = format!("{id}.{}", URL_SAFE_NO_PAD.encode("another secret"));
        assert!(!is_there(&flash, &ada, id).await && !is_there(&flash, &ada, &forged).await);
        assert_eq!(flash.claim(&ada, &cookie).await.unwrap(), Some(invited));
    }

    #[tokio::test]
    async fn anonymous_message_is_in_a_signed_cookie_for_five_minutes() {
        let (folder, flash) = flash().await;
        let ada = session(&flash, "ada").await;
        let cookie = add(&flash, &Owner::Anonymous, message(10)).await;
        assert_eq!(flash.claim(&Owner::Anonymous, &cookie).await.unwrap(), Some(message(10)));
        assert!(!is_there(&flash, &ada, &cookie).await);
        assert_eq!(stored(&folder).await, Vec::<String>::new());
        let (text, signature) = cookie.split_once('.').unwrap();
        let other = add(&flash, &Owner::Anonymous, message(11)).await;
        let (other, _) = other.split_once('.').unwrap();
        for forged in [text, &format!("{text}."), &format!("{other}.{signature}"), "e30.e30", ".", ""] {
            assert!(!is_there(&flash, &Owner::Anonymous, forged).await, "{forged}");
        }
        flash.clock.advance(LIFETIME);
        assert!(!is_there(&flash, &Owner::Anonymous, &cookie).await);
    }

    #[tokio::test]
    async fn anonymous_message_fits_in_a_cookie() {
        let (_folder, flash) = flash().await;
        let (most, longest) = ANONYMOUS_FIELDS;
        // In JSON, a quote has two bytes.
        let typed = (0..most).map(|n| (format!("f{n}"), "\"".repeat(longest))).collect();
        let cookie = add(&flash, &Owner::Anonymous, FlashMessage { typed, ..message(0) }).await;
        assert!(cookie.len() <= COOKIE_MAX_BYTES, "{}", cookie.len());
        let shown = flash.claim(&Owner::Anonymous, &cookie).await.unwrap().unwrap();
        assert!((2..most).contains(&shown.typed.len()), "{:?}", shown.typed.len());
        assert_eq!(shown.typed[1].1.len(), longest);
        let endless = FlashMessage { form: "x".repeat(COOKIE_MAX_BYTES), ..message(0) };
        assert_eq!(flash.add(&Owner::Anonymous, endless).await.unwrap(), None);
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
