//! The daily history: its progress, and requests for days.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use model::day::DayRange;
use model::error::AppError;
use model::history::{HistoryState, Missing, StoredDays};
#[cfg(feature = "ssr")]
use service::auth::own_path::is_own_path;
#[cfg(feature = "ssr")]
use service::history::Wanted;
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::forms;

/// The progress of a project's history, and why it waits if it does.
#[server(name = GetHistoryState, prefix = "/api", endpoint = "history/state")]
pub async fn history_state(project: String) -> Result<HistoryState, AppError> {
    let (caller, state) = guard::of::<GetHistoryState>()?;
    let project = caller.project(&project)?;
    state.history.state(&project).await
}

/// How many days of a range are not in the history, and the minimum number of calls to fetch them. `from` and `to` are
/// inclusive UTC days (`YYYY-MM-DD`).
#[server(name = GetMissing, prefix = "/api", endpoint = "history/missing")]
pub async fn missing_days(project: String, from: String, to: String) -> Result<Missing, AppError> {
    let (caller, state) = guard::of::<GetMissing>()?;
    let project = caller.project(&project)?;
    let range = DayRange::parse(&from, &to)?;
    state.history.missing(&project, range).await
}

/// How many days of a range are in the history, and the minimum number of calls to fetch them again.
#[server(name = GetStoredDays, prefix = "/api", endpoint = "history/stored")]
pub async fn stored_days(project: String, from: String, to: String) -> Result<StoredDays, AppError> {
    let (caller, state) = guard::of::<GetStoredDays>()?;
    let project = caller.project(&project)?;
    let range = DayRange::parse(&from, &to)?;
    state.history.stored(&project, range).await
}

/// Requests that the missing days of a range (at most 400) be fetched first; they may be older than the synced days. With
/// `again`, the stored days of the range instead, which are fetched again. A plain form is redirected to `back`, a path of this server, or to the analytics of the range.
#[server(prefix = "/api", endpoint = "history/fetch")]
pub async fn fetch_days(
    project: String,
    from: String,
    to: String,
    again: Option<bool>,
    back: Option<String>,
) -> Result<HistoryState, AppError> {
    let (caller, state) = guard::of::<FetchDays>()?;
    let project = caller.project(&project)?;
    let range = DayRange::parse(&from, &to)?;
    let wanted = if again == Some(true) { Wanted::Stored } else { Wanted::Missing };
    let state = state.history.request_days(caller.authority(), &project, range, wanted).await?;
    let report = format!("/p/{project}/analytics?from={}&to={}", range.from(), range.to());
    forms::redirect_to(&back.filter(|back| is_own_path(back)).unwrap_or(report));
    Ok(state)
}
