//! Jobs similar to a prompt that is about to be submitted. Pure.

use serde::{Deserialize, Serialize};

use crate::model::id::JobId;
use crate::model::job::JobState;
use crate::model::time::Timestamp;

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
}

impl SimilarJob {
    /// Whether starting the prompt would very likely duplicate work in progress.
    pub fn is_running_already(&self) -> bool {
        self.same_text && matches!(self.state, JobState::Queued | JobState::Sending | JobState::Active)
    }
}
