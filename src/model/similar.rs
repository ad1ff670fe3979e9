//! Jobs that ask for what somebody is about to ask for again. Pure.

use serde::{Deserialize, Serialize};

use crate::model::id::JobId;
use crate::model::job::JobState;
use crate::model::time::Timestamp;

/// A job that is under way or has an open result, and resembles a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimilarJob {
    pub id: JobId,
    /// The first line of its prompt.
    pub title: String,
    pub author: String,
    pub state: JobState,
    pub created_at: Timestamp,
    /// Whether the texts are nearly the same; otherwise only a page is.
    pub same_text: bool,
    /// A page that both are about.
    pub page: Option<String>,
}

impl SimilarJob {
    /// Whether starting the prompt would very likely do the same work twice at once.
    pub fn is_running_already(&self) -> bool {
        self.same_text && matches!(self.state, JobState::Queued | JobState::Sending | JobState::Active)
    }
}
