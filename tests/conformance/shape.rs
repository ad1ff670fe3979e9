//! The specified shapes of a job, a page-view response and an error.

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Iso8601;
use url::Url;

use crate::report::{Finding, ensure};
use crate::upstream::TestResponse;

/// Checks the status, and that the body is JSON.
pub(crate) fn answered(response: &TestResponse, statuses: &[u16]) -> Finding {
    ensure(statuses.contains(&response.status), || {
        format!("status {} and not {statuses:?}", response.status)
    })?;
    let content_type = response.headers.get("content-type").map(|value| value.to_str().unwrap_or_default());
    ensure(content_type.is_some_and(|it| it.contains("json")), || format!("content type {content_type:?}"))?;
    ensure(response.body.is_some(), || "the body is no JSON".to_owned())
}

/// An error of the agent operations: `{"error": "..."}`.
pub(crate) fn agent_error(response: &TestResponse) -> Finding {
    text(&response.json(), "error")
}

/// An error of analytics: `{"error": "...", "details": [{"message": "..."}]}`.
pub(crate) fn analytics_error(response: &TestResponse) -> Finding {
    let body = response.json();
    text(&body, "error")?;
    let details = body["details"].as_array();
    let details = details.ok_or_else(|| format!("details is {} and no list", body["details"]))?;
    details.iter().try_for_each(|detail| text(detail, "message"))
}

pub(crate) fn text(body: &Value, field: &str) -> Finding {
    let value = &body[field];
    ensure(value.as_str().is_some_and(|text| !text.is_empty()), || format!("{field} is {value} and no text"))
}

pub(crate) fn text_or_null(body: &Value, field: &str) -> Finding {
    if present(body, field)?.is_null() { Ok(()) } else { text(body, field) }
}

pub(crate) fn instant(body: &Value, field: &str) -> Finding {
    let value = &body[field];
    let parsed = value.as_str().map(|text| OffsetDateTime::parse(text, &Iso8601::PARSING));
    ensure(matches!(parsed, Some(Ok(_))), || format!("{field} is {value} and no ISO 8601 instant"))
}

/// Whether one instant is not before the other.
pub(crate) fn not_before(body: &Value, field: &str, earlier: &str) -> Finding {
    let at = |field: &str| {
        body[field].as_str().and_then(|text| OffsetDateTime::parse(text, &Iso8601::PARSING).ok())
    };
    ensure(at(field).is_some() && at(field) >= at(earlier), || format!("{field} is {}", body[field]))
}

pub(crate) fn url_or_null(body: &Value, field: &str) -> Finding {
    let value = present(body, field)?;
    let link = value.as_str().and_then(|text| Url::parse(text).ok());
    let is_link = link.is_some_and(|link| ["http", "https"].contains(&link.scheme()));
    ensure(value.is_null() || is_link, || format!("{field} is {value}, neither a URL nor null"))
}

/// `human`, `ai` and `total` are non-negative whole numbers, in any notation.
pub(crate) fn counts(row: &Value) -> Finding {
    ["human", "ai", "total"].iter().try_for_each(|field| count(row, field).map(drop))
}

/// No view is counted twice.
pub(crate) fn adds_up(row: &Value) -> Finding {
    let (human, ai, total) = (count(row, "human")?, count(row, "ai")?, count(row, "total")?);
    ensure(human + ai == total, || format!("{human} human and {ai} ai are not {total}"))
}

pub(crate) fn count(row: &Value, field: &str) -> Result<f64, String> {
    let count = row[field].as_f64().filter(|count| *count >= 0.0 && count.fract() == 0.0);
    count.ok_or_else(|| format!("{field} is {} and no count", row[field]))
}

fn present<'a>(body: &'a Value, field: &str) -> Result<&'a Value, String> {
    body.get(field).ok_or_else(|| format!("{field} is missing"))
}
