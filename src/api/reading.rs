//! What the analytics page and the overview show, in one answer.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::drawn::{HistoryNotice, Reading};
#[cfg(feature = "ssr")]
use crate::server::{auth::guard, reading};

/// What `query`, the query of the analytics page's address, asks for: drawn where the daily history holds the whole range, else
/// live views. With `part` = `week`, the short form of the overview.
#[server(name = GetReading, prefix = "/api", endpoint = "analytics/reading")]
pub async fn reading_of(project: String, query: String, part: Option<String>) -> Result<Reading, AppError> {
    let caller = guard::of::<GetReading>()?;
    let project = caller.project(&project)?;
    reading::reading(&caller, project, &query, part.as_deref() == Some("week")).await
}

/// How far the history is for that range, and what the rest would cost.
#[server(name = GetHistoryNotice, prefix = "/api", endpoint = "analytics/notice")]
pub async fn notice_of(project: String, query: String) -> Result<HistoryNotice, AppError> {
    let caller = guard::of::<GetHistoryNotice>()?;
    let project = caller.project(&project)?;
    reading::notice(&caller, &project, &query).await
}
