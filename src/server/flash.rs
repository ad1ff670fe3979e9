//! What came of a plain form on a page of settings, kept for the next such page that its person looks at: an address would keep it
//! in histories and logs, and anybody could write one with words of their own. In memory only, since some of it is secret.

use std::time::Duration;

use leptos::server_fn::ServerFn;
use moka::future::Cache;

use super::auth::guard::Caller;
use super::forms;
use crate::error::AppError;
use crate::model::settings::{Said, Told};

/// How long it waits for a page.
const KEPT_FOR: Duration = Duration::from_secs(300);

/// By the id of the person it is for. Cloning gives another handle.
#[derive(Clone)]
pub struct Flash(Cache<String, Told>);

impl Flash {
    pub fn new() -> Self {
        Self(Cache::builder().max_capacity(1_000).time_to_live(KEPT_FOR).build())
    }

    /// What this person has not been told yet.
    pub async fn take(&self, person: &str) -> Option<Told> {
        self.0.remove(person).await
    }
}

impl Default for Flash {
    fn default() -> Self {
        Self::new()
    }
}

/// Answers the form of the server function `F`. Whoever posted it as a plain form is led to `page`, and told there; `typed` are its
/// fields, but for secrets.
pub async fn answer<F: ServerFn>(
    caller: &Caller,
    page: &str,
    typed: &[(&'static str, &str)],
    outcome: Result<Said, AppError>,
) -> Result<Said, AppError> {
    if forms::is_plain() {
        let told = Told {
            form: F::PATH,
            outcome: outcome.clone().map_err(|error| error.message),
            typed: typed.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
        };
        caller.panel.flash.0.insert(caller.user.id.clone(), told).await;
        if outcome.is_ok() {
            leptos_axum::redirect(page);
        }
    }
    outcome
}
