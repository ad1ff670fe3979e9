//! Pauses of a code host: what causes one, how long it lasts, and what is shown.

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use super::connections::tracked_as_app;
use super::{NOW, Tracked, tracked};
use crate::helpers::code_host::{dated, open_pull_request};
use crate::helpers::{json, picked, until};

impl Tracked {
    /// The status of the connection, as administrators see it.
    async fn host_status(&self) -> Value {
        let admin = self.app.sign_in("ada").await;
        admin.post_json("/api/upstream/status", &[]).await["code_hosts"][0].clone()
    }

    async fn until_paused(&self, what: &str) -> Value {
        until(what, async || {
            let status = self.host_status().await;
            status["paused_until"].is_string().then_some(status)
        })
        .await
    }

    async fn administration(&self) -> String {
        self.app.sign_in("ada").await.get("/admin/upstream").await.text
    }
}

#[tokio::test]
async fn two_different_failures_pause_the_host() {
    let tracked = tracked().await;
    tracked.host.spoil(1, Some(ResponseTemplate::new(500)));
    tracked.host.spoil(2, Some(ResponseTemplate::new(500)));
    let first = tracked.job(1).await;
    tracked.until(&first, "failure", json!("unusable")).await;
    let status = tracked.host_status().await;
    assert_eq!(status["paused_until"], Value::Null, "{status}");
    assert_eq!(status["failure"]["message"], "acme/docs#1: it failed (500)", "{status}");
    tracked.job(2).await;
    let status = tracked.until_paused("two failed").await;
    insta::assert_compact_json_snapshot!(picked(&status, ["pause_reason", "paused_until"]), @r#"{"pause_reason": "failing", "paused_until": "2026-11-21T10:00:30Z"}"#);
    assert!(tracked.administration().await.contains("Failing"));
    // Another one is checked after the pause, and shows that the host works.
    tracked.host.set(3, open_pull_request());
    let third = tracked.job(3).await;
    tracked.wait_minutes(1);
    tracked.until(&third, "state", json!("open")).await;
    let status = tracked.host_status().await;
    assert_eq!((&status["paused_until"], &status["failure"]), (&Value::Null, &Value::Null), "{status}");
}

#[tokio::test]
async fn refused_token_pauses_the_host_at_once() {
    let tracked = tracked().await;
    tracked.host.respond_instead(Some(ResponseTemplate::new(401)));
    tracked.job(1).await;
    let status = tracked.until_paused("the token is refused").await;
    assert_eq!(status["pause_reason"], "no_access", "{status}");
    assert!(tracked.administration().await.contains("No access"));
}

#[tokio::test]
async fn limit_with_an_odd_end_is_a_short_pause() {
    let reset = NOW.as_millis() / 1_000 + 1_200;
    for (text, until) in [
        ("soon".to_owned(), "2026-11-21T10:01:00Z"),
        ("0".to_owned(), "2026-11-21T10:01:00Z"),
        (format!("{reset}000"), "2026-11-21T10:20:00Z"),
        ("99999999999999".to_owned(), "2026-11-21T11:00:00Z"),
    ] {
        let tracked = tracked().await;
        tracked.host.set(1, open_pull_request());
        tracked.host.set_clock(tracked.clock.clone(), 0);
        tracked.host.set_headers(&[
            ("x-ratelimit-limit", "5000".to_owned()),
            ("x-ratelimit-remaining", "0".to_owned()),
            ("x-ratelimit-reset", text.clone()),
        ]);
        let job = tracked.job(1).await;
        tracked.until(&job, "state", json!("open")).await;
        let status = tracked.until_paused(&text).await;
        assert_eq!(
            (&status["paused_until"], &status["pause_reason"]),
            (&json!(until), &json!("limit")),
            "{text}: {status}"
        );
        assert_eq!(status["failure"], Value::Null, "{text}");
        assert!(tracked.administration().await.contains("Limit reached"), "{text}");
    }
}

#[tokio::test]
async fn pause_recorded_before_a_clock_rollback_does_not_count() {
    let tracked = tracked().await;
    let (job, _) = tracked.open_job(1).await;
    let later = NOW.plus_seconds(3_600 + 400).as_millis();
    let sql = format!("UPDATE code_hosts SET paused_until = {later}, pause_reason = 'limit'");
    tracked.app.ledger().run(sql.leak()).await;
    tracked.wait_minutes(6);
    tracked.until(&job, "checked_at", json!("2026-11-21T10:06:00Z")).await;
}

/// Where `other` is an owner whose installation is suspended. Returns the path of the requests for its token.
async fn suspend_other(tracked: &Tracked) -> &'static str {
    let clock = tracked.clock.clone();
    let time = move || clock.now().plus_seconds(-300);
    let of = time.clone();
    let installation = move |_: &Request| {
        let body = json!({ "id": 8, "suspended_at": "2026-11-20T10:00:00Z" });
        dated(ResponseTemplate::new(200).set_body_json(body), of())
    };
    tracked.host.on("GET", "/api/v3/repos/other/docs/installation", installation).await;
    let suspended = move |_: &Request| {
        let body = json!({ "message": "This installation has been suspended" });
        dated(ResponseTemplate::new(403).set_body_json(body), time())
    };
    let path = "/api/v3/app/installations/8/access_tokens";
    tracked.host.on("POST", path, suspended).await;
    path
}

