//! When a job has ended, for those who wait for it.

use std::time::Duration;

use model::job::Job;
use serde_json::Value;
use tokio::time::timeout;
use wiremock::ResponseTemplate;

use super::Script;
use super::jobs::{JOBS, app, path_of, started};
use crate::helpers::{Settings, TestApp, intent, json, remote_job, until};
use crate::queue::per_hour;
use crate::tracking::{NEXT_READ, badge, frozen, lose, never_end, poll_after};

/// A wait that must end at once.
async fn waited(script: &Script, job: &Value) -> Value {
    let path = format!("{}?wait=60", path_of(job));
    timeout(Duration::from_secs(50), script.got(&path)).await.expect("the request waits")
}

fn status(status: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(remote_job("job_1", status))
}

/// Where `ended` is shown: the job, its list and the tools.
async fn ended(script: &Script, job: &Value) -> bool {
    let shown = script.got(&path_of(job)).await["ended"].as_bool().unwrap();
    assert_eq!(script.got(JOBS).await["jobs"][0]["ended"], shown, "in the list");
    let found = script.call("get_job", json!({"project": "docs", "job": job["id"]})).await;
    assert_eq!(found["structuredContent"]["ended"], shown, "in MCP");
    shown
}

#[tokio::test]
async fn job_that_docket_stopped_tracking_is_not_awaited() {
    for ending in ["not found", "no end"] {
        let app = TestApp::with(frozen()).await;
        app.upstream.on_create(status("active")).await;
        let olga = app.operator().await;
        let job = olga.created("Fix typos").await;
        let script = Script::of(&app).await;
        assert!(!ended(&script, &job).await, "{ending}");
        match ending {
            "not found" => lose(&app, &olga, &job).await,
            _ => never_end(&app, &job).await,
        }
        let awaited = waited(&script, &job).await;
        let expected = (&json!("other"), &json!(ending), &json!(true));
        assert_eq!((&awaited["state"], &awaited["platform_status"], &awaited["ended"]), expected);
        assert_eq!(awaited["reason_code"], ending.replace(' ', "_"));
        assert!(ended(&script, &job).await, "{ending}");
        let call = json!({"project": "docs", "job": job["id"], "wait": 40});
        let found = timeout(Duration::from_secs(35), script.call("get_job", call)).await;
        assert_eq!(found.expect("the tool waits")["structuredContent"]["ended"], true, "{ending}");
    }
}

/// An unknown status may change until Docket stops tracking the job.
#[tokio::test]
async fn unknown_status_of_a_tracked_job_is_no_end() {
    let app = TestApp::with(frozen()).await;
    app.upstream.on_create(status("paused")).await;
    let job = app.operator().await.created("Fix typos").await;
    let script = Script::of(&app).await;
    assert!(!ended(&script, &job).await);
    assert_eq!(script.got(&format!("{}?wait=1", path_of(&job))).await["ended"], false);
}

/// A job with a follow-up, as the platform reports it: before, in the answer to the follow-up, and in the polls after it.
struct Reported<'a> {
    before: &'a str,
    after: Vec<&'a str>,
}

impl Reported<'_> {
    /// Whether the job has ended after the first `polls` polls: it changed since an end, and is at an end.
    fn has_ended(&self, polls: usize) -> bool {
        let mut statuses = vec![self.before];
        statuses.extend(&self.after[..=polls]);
        let is_end = |status: &str| status != "active";
        let is_shown = statuses.windows(2).any(|pair| is_end(pair[0]) && pair[1] != pair[0]);
        is_shown && is_end(statuses[statuses.len() - 1])
    }
}

/// Every sequence of three statuses after every state before.
#[tokio::test]
async fn follow_up_is_awaited_until_the_platform_shows_it() {
    let words = ["active", "completed", "failed"];
    for before in words {
        let app = TestApp::with(frozen()).await;
        let script = Script::of(&app).await;
        for number in 0..27 {
            let after = [number / 9, number / 3 % 3, number % 3].map(|word| words[word]).to_vec();
            plays(&app, &script, &Reported { before, after }, number).await;
        }
    }
}

