//! What came of a plain form, for the page that follows it: without JavaScript, the browser shows that page and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::AppError;

/// What a form did, as a confirmation for its person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// What happened and what to do next.
    pub sentence: String,
    /// What is shown this once, such as a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A message for one page load: which form it is about, what came of it, and what stood in its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlashMessage {
    /// The endpoint that the form was posted to.
    pub form: String,
    /// What it did, or why it was refused.
    pub outcome: Result<Confirmation, AppError>,
    /// What stood in its fields, but for secrets.
    pub typed: Vec<(String, String)>,
}

/// The message that waits for a browser while a page is rendered for it. A page that does not show it leaves it for the next.
#[derive(Debug, Clone)]
pub struct PendingFlash {
    message: Arc<FlashMessage>,
    shown: Arc<AtomicBool>,
}

impl PendingFlash {
    pub fn new(message: FlashMessage) -> Self {
        Self { message: Arc::new(message), shown: Arc::default() }
    }

    /// The message, if it is about the form that was posted to `endpoint`. Whoever asks must show it: it is told once.
    pub fn for_form(&self, endpoint: &str) -> Option<FlashMessage> {
        let is_for_form = self.message.form == endpoint;
        if is_for_form {
            self.shown.store(true, Ordering::Relaxed);
        }
        is_for_form.then(|| (*self.message).clone())
    }

    /// The message, if no page has asked for it.
    pub fn unshown(&self) -> Option<FlashMessage> {
        (!self.shown.load(Ordering::Relaxed)).then(|| (*self.message).clone())
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
    /// Why the form was refused, if it was.
    pub fn problem(&self) -> Option<&AppError> {
        self.outcome.as_ref().err()
    }

    /// The values of the field `name`, of which a form may have several and each may be a list with commas.
    pub fn list_typed(&self, name: &str) -> Vec<&str> {
        let fields = self.typed.iter().filter(|(typed, _)| self.outcome.is_err() && typed == name);
        fields.flat_map(|(_, value)| value.split(',')).collect()
    }

    /// What stood in the field `name` of a form that was refused; else nothing.
    pub fn typed(&self, name: &str) -> &str {
        let field = self.typed.iter().find(|(typed, _)| typed == name);
        field.filter(|_| self.outcome.is_err()).map_or("", |(_, value)| value)
    }
}
