//! Drafts of prompts, as pages and endpoints exchange them. Plain data.

use serde::{Deserialize, Serialize};

use crate::id::FormKey;
use crate::time::Timestamp;

/// The result of saving or removing a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDraft {
    /// By the server's clock; `None` if there is no draft.
    pub saved_at: Option<Timestamp>,
    /// The stored draft, if another form changed it. Nothing was saved or removed then.
    pub changed: Option<DraftVersion>,
}

/// The whole content of a stored draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftVersion {
    pub text: String,
    /// The pages field.
    pub paths: String,
    /// The id of the template it came from; empty without one.
    pub template: String,
    pub saved_at: Timestamp,
    /// The intent of the form that began it; empty without one. Only for the server.
    #[serde(skip)]
    pub origin: String,
}

/// A draft of another form for a new job, in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherDraft {
    /// `None` for the form that is not prefilled.
    pub form: Option<FormKey>,
    /// The beginning of its text.
    pub excerpt: String,
    /// The pages field.
    pub paths: String,
    /// The id of the template it came from; empty without one.
    pub template: String,
    pub saved_at: Timestamp,
}
