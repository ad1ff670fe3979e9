//! The role required by each server function, and by what pages load without one. The gate and the guards use this table. A
//! function that is not listed is unreachable.

use model::error::AppError;
use model::user::Role;
use service::caller::at_least;

/// Who may call a server function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone, without a session: for signing in.
    Anybody,
    /// People with this role or a higher one.
    From(Role),
}

/// What pages load without a server function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageData {
    Agreement,
    AnalyticsReport,
}

impl PageData {
    /// The lowest role that may see it.
    pub const fn least(self) -> Role {
        match self {
            Self::Agreement => Role::Admin,
            Self::AnalyticsReport => Role::Viewer,
        }
    }
}

/// Who may call the server function at `endpoint`; `None` if it does not exist.
pub fn of(endpoint: &str) -> Option<Access> {
    ENDPOINTS.iter().find(|(_, listed)| listed.contains(&endpoint)).map(|(access, _)| *access)
}

/// Checks whether this role may call the server function at `endpoint`.
pub fn check(role: Role, endpoint: &str) -> Result<(), AppError> {
    match of(endpoint) {
        Some(Access::Anybody) => Ok(()),
        Some(Access::From(least)) => at_least(role, least),
        None => Err(no_such_endpoint()),
    }
}

pub fn no_such_endpoint() -> AppError {
    AppError::not_found("There is no such endpoint.")
}

/// Every server function.
pub const ENDPOINTS: &[(Access, &[&str])] = &[
    (
        Access::Anybody,
        &[
            "/api/session/code",
            "/api/session/link",
            "/api/session/login",
            "/api/session/open-link",
            "/api/session/passkey",
            "/api/session/passkey-options",
            "/api/session/setup",
        ],
    ),
    (
        Access::From(Role::Viewer),
        &[
            "/api/account/get",
            "/api/account/password",
            "/api/account/sign-out",
            "/api/account/sign-out-others",
            "/api/analytics/job",
            "/api/analytics/pages",
            "/api/analytics/trend",
            "/api/analytics/views",
            "/api/batches/form",
            "/api/batches/get",
            "/api/batches/list",
            "/api/history/missing",
            "/api/history/state",
            "/api/history/stored",
            "/api/jobs/form",
            "/api/jobs/get",
            "/api/jobs/list",
            "/api/jobs/overview",
            "/api/jobs/similar",
            "/api/jobs/statuses",
            "/api/notifications/archive",
            "/api/notifications/list",
            "/api/notifications/read",
            "/api/palette/find",
            "/api/pull-requests/reviews",
            "/api/passkeys/add",
            "/api/passkeys/begin",
            "/api/passkeys/proof-options",
            "/api/passkeys/remove",
            "/api/passkeys/rename",
            "/api/queue/list",
            "/api/saved-views/list",
            "/api/saved-views/remove",
            "/api/saved-views/save",
            "/api/saved-views/update",
            "/api/second-factor/begin",
            "/api/second-factor/confirm",
            "/api/second-factor/remove",
            "/api/second-factor/renew",
            "/api/session/current",
            "/api/session/logout",
            "/api/templates/form",
            "/api/templates/list",
            "/api/tokens/create",
            "/api/tokens/list",
            "/api/tokens/revoke",
            "/api/tokens/rotate",
            "/api/upstream/budgets",
        ],
    ),
    (
        Access::From(Role::Operator),
        &[
            "/api/annotations/remove",
            "/api/annotations/save",
            "/api/batches/cancel",
            "/api/batches/discard",
            "/api/batches/prepare",
            "/api/batches/rename",
            "/api/batches/retry",
            "/api/batches/start",
            "/api/batches/unstarted",
            "/api/batches/use-template",
            "/api/history/fetch",
            "/api/jobs/add-page",
            "/api/jobs/import",
            "/api/jobs/archive",
            "/api/jobs/check",
            "/api/jobs/create",
            "/api/jobs/dismiss",
            "/api/jobs/draft",
            "/api/jobs/mentioned-pages",
            "/api/jobs/message",
            "/api/jobs/remove-page",
            "/api/jobs/suggest-pages",
            "/api/jobs/resolve",
            "/api/jobs/send-all-again",
            "/api/jobs/tag",
            "/api/jobs/unarchive",
            "/api/jobs/unknown-pages",
            "/api/jobs/undismiss",
            "/api/jobs/untag",
            "/api/queue/cancel",
            "/api/queue/try",
            "/api/queue/move",
            "/api/templates/remove",
            "/api/templates/save",
        ],
    ),
    (
        Access::From(Role::Admin),
        &[
            "/api/analytics/compare",
            "/api/audit/list",
            "/api/checklist/get",
            "/api/tokens/all",
            "/api/tokens/revoke-any",
            "/api/upstream/status",
            "/api/upstream/trust-clock",
            "/api/users/cancel-prompts",
            "/api/users/change",
            "/api/users/disable",
            "/api/users/enable",
            "/api/users/get",
            "/api/users/invite",
            "/api/users/list",
            "/api/users/password-link",
            "/api/users/release-invitation",
            "/api/users/release-prompts",
            "/api/users/renew",
            "/api/users/reset-second-factor",
            "/api/users/sign-out",
            "/api/users/withdraw",
            "/api/webhooks/add",
            "/api/webhooks/deliveries",
            "/api/webhooks/disable",
            "/api/webhooks/enable",
            "/api/webhooks/events",
            "/api/webhooks/list",
            "/api/webhooks/remove",
            "/api/webhooks/renew",
            "/api/webhooks/retry",
            "/api/webhooks/retry-all",
            "/api/webhooks/test",
        ],
    ),
];
