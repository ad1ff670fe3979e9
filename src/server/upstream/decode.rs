//! From the upstream's JSON to the model, tolerantly: an unknown field, a missing optional one, a `null`, a
//! value of an unexpected type or a `12.0` never makes an answer unusable. Only what makes a thing that thing
//! is required: a job's `id`; the rows and totals of page views.

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Iso8601;

use super::UpstreamError;
use crate::model::job::RemoteJob;
use crate::model::time::Timestamp;
use crate::model::views::{PageViews, ViewCounts};

/// The upstream's answer about page views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewsAnswer {
    pub totals: ViewCounts,
    pub views: Vec<PageViews>,
    pub has_more: bool,
}

/// The longest text taken from a field; what is longer is cut.
const TEXT_MAX_CHARS: usize = 2_000;

/// An agent job. Required: an object with an `id`.
pub fn job(body: &[u8]) -> Result<RemoteJob, UpstreamError> {
    let value = json(body)?;
    // These two are no segments of a path: a request for such a job would go to another address.
    let id = text(&value["id"]).filter(|id| id != "." && id != "..");
    let id = id.ok_or_else(|| UpstreamError::BadAnswer("a job without an id".to_owned()))?;
    Ok(RemoteJob {
        id,
        status: text(&value["status"]).unwrap_or_else(|| "(no status)".to_owned()),
        model: text(&value["model"]),
        repository: text(&value["source"]["repository"]),
        git_ref: text(&value["source"]["ref"]),
        pr_link: text(&value["prLink"]),
        created_at: instant(&value["createdAt"]),
        archived_at: instant(&value["archivedAt"]),
    })
}

/// Page views. Required: `totals`, `views` and `hasMore`; a row without a path is left out.
pub fn views(body: &[u8]) -> Result<ViewsAnswer, UpstreamError> {
    let value = json(body)?;
    let missing = |field| UpstreamError::BadAnswer(format!("page views without {field}"));
    let totals = value["totals"].as_object().ok_or_else(|| missing("totals"))?;
    let rows = value["views"].as_array().ok_or_else(|| missing("views"))?;
    Ok(ViewsAnswer {
        totals: counts(&Value::Object(totals.clone())),
        views: rows
            .iter()
            .filter_map(|row| {
                let ViewCounts { human, ai, total } = counts(row);
                Some(PageViews { path: text(&row["path"])?, human, ai, total })
            })
            .collect(),
        has_more: value["hasMore"].as_bool().ok_or_else(|| missing("hasMore"))?,
    })
}

/// The explanation in an error body, in either of its shapes: `{"error"}` or `{"error", "details": [{"message"}]}`.
pub fn error_message(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let details = value["details"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = std::iter::once(text(&value["error"]))
        .chain(details.iter().map(|detail| text(&detail["message"])))
        .flatten()
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn json(body: &[u8]) -> Result<Value, UpstreamError> {
    serde_json::from_slice(body).map_err(|_| UpstreamError::BadAnswer("not JSON".to_owned()))
}

/// A text that is not empty; a number is taken as its digits.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.chars().take(TEXT_MAX_CHARS).collect()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn instant(value: &Value) -> Option<Timestamp> {
    let at = OffsetDateTime::parse(value.as_str()?, &Iso8601::PARSING).ok()?;
    Some(Timestamp::from_datetime(at))
}

/// Counts; a missing total is the sum, anything that is not a count is 0.
fn counts(row: &Value) -> ViewCounts {
    let (human, ai) = (count(&row["human"]).unwrap_or(0), count(&row["ai"]).unwrap_or(0));
    ViewCounts { human, ai, total: count(&row["total"]).unwrap_or(human.saturating_add(ai)) }
}

/// A count as an integer or as `12.0`; below 0 it is 0, above the largest safe integer it is that.
fn count(value: &Value) -> Option<u64> {
    const LARGEST: u64 = 1 << 53;
    match value.as_u64() {
        Some(count) => Some(count.min(LARGEST)),
        None => value.as_f64().map(|count| count.clamp(0.0, LARGEST as f64).round() as u64),
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
