//! The answer to a submitted prompt.

use model::job::Job;

/// The answer to a submitted prompt.
#[derive(Debug)]
pub struct Submitted {
    pub job: Job,
    /// The id of the prompt.
    pub(super) message_id: String,
    /// Whether an earlier request with the same intent committed it: this one sent nothing.
    pub is_replay: bool,
}
