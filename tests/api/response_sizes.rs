//! Every JSON response is limited, however long the stored texts and lists are: whole bodies have at most 1 MiB and a cursor for the
//! rest, and larger ones are streamed under a permit.

mod filled;
mod unread;

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::Value;
use service::response_size::{FREE_MAX_BYTES, WHOLE_MAX_BYTES};

use crate::gate::endpoints;
use crate::helpers::{Browser, TestApp, TestResponse, json, until};
use filled::{Filled, JOBS, PEOPLE, REQUESTS, TEMPLATES, TOKENS, VIEWS};

/// They end the session that calls them.
const SIGN_OUT: [&str; 2] = ["/api/session/logout", "/api/account/sign-out-others"];

/// An endpoint, the batch that is requested, the list in its answer, and the number of items.
type List<'a> = (&'static str, &'a str, &'static str, usize);

/// The endpoints with a list that needs several bodies.
fn lists(filled: &Filled) -> [List<'_>; 9] {
    [
        ("/api/jobs/list", "", "/jobs", JOBS),
        ("/api/templates/list", "", "", TEMPLATES),
        ("/api/saved-views/list", "", "", VIEWS),
        ("/api/users/list", "", "/people", PEOPLE),
        ("/api/queue/list", "", "/waiting", filled.stored.queued),
        ("/api/batches/get", &filled.stored.prepared_batch, "/preview", 200),
        ("/api/batches/get", &filled.stored.started_batch, "/jobs", 200),
        ("/api/pull-requests/reviews", "", "/groups/0/jobs", REQUESTS),
        ("/api/tokens/all", "", "", TOKENS),
    ]
}

#[tokio::test]
async fn every_response_is_limited_whatever_is_stored() {
    let filled = filled::app().await;
    let ada = &filled.ada;
    let mut large = BTreeSet::new();
    let is_kept = |endpoint: &&str| !SIGN_OUT.contains(endpoint) && !endpoint.starts_with("/api/session/");
    // In this order, the jobs of the batch are cancelled before notifications are listed, and nothing is removed before it is listed.
    for endpoint in endpoints().into_iter().filter(is_kept) {
        for batch in [&filled.stored.prepared_batch, &filled.stored.started_batch] {
            let mut fields = filled.fields(batch);
            if endpoint == "/api/jobs/list" {
                // All jobs.
                fields.retain(|(name, _)| !["from", "to"].contains(name));
            }
            let response = unless_busy(async || ada.post(endpoint, &fields).await).await;
            assert!(response.status < 500, "{endpoint}: {} {:.300}", response.status, response.text);
            assert!(response.bytes.len() <= WHOLE_MAX_BYTES, "{endpoint}: {}", response.bytes.len());
            if response.bytes.len() > FREE_MAX_BYTES {
                large.insert(endpoint);
            }
        }
    }
    for endpoint in [
        "/api/analytics/views",
        "/api/batches/get",
        "/api/jobs/get",
        "/api/jobs/list",
        "/api/jobs/overview",
        "/api/notifications/list",
        "/api/pull-requests/reviews",
        "/api/saved-views/list",
        "/api/templates/list",
        "/api/users/list",
    ] {
        assert!(large.contains(endpoint), "{endpoint} is small: the database is not full");
    }
}

#[tokio::test]
async fn cursors_lead_through_lists_that_exceed_one_body() {
    let filled = filled::app().await;
    for (endpoint, batch, list, items) in lists(&filled) {
        let (mut found, mut parts, mut cursor) = (Vec::new(), 0, String::new());
        loop {
            let pairs = [("project", "docs"), ("cursor", cursor.as_str()), ("batch", batch)];
            let response = unless_busy(async || filled.ada.post(endpoint, &pairs).await).await;
            assert_eq!(response.status, 200, "{endpoint}: {:.300}", response.text);
            assert!(response.bytes.len() <= WHOLE_MAX_BYTES, "{endpoint}: {}", response.bytes.len());
            let part = response.json();
            found.extend(part.pointer(list).unwrap().as_array().unwrap().iter().map(ToString::to_string));
            parts += 1;
            match next(&response, &part) {
                Some(next) => cursor = next,
                None => break,
            }
        }
        let distinct: BTreeSet<&String> = found.iter().collect();
        assert_eq!((found.len(), distinct.len()), (items, items), "{endpoint}");
        assert!(parts > 1 || endpoint == "/api/tokens/all", "{endpoint} has one part");
    }
}

/// The cursor of the rest.
fn next(response: &TestResponse, part: &Value) -> Option<String> {
    let header = Some(response.header("docket-next").to_owned()).filter(|next| !next.is_empty());
    header.or_else(|| Some(part.get("next")?.as_str()?.to_owned()))
}

#[tokio::test]
async fn job_with_long_follow_ups_is_read_part_by_part() {
    let filled = filled::with_long_job().await;
    let (mut count, mut before) = (0, String::new());
    loop {
        let mut pairs = vec![("project", "docs"), ("job", filled.stored.long_job.as_str())];
        if !before.is_empty() {
            pairs.push(("before", before.as_str()));
        }
        let response = unless_busy(async || filled.ada.post("/api/jobs/get", &pairs).await).await;
        assert!(response.status == 200 && response.bytes.len() <= WHOLE_MAX_BYTES, "{}", response.status);
        let job = response.json();
        count += job["follow_ups"].as_array().unwrap().len();
        let earlier = job["earlier_follow_ups"].as_u64().unwrap_or_default();
        if earlier == 0 {
            break;
        }
        before = (earlier + 1).to_string();
    }
    assert_eq!(count, filled.stored.follow_ups);
    // The JSON API streams all of them.
    let response = filled.script(&format!("/projects/docs/jobs/{}", filled.stored.long_job)).await;
    let job = response.json();
    assert_eq!(job["follow_ups"].as_array().unwrap().len(), filled.stored.follow_ups);
    assert!(response.bytes.len() > 10 * WHOLE_MAX_BYTES, "{} bytes", response.bytes.len());
    let prompts: BTreeSet<&str> =
        job["follow_ups"].as_array().unwrap().iter().map(|it| it["prompt"].as_str().unwrap()).collect();
    assert_eq!(prompts.len(), filled.stored.follow_ups, "a follow-up is there twice");
}

