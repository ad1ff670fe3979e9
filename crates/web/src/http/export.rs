//! `GET /p/{project}/analytics/export.csv` and `.json`: the rows of the analytics page as a file. They change nothing,
//! so links from other sites are allowed. Other sites cannot read the content.

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use futures::StreamExt;
use serde::Deserialize;

use crate::request::error_response::{ErrorResponse, in_words};
use crate::state::AppState;
use model::analytics::choice::{Order, Readers, Tab};
use model::analytics::days::Span;
use model::audit::{Action, AuditEvent};
use model::error::AppError;
use model::paging::Paging;
use service::analytics::export::ExportKind;
use service::analytics::table_query::{TableQuery, word};
use service::caller::Caller;
use service::sheet::{Chunks, Format};

/// The query of the analytics page, with the same defaults; its paging is ignored.
#[derive(Debug, Deserialize)]
struct Fields {
    days: Option<String>,
    from: Option<String>,
    to: Option<String>,
    q: Option<String>,
    folder: Option<String>,
    sort: Option<String>,
    compare: Option<String>,
    readers: Option<String>,
    tab: Option<String>,
    of: Option<String>,
}

type ExportRequest =
    (State<AppState>, Path<String>, Result<Query<Fields>, QueryRejection>, Extension<Caller>);

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(
            "/p/{project}/analytics/export.csv",
            get(async |request: ExportRequest| export(request, Format::Csv).await),
        )
        .route(
            "/p/{project}/analytics/export.json",
            get(async |request: ExportRequest| export(request, Format::Json).await),
        )
        .layer(from_fn(in_words))
}

async fn export(request: ExportRequest, format: Format) -> Result<Response, ErrorResponse> {
    let (State(state), Path(project), fields, Extension(caller)) = request;
    let Query(fields) =
        fields.map_err(|_| AppError::bad_input("Each field of the address may occur only once."))?;
    let project = caller.project(&project)?;
    let today = state.today();
    let name = fields.days.as_deref().filter(|name| !name.is_empty());
    let span = Span::of(name, fields.from.as_deref(), fields.to.as_deref(), today)?;
    let query = TableQuery::new(project.clone(), span.until(today)?, Paging::default())
        .narrowed(fields.q.as_deref(), fields.folder.as_deref())?
        .sorted(Order::parse(fields.sort.as_deref())?)
        .compared(
            word(fields.compare.as_deref(), span.default_compare())?,
            word(fields.tab.as_deref(), Tab::default())?,
            word(fields.readers.as_deref(), Readers::ON_PAGES)?,
        );
    let of: Option<ExportKind> = fields.of.filter(|of| !of.is_empty()).map(|of| of.parse()).transpose()?;
    let permit = caller.query_permit().await?;
    let export = state.analytics.export(query, of.unwrap_or_default(), format).await?;
    let event = AuditEvent::new(Action::Export).in_project(&project).with_detail(&export.name);
    state.store.record_often(caller.authority(), &event).await?;
    Ok(file(&export.name, format, export.body, permit))
}

/// A download named `name`, which must not need quoting. `permit` is released when the body was sent or the client
/// disconnected.
pub(super) fn file(name: &str, format: Format, body: Chunks, permit: impl Send + 'static) -> Response {
    let content_type = match format {
        Format::Csv => "text/csv; charset=utf-8",
        Format::Json => "application/json",
    };
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::try_from(disposition).unwrap_or(HeaderValue::from_static("attachment")),
        ),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    ];
    let body = body.inspect(move |_| {
        let _ = &permit;
    });
    (headers, Body::from_stream(body)).into_response()
}
