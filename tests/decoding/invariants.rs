//! Invariants of every upstream response, for any bytes. The tests of this folder assert them on generated and
//! stored responses, and so do the fuzz targets.

use clients::upstream::client::below;
use clients::upstream::decode::{self, LARGEST_COUNT, PageViewsResponse, TEXT_MAX_CHARS};
use model::job::{DeliveryState, JobState, RemoteJob, status_of_upstream};
use model::page_views::{PageViews, ViewCounts};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

/// Fields of a job that may be missing, null or anything.
pub const OPTIONAL_FIELDS: [&str; 7] =
    ["status", "source", "model", "prLink", "createdAt", "archivedAt", "news"];

/// A job with every field.
pub fn full_job() -> Value {
    json!({
        "id": "job_1", "status": "completed", "source": {"repository": "acme/docs", "ref": "main"},
        "model": "m-1", "prLink": "https://git.example/1", "createdAt": "2026-11-21T10:00:00.250+01:00",
        "archivedAt": null, "news": [1, 2],
    })
}

/// Decodes bytes as a job and, if they are JSON, uses them as its optional fields.
pub fn job(bytes: &[u8]) {
    let response = serde_json::from_slice::<Value>(bytes);
    match (decode::job(bytes), &response) {
        (Ok(job), Ok(response)) => {
            assert!(has_an_id(&response["id"]), "a job out of nothing");
            is_sound(&job, response);
        }
        (Err(error), response) => {
            assert!(error.may_have_been_accepted(), "a broken response does not show the outcome");
            assert!(
                response.as_ref().map_or(true, |response| !has_an_id(&response["id"])),
                "a job was refused"
            );
        }
        // The decoder has repaired what this test's JSON parser rejects.
        (Ok(job), Err(_)) => has_sound_texts(&job),
    }
    if let Ok(value) = response {
        a_job_whatever_its_fields_are(&value);
    }
    if let Ok(text) = str::from_utf8(bytes) {
        a_job_whatever_its_fields_are(&json!(text));
    }
}

/// A job with an id is valid, whatever all its other fields are.
fn a_job_whatever_its_fields_are(value: &Value) {
    let mut response = full_job();
    for field in OPTIONAL_FIELDS {
        response[field] = value.clone();
    }
    let job = decode::job(response.to_string().as_bytes()).expect("a job with an id");
    assert_eq!(job.id, "job_1");
    is_sound(&job, &response);
}

/// Whether an id can be used in a request.
fn has_an_id(id: &Value) -> bool {
    let whole = |id: &str| {
        let segment = !matches!(id, "" | "." | "..");
        let plain = !id.contains(char::is_control) && !id.contains(char::REPLACEMENT_CHARACTER);
        segment && plain && id.chars().count() <= TEXT_MAX_CHARS
    };
    id.is_number() || id.as_str().is_some_and(whole)
}

fn is_sound(job: &RemoteJob, response: &Value) {
    if let Some(id) = response["id"].as_str() {
        assert_eq!(job.id, id);
    }
    match response["status"].as_str().filter(|status| !status.is_empty()) {
        Some(status) => {
            let stored: String = status.chars().take(TEXT_MAX_CHARS).collect();
            assert_eq!(job.status, status_of_upstream(stored.replace('\0', "\u{fffd}")));
        }
        None => assert!(!job.status.is_empty()),
    }
    let published = ["active", "completed", "archived", "failed"].contains(&job.status.as_str());
    let state = JobState::of(DeliveryState::Accepted, Some(&job.status));
    assert_eq!(state == JobState::Other, !published, "{}", job.status);
    has_sound_texts(job);
}

fn has_sound_texts(job: &RemoteJob) {
    assert!(has_an_id(&json!(job.id)) && !job.status.is_empty());
    is_requested_by_its_id(&job.id);
    for text in [&job.model, &job.repository, &job.git_ref, &job.pr_link].into_iter().flatten() {
        assert!(!text.is_empty() && text.chars().count() <= TEXT_MAX_CHARS);
    }
    // The model round-trips through its serialization.
    let wire = serde_json::to_string(job).expect("a job can be written");
    assert_eq!(&serde_json::from_str::<RemoteJob>(&wire).expect("and read"), job);
}

/// A request about the job names exactly its id, as the only new part of the path.
fn is_requested_by_its_id(id: &str) {
    let base = "https://platform.test/prefix/".parse().expect("a URL");
    let url = below(&base, &["v2", "agent", "docs", "job", id, "message"]);
    let segments: Vec<_> =
        url.path_segments().expect("a path").map(|it| percent_decode_str(it).decode_utf8_lossy()).collect();
    assert_eq!(segments, ["prefix", "v2", "agent", "docs", "job", id, "message"], "{url}");
}

/// Decodes bytes as page views and, if they are JSON, uses them as a row and as totals.
pub fn views(bytes: &[u8]) {
    let response = serde_json::from_slice::<Value>(bytes);
    match (decode::page_views(bytes), &response) {
        (Ok(views), Ok(response)) => are_sound(&views, response),
        (Err(_), response) => {
            let usable = response.as_ref().is_ok_and(|response| {
                response["totals"].is_object()
                    && response["views"].is_array()
                    && response["hasMore"].is_boolean()
            });
            assert!(!usable, "page views were refused");
        }
        (Ok(views), Err(_)) => have_sound_counts(&views),
    }
    if let Ok(value) = response {
        views_whatever_a_figure_is(&value);
    }
}

/// An invalid value affects only itself, never the whole response.
fn views_whatever_a_figure_is(value: &Value) {
    let counts = json!({"human": 1, "ai": 2, "total": 3});
    let row = json!({"path": "/a", "human": value, "ai": value, "total": value});
    for (totals, row) in [(&counts, value), (&counts, &row), (&row, &counts)] {
        let text = json!({"totals": totals, "views": [row], "hasMore": false}).to_string();
        // Parsed again: a float with many digits may be rounded.
        let response = serde_json::from_str(&text).expect("JSON");
        let views = decode::page_views(text.as_bytes()).expect("page views with all that is required");
        are_sound(&views, &response);
    }
}

fn are_sound(views: &PageViewsResponse, response: &Value) {
    let rows = response["views"].as_array().expect("rows");
    assert_eq!(Some(views.has_more), response["hasMore"].as_bool());
    assert!(views.views.len() <= rows.len());
    have_sound_counts(views);
    if !views.corrected {
        assert_eq!(views.views.len(), rows.len(), "a row was skipped without a mark");
        are_as_sent(views.totals, &response["totals"]);
        views.views.iter().zip(rows).for_each(|(views, row)| are_as_sent(views.counts(), row));
    }
}

fn have_sound_counts(views: &PageViewsResponse) {
    for counts in views.views.iter().map(PageViews::counts).chain([views.totals]) {
        let ViewCounts { human, ai, total } = counts;
        assert!(human.max(ai).max(total) <= LARGEST_COUNT, "{counts:?}");
    }
}

fn are_as_sent(counts: ViewCounts, row: &Value) {
    for (name, count) in [("human", counts.human), ("ai", counts.ai), ("total", counts.total)] {
        assert_eq!(row[name].as_f64(), Some(count as f64), "{name} was changed without a mark");
    }
}

/// Decodes bytes as an error body.
pub fn error_message(bytes: &[u8]) {
    if let Some(message) = decode::error_message(bytes) {
        assert!(!message.is_empty() && message.chars().count() <= TEXT_MAX_CHARS);
    }
}
