//! Every job that starts to need attention is reported, and so is each cancelled job.

use model::webhook::EVENTS;

use super::*;
use crate::queue::per_hour;

const PULL_REQUEST: &str = "https://git.example/pull/7";

/// A job of the platform with a pull request.
fn with_pull_request(status: &str) -> Value {
    job_with(&detached_job(), status, "prLink", json!(PULL_REQUEST))
}

/// An app whose platform starts a job with this response, and what administers its webhook.
struct Scene {
    app: TestApp,
    receiver: MockServer,
    admin: Browser,
    webhook: Value,
    olga: Browser,
}

impl Scene {
    async fn set(started: ResponseTemplate) -> Self {
        let app = TestApp::with(per_hour(2)).await;
        app.upstream.on_create(started).await;
        let (admin, receiver) = (admin_of(&app).await, receiver(ResponseTemplate::new(200)).await);
        let (webhook, olga) = (hooked(&admin, &receiver).await, app.operator().await);
        Self { app, receiver, admin, webhook, olga }
    }

    /// The events of a job, the oldest first.
    async fn events(&self, job: &Value) -> Vec<String> {
        let log = log(&self.admin, &self.webhook).await;
        let of_job = log.iter().rev().filter(|event| event["job"] == job["id"]);
        of_job.map(|event| event["event"].as_str().unwrap().to_owned()).collect()
    }

    /// Checks the events of a job, and that no job needs attention without an event.
    async fn has_events(&self, job: &Value, expected: &[&str], needs_attention: bool) {
        until(&format!("{expected:?}"), async || (self.events(job).await == expected).then_some(())).await;
        let job = self.olga.job(job).await;
        assert_eq!(job["needs_attention"] == true, needs_attention, "{expected:?}: {job}");
        let unreported = "SELECT COUNT(*) FROM listed_jobs l WHERE l.attention = 1
            AND NOT EXISTS (SELECT 1 FROM webhook_deliveries e WHERE e.job_id = l.job_id)";
        assert_eq!(self.app.ledger().count(unreported).await, 0, "{expected:?}");
    }

    /// The event of this type, as the receiver got it.
    async fn received(&self, kind: &str) -> Value {
        let request = until(kind, async || {
            heard(&self.receiver).await.into_iter().find(|request| request.headers["docket-event"] == kind)
        })
        .await;
        verified(&request, self.webhook["secret"].as_str().unwrap())
    }
}

fn responds(status: u16, job: Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(job)
}

#[tokio::test]
async fn every_end_of_a_first_prompt_is_reported() {
    for (response, events, needs_attention) in [
        (ResponseTemplate::new(400), vec!["job.rejected"], true),
        (ResponseTemplate::new(500), vec!["job.unknown"], true),
        (responds(201, remote_job(&detached_job(), "failed")), vec!["job.failed"], true),
        (responds(201, remote_job(&detached_job(), "completed")), vec!["job.completed"], true),
        (responds(201, with_pull_request("completed")), vec!["job.completed"], false),
        (responds(201, with_pull_request("archived")), vec!["job.archived"], false),
    ] {
        let scene = Scene::set(response).await;
        let job = scene.olga.created("Fix typos").await;
        scene.has_events(&job, &events, needs_attention).await;
        if let [event] = events[..] {
            assert_eq!(scene.received(event).await["follow_up"], json!(null));
        }
    }
}

#[tokio::test]
async fn every_end_of_a_follow_up_is_reported() {
    for (response, event, state) in [
        (ResponseTemplate::new(400), "follow_up.rejected", "rejected"),
        (ResponseTemplate::new(500), "follow_up.unknown", "unknown"),
    ] {
        let scene = Scene::set(responds(201, with_pull_request("completed"))).await;
        let job = scene.olga.created("Fix typos").await;
        scene.app.upstream.on_follow_up(response).await;
        scene.olga.follow_up(&job, "And more", &intent()).await;
        scene.has_events(&job, &["job.completed", event], true).await;
        let received = scene.received(event).await;
        let follow_up = picked(&received["follow_up"], ["number", "state"]);
        assert_eq!(follow_up, json!({"number": 1, "state": state}));
        assert_eq!(received["job"]["id"], job["id"]);
        let id = received["follow_up"]["id"].as_str().unwrap();
        let stored = format!("SELECT COUNT(*) FROM messages WHERE position = 1 AND id = '{id}'");
        assert_eq!(scene.app.ledger().count(stored.leak()).await, 1, "{received}");
    }
}

