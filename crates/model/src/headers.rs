//! The headers with which an open page and the server talk.

/// The header of requests that an open page makes by itself. They do not count as use of the session, make no avoidable
/// upstream call, and do not consume flash messages.
pub const REFRESH_HEADER: &str = "docket-refresh";

/// The header of a response with the project's revision, which grows with every change of its jobs.
pub const REVISION_HEADER: &str = "docket-revision";

/// The header of a response with the number at the caller's bell: see [`crate::budget::Budgets::unread`].
pub const UNREAD_HEADER: &str = "docket-unread";

/// The header of the first request that a page makes after it was opened. It counts as use of the session, also where an open page polls: a browser
/// may have prefetched the page, and a prefetch is no use.
pub const OPENED_HEADER: &str = "docket-opened";

/// The header of a request with the id of the person that its page was made for. Forms without JavaScript have the field [`PERSON_FIELD`] instead. If
/// another person has signed in in this browser since, the server refuses the request: it would act as them.
pub const PERSON_HEADER: &str = "docket-person";

/// The hidden field of a form with the same meaning as [`PERSON_HEADER`].
pub const PERSON_FIELD: &str = "made_for";
