//! What came of a form on a page of settings: told to whoever called, and once on the next page that a person looks at.

use serde::{Deserialize, Serialize};

/// What a form did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// What happened and what to do next.
    pub sentence: String,
    /// What is shown this once, such as a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// What is to be told about a form that was posted.
#[derive(Debug, Clone)]
pub struct Told {
    /// The endpoint it was posted to.
    pub form: &'static str,
    /// What it did, or why it was refused.
    pub outcome: Result<Said, String>,
    /// What stood in its fields, but for secrets.
    pub typed: Vec<(&'static str, String)>,
}

impl Said {
    pub fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), secret: None }
    }

    pub fn with_secret(self, secret: String) -> Self {
        Self { secret: Some(secret), ..self }
    }
}

impl Told {
    /// What stood in the field `name` of a form that was refused; else nothing.
    pub fn typed(&self, name: &str) -> &str {
        let field = self.typed.iter().find(|(typed, _)| *typed == name);
        field.filter(|_| self.outcome.is_err()).map_or("", |(_, value)| value)
    }
}