/// Plays it with a new job, which is no longer tracked at the end.
async fn plays(app: &TestApp, script: &Script, reported: &Reported<'_>, number: usize) {
    let name = format!("{} {:?}", reported.before, reported.after);
    let olga = app.operator().await;
    app.upstream.reset().await;
    app.upstream.on_read(status(reported.before)).await;
    let remote = remote_job(&format!("job_{number}"), "active");
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
    let job = olga.created("Fix typos").await;
    poll_after(app, NEXT_READ).await;
    let is_before = async || (badge(&olga, &job).await["state"] == reported.before).then_some(());
    until(&name, is_before).await;
    app.upstream.on_follow_up(status(reported.after[0])).await;
    app.upstream.on_read(status(reported.after[0])).await;
    let (messages, key) = (format!("{}/messages", path_of(&job)), format!("key-{number}"));
    let sent = script.post(&messages, &key, &json!({"prompt": "More"})).await;
    assert_eq!(
        (sent.status, &sent.json()["ended"]),
        (201, &json!(reported.has_ended(0))),
        "{name}: {}",
        sent.text
    );
    for poll in 1..reported.after.len() {
        app.upstream.on_read(status(reported.after[poll])).await;
        poll_after(app, NEXT_READ).await;
        let expected = (reported.after[poll], reported.has_ended(poll));
        until(&format!("{name} after {poll}: {expected:?}"), async || {
            let job: Job = serde_json::from_value(olga.job(&job).await).unwrap();
            ((job.state.as_str(), job.has_ended()) == expected).then_some(())
        })
        .await;
        assert_eq!(script.got(&path_of(&job)).await["ended"], expected.1, "{name} after {poll}");
    }
    // What the platform never shows is awaited as long as Docket expects it.
    app.upstream.on_read(status("completed")).await;
    until(&format!("{name} at the end"), async || {
        app.clock().advance(Duration::from_secs(30));
        app.state().jobs.poll_due().await.unwrap();
        (badge(&olga, &job).await["tracked"] == false).then_some(())
    })
    .await;
    assert_eq!(script.got(&path_of(&job)).await["ended"], true, "{name}");
}

#[tokio::test]
async fn waiting_request_covers_a_follow_up_that_the_platform_has_not_noticed() {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(1), ..Settings::default() }).await;
    app.upstream.on_read(status("completed")).await;
    app.upstream.on_create(status("active")).await;
    let (olga, script) = (app.operator().await, Script::of(&app).await);
    let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
    assert_eq!(waited(&script, &job).await["state"], "completed");
    app.upstream.on_follow_up(status("completed")).await;
    let messages = format!("{}/messages", path_of(&job));
    let sent = script.post(&messages, "second", &json!({"prompt": "And links"})).await.json();
    assert_eq!((&sent["state"], &sent["ended"]), (&json!("completed"), &json!(false)), "{sent}");
    assert_eq!(script.got(&format!("{}?wait=1", path_of(&job))).await["ended"], false);
    let works = async {
        until("the request waits", async || (app.state().jobs.waiting_requests() == 1).then_some(())).await;
        for word in ["active", "failed"] {
            app.upstream.on_read(status(word)).await;
            until(word, async || (badge(&olga, &job).await["state"] == word).then_some(())).await;
        }
    };
    let (awaited, ()) = tokio::join!(waited(&script, &job), works);
    assert_eq!((&awaited["state"], &awaited["ended"]), (&json!("failed"), &json!(true)));
}

#[tokio::test]
async fn queued_follow_up_is_awaited_until_it_is_cancelled() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.on_create(status("completed")).await;
    app.upstream.on_follow_up(status("failed")).await;
    let script = Script::of(&app).await;
    let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
    assert!(ended(&script, &job).await);
    let messages = format!("{}/messages", path_of(&job));
    let sent = script.post(&messages, "second", &json!({"prompt": "And links"})).await;
    assert_eq!((sent.status, &sent.json()["ended"]), (201, &json!(true)), "the answer has its end");
    let queued = json!({"prompt": "And words", "queue": true});
    let queued = script.post(&messages, "third", &queued).await;
    assert_eq!((queued.status, &queued.json()["ended"]), (202, &json!(false)));
    assert!(!ended(&script, &job).await, "the state is still that of the prompt before");
    let cancels = async {
        until("the request waits", async || (app.state().jobs.waiting_requests() == 1).then_some(())).await;
        script.act(&format!("{}/cancel", path_of(&job))).await
    };
    let (awaited, cancelled) = tokio::join!(waited(&script, &job), cancels);
    assert_eq!((cancelled.status, &cancelled.json()["ended"]), (200, &json!(true)));
    assert_eq!((&awaited["state"], &awaited["ended"]), (&json!("failed"), &json!(true)));
}