#[tokio::test]
async fn long_responses_of_the_json_api_are_complete() {
    let filled = filled::app().await;
    let description: Value = filled.script("/openapi.json").await.json();
    let mut streamed = BTreeSet::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        if item.get("get").is_none() {
            continue;
        }
        let path = path.replace("{project}", "docs").replace("{job}", &filled.stored.long_job);
        let path = path.replace("{batch}", &filled.stored.started_batch);
        let path = path.strip_prefix("/api/v1").unwrap();
        let is_list = path.ends_with("/jobs");
        let range = format!("{path}?from=2026-11-20&to=2026-11-20&limit=250");
        let path = match path {
            _ if is_list => format!("{path}?limit=100"),
            _ if path.ends_with("/page-views") => range,
            _ => path.to_owned(),
        };
        let response = filled.script(&path).await;
        assert_eq!(response.status, 200, "{path}: {:.300}", response.text);
        response.json();
        let is_streamed = response.header("content-length").is_empty();
        assert!(is_streamed || response.bytes.len() <= FREE_MAX_BYTES, "{path} is built as a whole");
        if response.bytes.len() > FREE_MAX_BYTES {
            streamed.insert(
                path.split(['?', '/']).rfind(|part| !part.contains('=')).unwrap_or_default().to_owned(),
            );
        }
    }
    let ids = [filled.stored.long_job.as_str(), filled.stored.started_batch.as_str()];
    let expected = ["jobs", "page-views", "pull-requests", "templates"].into_iter().chain(ids);
    assert_eq!(streamed, expected.map(str::to_owned).collect());
}

#[tokio::test]
async fn tools_end_lists_early_with_text_and_content_together() {
    let filled = filled::app().await;
    let (mut jobs, mut cursor, mut calls) = (BTreeSet::new(), Value::Null, 0);
    loop {
        let found =
            filled.tool("list_jobs", json!({"project": "docs", "limit": 100, "cursor": cursor})).await;
        jobs.extend(found["jobs"].as_array().unwrap().iter().map(|job| job["id"].to_string()));
        calls += 1;
        cursor = found["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(jobs.len() == JOBS && calls > JOBS / 100 + 1, "{} jobs in {calls} calls", jobs.len());
    let (mut follow_ups, mut before) = (0, Value::Null);
    loop {
        let arguments =
            json!({"project": "docs", "job": filled.stored.long_job, "follow_ups_before": before});
        let job = filled.tool("get_job", arguments).await;
        follow_ups += job["follow_ups"].as_array().unwrap().len();
        let earlier = job["earlier_follow_ups"].as_u64().unwrap();
        if earlier == 0 {
            break;
        }
        before = json!(earlier + 1);
    }
    assert_eq!(follow_ups, filled.stored.follow_ups);
    let (mut rows, mut offset) = (0, Value::from(0));
    while !offset.is_null() {
        let days = json!({"project": "docs", "from": "2026-11-20", "to": "2026-11-20", "limit": 250, "offset": offset});
        let page = filled.tool("page_views", days).await;
        rows += page["rows"].as_array().unwrap().len();
        offset = page["next_offset"].clone();
    }
    assert_eq!(rows, filled::PAGES);
}

impl Filled {
    /// The response to a script of olga's.
    async fn script(&self, path: &str) -> TestResponse {
        let client = self.app.anonymous();
        let path = format!("/api/v1{path}");
        unless_busy(async || client.send(client.request(Method::GET, &path).bearer_auth(self.token())).await)
            .await
    }

    /// The structured content of a tool's result, whose body is at most 1 MiB.
    async fn tool(&self, name: &str, arguments: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
        let client: Browser = self.app.anonymous();
        let send = async || {
            let request = client.request(Method::POST, "/mcp").bearer_auth(self.token());
            let request = request.header("accept", "application/json, text/event-stream");
            client.send(request.header("mcp-protocol-version", "2025-06-18").json(&message)).await
        };
        let response = unless_busy(send).await;
        assert_eq!(response.status, 200, "{name}: {:.300}", response.text);
        assert!(response.bytes.len() <= WHOLE_MAX_BYTES, "{name}: {} bytes", response.bytes.len());
        let mut result = response.json()["result"].take();
        assert_ne!(result["isError"], true, "{name}: {:.300}", response.text);
        result["structuredContent"].take()
    }
}

/// The response, from a machine that may be busy with other tests.
async fn unless_busy(mut send: impl AsyncFnMut() -> TestResponse) -> TestResponse {
    until("Docket is not busy", async || Some(send().await).filter(|response| response.status != 503)).await
}

/// The id of an app's user.
async fn id_of(app: &TestApp, name: &str) -> String {
    app.state().store.user_by_name(name).await.unwrap().unwrap().id
}
