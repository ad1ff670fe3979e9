//! Decodes the upstream's JSON tolerantly. An unknown field, a missing optional one, a `null`, an unexpected type or a
//! `12.0` never makes a response unusable. Only a job's `id`, and the rows and totals of page views, are required.
//! Changed figures are marked.

mod count;
mod instant;
pub(crate) mod json;

use serde_json::Value;

use super::UpstreamError;
use model::job::{RemoteJob, status_of_upstream};
use model::page_views::{PageViews, ViewCounts};

use count::Counter;
pub use count::LARGEST_COUNT;
use instant::instant;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageViewsResponse {
    pub totals: ViewCounts,
    pub views: Vec<PageViews>,
    pub has_more: bool,
    /// Whether any figure was corrected, or a row was left out.
    pub corrected: bool,
}

/// The maximum length of a text field; longer ones are truncated.
pub const TEXT_MAX_CHARS: usize = 2_000;

/// The maximum number of details of an error.
const MAX_DETAILS: usize = 20;

/// Decodes a job. Required: an object with an `id`.
pub fn job(body: &[u8]) -> Result<RemoteJob, UpstreamError> {
    let value = value_in(body)?;
    let id = id(&value["id"])?;
    Ok(RemoteJob {
        id,
        status: text(&value["status"]).map_or_else(|| "(no status)".to_owned(), status_of_upstream),
        model: text(&value["model"]),
        repository: text(&value["source"]["repository"]),
        git_ref: text(&value["source"]["ref"]),
        pr_link: text(&value["prLink"]),
        pr_link_is_earlier: false,
        created_at: instant(&value["createdAt"]),
        archived_at: instant(&value["archivedAt"]),
        error: [&value["error"], &value["error"]["message"], &value["message"]].into_iter().find_map(text),
    })
}

/// Decodes page views. Required: `totals`, `views` and `hasMore`; rows without a path are left out.
pub fn page_views(body: &[u8]) -> Result<PageViewsResponse, UpstreamError> {
    let value = value_in(body)?;
    let missing = |field| UpstreamError::BadAnswer(format!("page views without {field}"));
    let totals = &value["totals"];
    if !totals.is_object() {
        return Err(missing("totals"));
    }
    let rows = value["views"].as_array().ok_or_else(|| missing("views"))?;
    let has_more = value["hasMore"].as_bool().ok_or_else(|| missing("hasMore"))?;
    let mut counter = Counter::default();
    let totals = counter.counts(totals);
    let views: Vec<PageViews> = rows
        .iter()
        .filter_map(|row| {
            let path = text(&row["path"])?;
            let ViewCounts { human, ai, total } = counter.counts(row);
            Some(PageViews { path, human, ai, total })
        })
        .collect();
    let corrected = counter.corrected() || views.len() < rows.len();
    Ok(PageViewsResponse { totals, views, has_more, corrected })
}

/// The message in an error body, in either shape: `{"error"}` or `{"error", "details": [{"message"}]}`.
pub fn error_message(body: &[u8]) -> Option<String> {
    let value = json::json(body)?;
    let details = value["details"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = std::iter::once(text(&value["error"]))
        .chain(details.iter().take(MAX_DETAILS).map(|detail| text(&detail["message"])))
        .flatten()
        .collect();
    (!texts.is_empty()).then(|| texts.join("; ").chars().take(TEXT_MAX_CHARS).collect())
}

fn value_in(body: &[u8]) -> Result<Value, UpstreamError> {
    json::json(body).ok_or_else(|| UpstreamError::BadAnswer("not JSON".to_owned()))
}

/// A complete id that is a valid path segment. `.` and `..` would change the path of a request, and URLs have no tabs and line ends: without them,
/// the id would name another job. So would a truncated id, or one with replaced characters.
fn id(value: &Value) -> Result<String, UpstreamError> {
    let unusable = |what: &str| Err(UpstreamError::BadAnswer(format!("a job {what}")));
    if value.as_str().is_some_and(|id| id.chars().nth(TEXT_MAX_CHARS).is_some()) {
        return unusable("whose id is too long");
    }
    match text(value) {
        None => unusable("without an id"),
        Some(id) if id.contains(char::is_control) || id.contains(char::REPLACEMENT_CHARACTER) => {
            unusable("whose id has control characters")
        }
        Some(id) if id == "." || id == ".." => unusable("whose id is no part of a URL"),
        Some(id) => Ok(id),
    }
}

/// A non-empty text without NUL characters, which PostgreSQL refuses. Numbers are converted to their digits.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => {
            let without =
                text.chars().map(|char| if char == '\0' { char::REPLACEMENT_CHARACTER } else { char });
            Some(without.take(TEXT_MAX_CHARS).collect())
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
