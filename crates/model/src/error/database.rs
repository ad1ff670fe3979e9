//! The sentences about the database and its limits. `store` chooses one for each of its errors.

use super::{AppError, ErrorCode};

impl AppError {
    pub fn database_unavailable() -> Self {
        Self::new(
            ErrorCode::DatabaseUnavailable,
            "Docket’s database is unavailable, and nothing was sent. Try again in a moment.",
        )
    }

    /// The database stopped responding while the request was processed, and a change may have been stored.
    pub fn database_silent() -> Self {
        Self::new(
            ErrorCode::DatabaseUnavailable,
            "Docket’s database stopped answering. Try again in a moment: no prompt is sent twice.",
        )
    }

    /// The database contains a value of another version.
    pub fn database_unreadable() -> Self {
        Self::new(
            ErrorCode::Internal,
            "Docket’s database contains a value that this version cannot read. Ask an administrator to look at the log.",
        )
    }

    /// The session or the access ended before the change was stored.
    pub fn access_changed() -> Self {
        Self::new(
            ErrorCode::Unauthenticated,
            "Your session or your access changed while this was sent, so nothing was changed. Sign in to continue.",
        )
    }

    pub fn query_stopped() -> Self {
        Self::new(
            ErrorCode::QueryTooSlow,
            "This took longer than 2 seconds and was stopped. Ask for less, for example with a longer word or another filter.",
        )
    }

    pub fn too_many_queries() -> Self {
        Self::new(
            ErrorCode::Busy,
            "Too many people search or count at the moment. Try again in a few seconds.",
        )
    }

    /// A person has `most` prompts in the queue.
    pub fn queue_full(most: u32) -> Self {
        Self::new(
            ErrorCode::QueueFull,
            format!(
                "One person can have at most {most} prompts in the queue, and nothing was added. Wait until some were sent, or cancel some."
            ),
        )
    }
}
