//! The saved templates of a project, and how the jobs created from them ended. Pure; `template` handles the text
//! itself.

use serde::{Deserialize, Serialize};

use crate::id::TemplateId;
use crate::time::Timestamp;

/// The longest name of a template, in characters.
pub const NAME_MAX_CHARS: usize = 80;

/// Reserved placeholder names: they are query parameters of the form for a new job.
pub const RESERVED_PLACEHOLDERS: [&str; 3] = ["from", "prompt", "template"];

/// A template of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedTemplate {
    pub id: TemplateId,
    /// Unique in the project.
    pub name: String,
    /// With placeholders such as `{{page}}`.
    pub text: String,
    pub changed_at: Timestamp,
    pub score: Scorecard,
}

/// A template to start from, without its scorecard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateText {
    pub id: TemplateId,
    pub name: String,
    pub text: String,
}

/// How the jobs created from a template ended. A run is a job that the agent accepted. It is finished when the upstream reports
/// it completed, failed or archived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scorecard {
    pub runs: u64,
    /// The sum of the next four fields.
    pub finished: u64,
    pub with_pull_request: u64,
    /// Completed without a pull request in a project whose changes the platform publishes directly.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub published_directly: u64,
    pub without_change: u64,
    pub failed: u64,
    /// From acceptance to the first end state, in milliseconds; `None` if no run has both.
    pub median_millis: Option<i64>,
    /// `None` if Docket knows the state of no pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merges: Option<Merges>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What happened to the pull requests of these jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merges {
    /// The number of pull requests whose state is known.
    pub tracked: u64,
    pub merged: u64,
    /// From the opening to the merge, in milliseconds; `None` without a merged one.
    pub median_millis: Option<i64>,
}

/// The initial values of the template form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateForm {
    /// `None` for a new template.
    pub id: Option<TemplateId>,
    pub name: String,
    /// The template's text, or this person's text that could not be saved.
    pub text: String,
    /// The longest text, in characters.
    pub text_max: u32,
}

/// The template that a job was created from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedTemplate {
    /// `None` once the template was deleted.
    pub id: Option<TemplateId>,
    /// Its name when the job was started.
    pub name: String,
}
