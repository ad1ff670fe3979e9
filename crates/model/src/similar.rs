//! Jobs similar to a prompt that is about to be submitted. Pure.

use serde::{Deserialize, Serialize};

use crate::id::JobId;
use crate::job::JobState;
use crate::time::Timestamp;

/// A job similar to a prompt: in progress, or recent with an unknown outcome or a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimilarJob {
    pub id: JobId,
    /// The first line of its prompt.
    pub title: String,
    pub author: String,
    pub state: JobState,
    pub created_at: Timestamp,
    /// Whether the texts are similar; otherwise only a page is shared.
    pub same_text: bool,
    /// A page that both are about.
    pub page: Option<String>,
    /// The number of its open pull request, such as `#259`, if that changes the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
}

/// A page that an open pull request changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPage {
    pub path: String,
    /// The pull request, such as `#259`, and its job.
    pub changed_by: String,
    pub job: JobId,
}

/// An open pull request that changes a page, with its job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenRequest {
    pub job: JobId,
    pub url: String,
    pub number: Option<u64>,
    /// The first line of the job's prompt.
    pub title: String,
    pub author: String,
    pub state: JobState,
    pub created_at: Timestamp,
}

impl OpenRequest {
    /// `#259`, or the URL if it has no number.
    pub fn label(&self) -> String {
        self.number.map_or_else(|| self.url.clone(), |number| format!("#{number}"))
    }
}

impl SimilarJob {
    /// Whether starting the prompt would very likely duplicate work in progress.
    pub fn is_running_already(&self) -> bool {
        self.same_text && matches!(self.state, JobState::Queued | JobState::Sending | JobState::Active)
    }
}