#[tokio::test]
async fn suspended_installation_pauses_only_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    let path = suspend_other(&tracked).await;
    tracked.host.set(1, open_pull_request());
    let requests = async || {
        let requests = tracked.host.queries().await;
        requests.iter().filter(|request| request.url.path() == path).count()
    };
    for number in [1, 2] {
        let link = format!("{}/other/docs/pull/{number}", tracked.host.url());
        let elsewhere = tracked.job_with_link(&link).await;
        tracked.until(&elsewhere, "failure", json!("missing")).await;
    }
    assert_eq!(requests().await, 1, "the owner is paused");
    let here = tracked.job(1).await;
    tracked.until(&here, "state", json!("open")).await;
    let status = tracked.host_status().await;
    assert_eq!((&status["paused_until"], &status["failure"]), (&Value::Null, &Value::Null), "{status}");
    insta::assert_compact_json_snapshot!(picked(&status["paused_owners"][0], ["owner", "until"]), @r#"{"owner": "other", "until": "2026-11-21T10:05:00Z"}"#);
    let page = tracked.administration().await;
    assert!(page.contains("other") && page.contains("lacks a permission (403)"), "{page}");
    tracked.wait_minutes(7);
    tracked.until(&here, "checked_at", json!("2026-11-21T10:07:00Z")).await;
    until("the owner is requested again", async || (requests().await == 2).then_some(())).await;
}

#[tokio::test]
async fn refused_statement_of_the_app_pauses_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    let refused = |_: &Request| ResponseTemplate::new(401);
    tracked.host.on("GET", "/api/v3/repos/other/docs/installation", refused).await;
    tracked.job_with_link(&format!("{}/other/docs/pull/1", tracked.host.url())).await;
    let status = tracked.until_paused("the App is refused").await;
    assert_eq!(status["pause_reason"], "no_access", "{status}");
    assert_eq!(status["paused_owners"], json!([]), "{status}");
}

#[tokio::test]
async fn token_refused_before_its_end_pauses_only_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    let (job, _) = tracked.open_job(1).await;
    let clock = tracked.clock.clone();
    tracked.host.respond_instead(Some(dated(ResponseTemplate::new(401), clock.now().plus_seconds(120))));
    tracked.wait_minutes(7);
    tracked.until(&job, "failure", json!("missing")).await;
    let status = tracked.host_status().await;
    assert_eq!(status["paused_until"], Value::Null, "{status}");
    assert_eq!(status["paused_owners"][0]["owner"], "acme", "{status}");
}

/// Lets the App read the repository `docs` of another owner, in the same installation.
async fn install_at(tracked: &Tracked, owner: &str) {
    let clock = tracked.clock.clone();
    let installation = move |_: &Request| {
        let response = ResponseTemplate::new(200).set_body_json(json!({ "id": 7 }));
        dated(response, clock.now().plus_seconds(-300))
    };
    tracked.host.on("GET", &format!("/api/v3/repos/{owner}/docs/installation"), installation).await;
    tracked.host.set_in(&format!("{owner}/docs"), open_pull_request());
}

