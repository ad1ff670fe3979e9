//! `GET /admin/audit/export.csv` and `.json`: the audit log as a file, for administrators. Changes nothing except the
//! log, which records the export.

use axum::extract::{RawQuery, State};
use axum::middleware::from_fn;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use url::form_urlencoded;

use super::export::file;
use crate::request::error_response::{ErrorResponse, in_words};
use crate::state::AppState;
use model::audit_query::AuditQuery;
use model::user::Role;
use service::caller::Caller;
use service::sheet::Format;

type ExportRequest = (State<AppState>, RawQuery, Extension<Caller>);

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(
            "/admin/audit/export.csv",
            get(async |request: ExportRequest| respond(request, Format::Csv).await),
        )
        .route(
            "/admin/audit/export.json",
            get(async |request: ExportRequest| respond(request, Format::Json).await),
        )
        .layer(from_fn(in_words))
}

async fn respond(
    (State(state), RawQuery(query), Extension(caller)): ExportRequest,
    format: Format,
) -> Result<Response, ErrorResponse> {
    caller.must_be(Role::Admin)?;
    let query = query.unwrap_or_default();
    // The last of repeated fields counts, as on the page.
    let value = |name: &str| {
        let given = form_urlencoded::parse(query.as_bytes()).filter(|(given, _)| given == name);
        given.last().map(|(_, value)| value.into_owned())
    };
    let query = AuditQuery::of(value);
    let permit = caller.query_permit().await?;
    let body = state.audit_log.export(&caller, &query, format).await?;
    Ok(file(&format!("audit-{}.{format}", state.today()), format, body, permit))
}