/// The platform reports another end: in its answer to a follow-up, and when Docket polls it.
#[tokio::test]
async fn another_end_than_before_is_reported() {
    let scene = Scene::set(responds(201, with_pull_request("completed"))).await;
    let job = scene.olga.created("Fix typos").await;
    scene.has_events(&job, &["job.completed"], false).await;
    scene.app.upstream.on_follow_up(responds(200, with_pull_request("failed"))).await;
    scene.olga.follow_up(&job, "And more", &intent()).await;
    scene.has_events(&job, &["job.completed", "job.failed"], true).await;

    scene.app.upstream.reset().await;
    scene.app.upstream.on_create(responds(201, with_pull_request("completed"))).await;
    let job = scene.olga.created("Fix links").await;
    scene.has_events(&job, &["job.completed"], false).await;
    let failed = |request: &Request| {
        let id = request.url.path_segments().unwrap().next_back().unwrap().to_owned();
        responds(200, job_with(&id, "failed", "prLink", json!(PULL_REQUEST)))
    };
    scene.app.upstream.on_read(failed).await;
    until("it failed", async || {
        scene.app.clock().advance(Duration::from_secs(10));
        scene.app.state().jobs.poll_due().await.unwrap();
        (scene.olga.job(&job).await["state"] == "failed").then_some(())
    })
    .await;
    scene.has_events(&job, &["job.completed", "job.failed"], true).await;
}

#[tokio::test]
async fn cancelled_job_and_its_follow_ups_are_reported() {
    let scene = Scene::set(responds(201, with_pull_request("completed"))).await;
    scene.app.upstream.accepts_jobs().await;
    for prompt in ["one", "two"] {
        scene.olga.created(prompt).await;
    }
    let job = New::job("Fix typos").with("queue", "on").made(&scene.olga).await;
    assert_eq!(job["state"], "queued");
    for follow_up in ["And more", "And less"] {
        scene.olga.follow_up(&job, follow_up, &intent()).await;
    }
    for position in [2, 0] {
        let queue = scene.olga.post_json("/api/queue/list", &[("project", "docs")]).await;
        let waiting = queue["waiting"].as_array().unwrap();
        let prompt = waiting.iter().find(|entry| entry["position"] == position).unwrap();
        let cancel = [("project", "docs"), ("message", prompt["message"].as_str().unwrap())];
        scene.olga.post_json("/api/queue/cancel", &cancel).await;
    }
    // The last two happened at the same time.
    until("three events", async || (scene.events(&job).await.len() == 3).then_some(())).await;
    let mut events = scene.events(&job).await;
    events[1..].sort();
    assert_eq!(events, ["follow_up.cancelled", "follow_up.rejected", "job.cancelled"]);
    let cancelled = scene.received("follow_up.cancelled").await["follow_up"].clone();
    assert_eq!(picked(&cancelled, ["number", "state"]), json!({"number": 2, "state": "cancelled"}));
    assert_eq!(scene.received("job.cancelled").await["job"]["state"], "cancelled");
    assert_eq!(scene.olga.job(&job).await["needs_attention"], json!(null));
}

#[test]
fn document_describes_every_type_and_rule() {
    let document = include_str!("../../../docs/operate/webhooks.md");
    for event in EVENTS {
        assert!(document.contains(&format!("`{event}`")), "{event}");
    }
    for rule in
        ["within 10 seconds", "5 minutes", "5,000", "Compare `at`", "do not know", "30 days", "24 hours"]
    {
        assert!(document.contains(rule), "{rule}");
    }
}

#[tokio::test]
async fn page_has_the_rules_for_receivers() {
    let app = TestApp::start().await;
    let page = admin_of(&app).await.page("/admin/webhooks").await;
    for rule in ["within 10 seconds", "5 minutes", "compare “at”", "do not know", "24 hours"] {
        assert!(page.contains(rule), "{rule}");
    }
}