#[tokio::test]
async fn limit_of_the_app_pauses_only_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let reset = (NOW.as_millis() / 1_000 - 300 + 1_200).to_string();
    for (status, remaining) in [(403, "0"), (429, "0"), (200, "100")] {
        let tracked = tracked_as_app(folder.path()).await;
        install_at(&tracked, "busy").await;
        let limited = ResponseTemplate::new(status)
            .insert_header("x-ratelimit-limit", "5000")
            .insert_header("x-ratelimit-remaining", remaining)
            .insert_header("x-ratelimit-reset", reset.as_str());
        let limited = match status {
            200 => limited.set_body_json(json!({ "data": { "p0": { "pullRequest": open_pull_request() } } })),
            _ => limited,
        };
        tracked.host.respond_in("busy/docs", Some(dated(limited, NOW.plus_seconds(-300))));
        let busy = tracked.job_with_link(&format!("{}/busy/docs/pull/1", tracked.host.url())).await;
        let status = until("the owner is paused", async || {
            let status = tracked.host_status().await;
            status["paused_owners"][0].is_object().then_some(status)
        })
        .await;
        assert_eq!(
            status["paused_owners"],
            json!([{ "owner": "busy", "until": "2026-11-21T10:20:00Z", "reason": "its limit is reached" }])
        );
        assert_eq!(status["paused_until"], Value::Null, "{status}");
        let (here, _) = tracked.open_job(1).await;
        let queries = async || {
            let all = tracked.host.queries().await;
            all.iter().filter(|query| String::from_utf8_lossy(&query.body).contains("busy")).count()
        };
        let before = queries().await;
        tracked.host.respond_in("busy/docs", None);
        tracked.wait_minutes(6);
        tracked.until(&here, "checked_at", json!("2026-11-21T10:06:00Z")).await;
        assert_eq!(queries().await, before, "the owner is paused");
        assert_eq!(tracked.request_of(&busy).await["failure"], Value::Null);
        tracked.wait_minutes(15);
        tracked.until(&busy, "checked_at", json!("2026-11-21T10:21:00Z")).await;
    }
}

#[tokio::test]
async fn secondary_limit_of_the_app_pauses_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    tracked.host.allow(0);
    tracked.job(1).await;
    let status = tracked.until_paused("a pause was requested").await;
    insta::assert_compact_json_snapshot!(picked(&status, ["pause_reason", "paused_until", "paused_owners"]), @r#"{"pause_reason": "limit", "paused_owners": [], "paused_until": "2026-11-21T10:01:00Z"}"#);
}

/// What is recorded when `response` arrives while another process has recorded a pause until 10:30.
async fn recorded_after(response: Option<ResponseTemplate>) -> Value {
    let tracked = tracked().await;
    tracked.host.set(1, open_pull_request());
    let slow = std::time::Duration::from_secs(2);
    tracked.host.set_delay(slow);
    tracked.host.respond_instead(response.map(|response| response.set_delay(slow)));
    tracked.job(1).await;
    until("the query is sent", async || (!tracked.host.queries().await.is_empty()).then_some(())).await;
    let until_then = NOW.plus_seconds(1_800).as_millis();
    let sql = format!(
        "INSERT INTO code_hosts (host, paused_until, pause_reason, failures, failing_since, failure)
         VALUES ('{}', {until_then}, 'limit', 7, {until_then}, 'by another process')",
        tracked.host.url()
    );
    tracked.app.ledger().run(sql.leak()).await;
    until("the response is recorded", async || {
        let status = tracked.host_status().await;
        (status["failure"]["message"] != "by another process").then_some(status)
    })
    .await
}

#[tokio::test]
async fn pause_that_ends_later_remains_until_a_success() {
    let ten_thirty = json!("2026-11-21T10:30:00Z");
    let short = ResponseTemplate::new(429).insert_header("retry-after", "60");
    let status = recorded_after(Some(short)).await;
    assert_eq!((&status["paused_until"], &status["pause_reason"]), (&ten_thirty, &json!("limit")));
    let status = recorded_after(Some(ResponseTemplate::new(500))).await;
    assert_eq!(status["paused_until"], ten_thirty, "no pause is no success");
    let long = ResponseTemplate::new(429).insert_header("retry-after", "2400");
    let status = recorded_after(Some(long)).await;
    assert_eq!(status["paused_until"], "2026-11-21T10:40:00Z");
    assert_eq!(recorded_after(None).await["paused_until"], Value::Null, "a success");
}

#[tokio::test]
async fn owner_that_waited_longest_is_checked_first() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    let mut jobs = Vec::new();
    for owner in ["alpha", "omega"] {
        install_at(&tracked, owner).await;
        let job = tracked.job_with_link(&format!("{}/{owner}/docs/pull/1", tracked.host.url())).await;
        tracked.until(&job, "state", json!("open")).await;
        jobs.push(job);
    }
    // GitHub permits one query every six minutes.
    tracked.host.allow(1);
    tracked.wait_minutes(6);
    // Plans have a random part, so either may be first.
    let first = until("one is checked", async || {
        for (index, job) in jobs.iter().enumerate() {
            if tracked.request_of(job).await["checked_at"] == "2026-11-21T10:06:00Z" {
                return Some(index);
            }
        }
        None
    })
    .await;
    tracked.until_paused("the second query is refused").await;
    tracked.host.allow(1);
    tracked.wait_minutes(6);
    tracked.until(&jobs[1 - first], "checked_at", json!("2026-11-21T10:12:00Z")).await;
}
