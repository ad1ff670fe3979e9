//! The outcome of a plain form, for the next page: without JavaScript, the browser shows only that page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::AppError;

/// Used instead of a form's endpoint when the session had ended before a page was requested.
pub const SESSION_ENDED: &str = "session ended";

/// Used instead of a form's endpoint when wrong codes were entered before the person signed in.
pub const WRONG_CODES: &str = "wrong codes";

/// The confirmation that a form succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// What happened and what to do next.
    pub sentence: String,
    /// A secret that is shown only once, such as a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A message for one page load: the form, its outcome, and its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashMessage {
    /// The endpoint that the form was posted to.
    pub form: String,
    /// The confirmation, or the error.
    pub outcome: Result<Confirmation, AppError>,
    /// The submitted fields, without secrets.
    pub typed: Vec<(String, String)>,
}

/// The pending message of a browser while a page is rendered for it. It stays pending until a page shows it.
#[derive(Debug, Clone)]
pub struct PendingFlash {
    message: Arc<FlashMessage>,
    shown: Arc<AtomicBool>,
}

impl PendingFlash {
    pub fn new(message: FlashMessage) -> Self {
        Self { message: Arc::new(message), shown: Arc::default() }
    }

    /// The message, if it is about the form with this endpoint. The caller must show it: it counts as shown.
    pub fn for_form(&self, endpoint: &str) -> Option<FlashMessage> {
        let is_for_form = self.message.form == endpoint;
        if is_for_form {
            self.shown.store(true, Ordering::Relaxed);
        }
        is_for_form.then(|| (*self.message).clone())
    }

    /// Whether a page has shown the message.
    pub fn is_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }
}

impl Confirmation {
    pub fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), secret: None }
    }

    pub fn with_secret(self, secret: String) -> Self {
        Self { secret: Some(secret), ..self }
    }
}

impl FlashMessage {
    /// The error of the form, if it failed.
    pub fn problem(&self) -> Option<&AppError> {
        self.outcome.as_ref().err()
    }

    /// The values of the field `name`, which may be repeated and may contain comma-separated lists.
    pub fn list_typed(&self, name: &str) -> Vec<&str> {
        let fields = self.typed.iter().filter(|(typed, _)| self.outcome.is_err() && typed == name);
        fields.flat_map(|(_, value)| value.split(',')).collect()
    }

    /// The submitted value of the field `name` if the form failed; otherwise empty.
    pub fn typed(&self, name: &str) -> &str {
        let field = self.typed.iter().find(|(typed, _)| typed == name);
        field.filter(|_| self.outcome.is_err()).map_or("", |(_, value)| value)
    }
}
