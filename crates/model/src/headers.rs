//! The headers with which an open page and the server talk.

/// The header of requests that an open page makes by itself. They do not count as use of the session, make no avoidable
/// upstream call, and do not consume flash messages.
pub const REFRESH_HEADER: &str = "docket-refresh";

/// The header of a response with the project's revision, which grows with every change of its jobs.
pub const REVISION_HEADER: &str = "docket-revision";

/// The header of a response with the number at the caller's bell: see [`crate::budget::Budgets::unread`].
pub const UNREAD_HEADER: &str = "docket-unread";
