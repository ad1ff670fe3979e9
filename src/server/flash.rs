//! Flash messages: what came of a plain form, kept until its browser asks for the next page. An address would keep it in histories and
//! logs, and anybody could write one with words of their own. In memory only, since some of it is secret.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::request::Parts;
use leptos::prelude::use_context;
use moka::future::Cache;

use super::auth::token;
use super::forms;
use crate::api::flash::{FlashMessage, Said};
use crate::error::AppError;

/// How long a message waits for its page.
const KEPT_FOR: Duration = Duration::from_secs(300);

/// How much all messages together may hold, in bytes; beyond that, the oldest go.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// By an id that only the browser knows which posted the form. Cloning gives another handle.
#[derive(Clone)]
pub struct Flash(Cache<String, FlashMessage>);

/// Where a server function leaves what it did, for the page that follows its form. In the request's extensions.
#[derive(Clone, Default)]
pub struct Done(Arc<Mutex<Option<Said>>>);

impl Flash {
    pub fn new() -> Self {
        let weigher = |_: &String, message: &FlashMessage| u32::try_from(bytes_of(message)).unwrap_or(u32::MAX);
        Self(Cache::builder().max_capacity(MOST_BYTES).weigher(weigher).time_to_live(KEPT_FOR).build())
    }

    /// Keeps a message, and gives the id to ask for it.
    pub async fn keep(&self, message: FlashMessage) -> String {
        let id = token::new();
        self.0.insert(id.clone(), message).await;
        id
    }

    /// The message of that id, once.
    pub async fn take(&self, id: &str) -> Option<FlashMessage> {
        self.0.remove(id).await
    }
}

impl Default for Flash {
    fn default() -> Self {
        Self::new()
    }
}

impl Done {
    pub fn take(&self) -> Option<Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, said: Said) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
    }
}

/// Answers a form: whoever posted it as a plain one is led to `page`, and told there what it did.
pub fn answer(page: &str, outcome: Result<Said, AppError>) -> Result<Said, AppError> {
    if let Ok(said) = &outcome {
        lead_to(page, said.clone());
    }
    outcome
}

/// Leads whoever posted a plain form to `page`, where `said` waits.
pub fn lead_to(page: &str, said: Said) {
    if !forms::is_plain() {
        return;
    }
    if let Some(done) = use_context::<Parts>().and_then(|parts| parts.extensions.get::<Done>().cloned()) {
        done.set(said);
    }
    leptos_axum::redirect(page);
}

fn bytes_of(message: &FlashMessage) -> usize {
    let typed: usize = message.typed.iter().map(|(name, value)| name.len() + value.len()).sum();
    let outcome = match &message.outcome {
        Ok(said) => said.sentence.len() + said.secret.as_ref().map_or(0, String::len),
        Err(error) => error.message.len(),
    };
    200 + message.form.len() + outcome + typed
}
