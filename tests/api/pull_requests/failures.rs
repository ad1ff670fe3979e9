//! Failures and hostile responses of the code host leave the last known state, and do not affect other pull requests.

use std::time::Duration;

use serde_json::Value;
use wiremock::ResponseTemplate;

use super::{Tracked, tracked};
use crate::helpers::code_host::{TOKEN, open_pull_request};
use crate::helpers::{Browser, json, leaks, secrets_in, until};

/// The code host sends `response` until its status `is_reported`. The pull request has its last known state then, and is checked again afterwards.
async fn assert_unchanged(
    tracked: &Tracked,
    admin: &Browser,
    job: &str,
    what: &str,
    response: ResponseTemplate,
    is_reported: impl Fn(&Value) -> bool,
) {
    let before = tracked.request_of(job).await;
    tracked.host.respond_instead(Some(response));
    // Longer than any pause after failures.
    tracked.wait_minutes(30);
    until(what, async || {
        let status = admin.post_json("/api/upstream/status", &[]).await;
        is_reported(&status["code_hosts"][0]).then_some(())
    })
    .await;
    let mut after = tracked.request_of(job).await;
    // A response to one request may concern this pull request alone.
    after.as_object_mut().unwrap().remove("failure");
    assert_eq!(after, before, "{what}");
    tracked.host.respond_instead(None);
    tracked.wait_minutes(30);
    let expected = json!(tracked.clock.now());
    tracked.until(job, "checked_at", expected).await;
}

#[tokio::test]
async fn failures_leave_the_last_known_state() {
    let tracked = tracked().await;
    let admin = tracked.app.sign_in("ada").await;
    let (job, _) = tracked.open_job(1).await;
    let limited = |status: u16, name: &str, value: &str| {
        ResponseTemplate::new(status).insert_header(name, value).set_body_json(json!({ "message": "limit" }))
    };
    for (what, response, message) in [
        ("401", ResponseTemplate::new(401), "401"),
        ("403", ResponseTemplate::new(403).set_body_json(json!({ "message": "Forbidden" })), "403"),
        ("404", ResponseTemplate::new(404), "404"),
        ("410", ResponseTemplate::new(410), "410"),
        ("451", ResponseTemplate::new(451), "451"),
        ("500", ResponseTemplate::new(500), "500"),
        ("502 with HTML", ResponseTemplate::new(502).set_body_string("<html>"), "502"),
        ("HTML", ResponseTemplate::new(200).set_body_string("<html>"), "could not be used"),
        ("no data", ResponseTemplate::new(200).set_body_json(json!({ "data": null })), "could not be used"),
    ] {
        let is_reported =
            |host: &Value| host["failure"]["message"].as_str().unwrap_or_default().contains(message);
        assert_unchanged(&tracked, &admin, &job, what, response, is_reported).await;
    }
    for (what, response) in [
        ("429", limited(429, "retry-after", "600")),
        ("403 with a limit", limited(403, "retry-after", "600")),
        (
            "403 with a secondary limit",
            ResponseTemplate::new(403).set_body_string("You have exceeded a secondary rate limit"),
        ),
    ] {
        let is_limited = |host: &Value| host["paused_until"].is_string() && host["failure"].is_null();
        assert_unchanged(&tracked, &admin, &job, what, response, is_limited).await;
    }
}

#[tokio::test]
async fn unreachable_code_host_leaves_the_last_known_state() {
    let tracked = tracked().await;
    let (job, before) = tracked.open_job(1).await;
    let Tracked { app, host, clock, browser } = tracked;
    drop(host);
    clock.advance(Duration::from_secs(6 * 60));
    let admin = app.sign_in("ada").await;
    until("the host is unreachable", async || {
        let status = admin.post_json("/api/upstream/status", &[]).await;
        let failure = status["code_hosts"][0]["failure"]["message"].as_str().unwrap_or_default().to_owned();
        failure.contains("could not be reached").then_some(())
    })
    .await;
    assert_eq!(browser.job(&json!({ "id": job })).await["pull_request"], before);
    let page = browser.get(&format!("/p/docs/jobs/{job}")).await.text;
    assert!(page.contains("#1") && page.contains("Last checked"), "{page}");
}

