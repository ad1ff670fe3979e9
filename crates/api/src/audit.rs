//! The audit log, for administrators.

use leptos::prelude::*;

use model::audit::AuditPage;
use model::audit_query::AuditQuery;
use model::error::AppError;
#[cfg(feature = "ssr")]
use service::response_size::shortened;
#[cfg(feature = "ssr")]
use web::auth::guard;

/// One page of the records that match `query`, newest first; with `check`, also the result of verifying the log.
#[server(name = GetAuditPage, prefix = "/api", endpoint = "audit/list")]
pub async fn audit_page(#[server(flatten)] query: AuditQuery) -> Result<AuditPage, AppError> {
    let (caller, state) = guard::of::<GetAuditPage>()?;
    Ok(shortened::audit(state.audit_log.page(&caller, &query).await?))
}