/// They reach nobody without a person, and so do those of a job whose first prompt has an unknown outcome.
#[tokio::test]
async fn follow_up_that_is_not_accepted_is_not_awaited() {
    let app = app().await;
    app.upstream.on_create(status("completed")).await;
    app.upstream.on_follow_up(ResponseTemplate::new(400)).await;
    let script = Script::of(&app).await;
    let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
    let messages = format!("{}/messages", path_of(&job));
    let sent = script.post(&messages, "second", &json!({"prompt": "And links"})).await;
    assert_eq!((sent.status, &sent.json()["follow_up_state"]), (201, &json!("rejected")));
    assert_eq!(waited(&script, &job).await["ended"], true);
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    started(&script, "first", json!({"prompt": "Fix typos"})).await;
    let queued = script.post(JOBS, "second", &json!({"prompt": "Fix links", "queue": true})).await.json();
    let messages = format!("{}/messages", path_of(&queued));
    let sent = script.post(&messages, "third", &json!({"prompt": "And words", "queue": true})).await;
    assert_eq!((sent.status, &sent.json()["follow_up_state"]), (202, &json!("queued")));
    app.upstream.on_create(ResponseTemplate::new(502)).await;
    app.clock().advance(Duration::from_secs(3_700));
    until("the outcome is unknown", async || {
        app.clock().advance(Duration::from_secs(60));
        (script.got(&path_of(&queued)).await["state"] == "unknown").then_some(())
    })
    .await;
    let awaited = waited(&script, &queued).await;
    let expected = (&json!(true), &json!("queued"));
    assert_eq!((&awaited["ended"], &awaited["follow_ups"][0]["state"]), expected);
    app.operator().await.follow_up(&queued, "More", &intent()).await.refused(409, "not_accepted");
}

/// The platform may work on it. Its next statuses show that, whatever the job was before; after two minutes without a change, nothing is awaited.
#[tokio::test]
async fn follow_up_with_an_unknown_outcome_is_tracked() {
    for (before, reported, state) in [
        ("completed", "active", "active"),
        ("failed", "active", "active"),
        ("failed", "completed", "completed"),
        ("completed", "completed", "completed"),
        ("archived", "active", "active"),
    ] {
        let app = TestApp::with(frozen()).await;
        app.upstream.on_create(status(before)).await;
        app.upstream.on_follow_up(ResponseTemplate::new(502)).await;
        app.upstream.on_read(status(reported)).await;
        let script = Script::of(&app).await;
        let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
        assert!(ended(&script, &job).await, "{before}");
        let messages = format!("{}/messages", path_of(&job));
        let sent = script.post(&messages, "second", &json!({"prompt": "And links"})).await.json();
        assert_eq!(sent["follow_up_state"], "unknown", "{before}");
        assert!(sent["ended"] == false || reported != before, "{before}: {sent}");
        let polled = async |pause| {
            app.clock().advance(Duration::from_secs(pause));
            app.state().jobs.poll_due().await.unwrap();
            app.operator().await.job(&job).await
        };
        let name = format!("{before} {reported}");
        until(&name, async || (polled(1).await["state"] == state).then_some(())).await;
        if state != "active" {
            let is_over = async || (polled(30).await["tracked"] == false).then_some(());
            until(&format!("{name}: it is not awaited"), is_over).await;
        }
        let job = script.got(&path_of(&job)).await;
        assert_eq!((&job["ended"], &job["state"]), (&json!(state != "active"), &json!(state)), "{name}");
        assert_eq!(job["follow_ups"][0]["state"], "unknown", "only a person decides");
    }
}