#[tokio::test]
async fn response_containing_the_token_is_not_shown() {
    let tracked = tracked().await;
    let (job, _) = tracked.open_job(1).await;
    let admin = tracked.app.sign_in("ada").await;
    for status in [200, 401, 403, 404, 500] {
        let response = ResponseTemplate::new(status)
            .set_body_json(json!({ "message": format!("Bearer {TOKEN}"), "errors": [{ "message": TOKEN, "type": TOKEN }] }))
            .insert_header("x-echo", TOKEN);
        tracked.host.respond_instead(Some(response));
        let before = tracked.host.queries().await.len();
        tracked.wait_minutes(30);
        until("the host is queried", async || (tracked.host.queries().await.len() > before).then_some(()))
            .await;
        // The client of a test checks each of its responses for secrets.
        tracked.browser.page(&format!("/p/docs/jobs/{job}")).await;
        tracked.browser.page("/p/docs/reviews").await;
        admin.page("/admin/upstream").await;
        assert_eq!(secrets_in(&tracked.app.database_dump().await), Vec::<&str>::new(), "{status}");
        assert_eq!(leaks(), Vec::<String>::new(), "{status}");
    }
}

#[tokio::test]
async fn hostile_text_of_the_code_host_is_limited_and_escaped() {
    let tracked = tracked().await;
    let files: Vec<Value> = (0..1_000)
        .map(|at| json!({ "path": format!("<script>alert({at})</script>\u{202e}{}", "x".repeat(2_000)) }))
        .collect();
    let reviewers: Vec<Value> = (0..500)
        .map(|at| json!({ "requestedReviewer": { "login": format!("<img src=x onerror=alert({at})>{}", "y".repeat(2_000)) } }))
        .collect();
    tracked.host.set(1, open_pull_request());
    tracked.host.change(
        1,
        &json!({
            "files": { "nodes": files }, "reviewRequests": { "nodes": reviewers },
            "createdAt": "9999999-01-01T00:00:00Z", "changedFiles": i64::MAX, "mergeable": "<b>",
        }),
    );
    let job = tracked.job(1).await;
    let request = tracked.until(&job, "state", json!("open")).await;
    assert!(request.to_string().len() < 200_000, "{}", request.to_string().len());
    for path in [
        format!("/p/docs/jobs/{job}"),
        "/p/docs/reviews".to_owned(),
        "/p/docs".to_owned(),
        "/p/docs/jobs".to_owned(),
    ] {
        let page = tracked.browser.page(&path).await;
        assert!(!page.contains("<script>alert") && !page.contains("<img src=x"), "{path}: {page}");
        assert!(page.len() < 400_000, "{path}: {}", page.len());
    }
}

#[tokio::test]
async fn missing_pull_request_affects_no_other() {
    let tracked = tracked().await;
    for number in [1, 2, 3] {
        tracked.host.set(number, open_pull_request());
    }
    let jobs = [tracked.job(1).await, tracked.job(2).await, tracked.job(3).await];
    for job in &jobs {
        tracked.until(job, "state", json!("open")).await;
    }
    tracked.host.remove(2);
    tracked.host.change(3, &json!({ "state": 7 }));
    tracked.wait_minutes(7);
    let missing = tracked.until(&jobs[1], "failure", json!("missing")).await;
    assert_eq!((&missing["state"], &missing["checked_at"]), (&json!("open"), &json!("2026-11-21T10:00:00Z")));
    tracked.until(&jobs[2], "failure", json!("unusable")).await;
    let other = tracked.request_of(&jobs[0]).await;
    assert_eq!((&other["failure"], &other["checked_at"]), (&Value::Null, &json!("2026-11-21T10:07:00Z")));
}

#[tokio::test]
async fn checks_without_permission_are_not_readable() {
    let tracked = tracked().await;
    tracked.host.set(1, open_pull_request());
    tracked.host.change(1, &json!({ "commits": { "nodes": [{ "commit": { "statusCheckRollup": null } }] } }));
    let path = ["p0", "pullRequest", "commits", "nodes", "0", "commit", "statusCheckRollup"];
    tracked
        .host
        .set_errors(vec![json!({ "type": "FORBIDDEN", "path": path, "message": "Resource not accessible" })]);
    let job = tracked.job(1).await;
    let request = tracked.until(&job, "state", json!("open")).await;
    assert_eq!(request["checks"], "unreadable");
    let page = tracked.browser.get(&format!("/p/docs/jobs/{job}")).await.text;
    assert!(page.contains("Not readable with this token"), "{page}");
}
