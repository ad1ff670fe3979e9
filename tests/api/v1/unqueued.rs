//! `"queue": false`: a prompt that cannot be sent at once is refused or rejected, and nothing is sent later, in whatever order the events happen.

use std::time::Duration;

use clients::upstream::governor::Scope;
use futures::future::join_all;
use model::id::ProjectId;
use serde_json::Value;
use wiremock::ResponseTemplate;

use super::Script;
use crate::api_tokens::problem;
use crate::helpers::{TestApp, TestResponse, json, until};
use crate::queue::per_hour;

const JOBS: &str = "/projects/docs/jobs";

/// Why a prompt cannot be sent at once.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Obstacle {
    SpentBudget,
    OpenCircuit,
    NoCredits,
}

const OBSTACLES: [Obstacle; 3] = [Obstacle::SpentBudget, Obstacle::OpenCircuit, Obstacle::NoCredits];

/// When it arises: before the request, or between the commit of the prompt and its claim.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Before,
    AfterCommit,
}

struct Scene {
    app: TestApp,
    script: Script,
    /// The path of the follow-ups to a job.
    messages: String,
}

impl Scene {
    async fn set() -> Self {
        let app = TestApp::with(per_hour(10)).await;
        app.upstream.accepts_jobs().await;
        app.upstream.accepts_follow_ups().await;
        let script = Script::of(&app).await;
        let job = script.post(JOBS, "job", &json!({"prompt": "The first"})).await.json();
        let messages = format!("{JOBS}/{}/messages", job["id"].as_str().unwrap());
        Self { app, script, messages }
    }

    async fn arise(&self, obstacle: Obstacle) {
        let docs: ProjectId = "docs".parse().unwrap();
        let circuit = match obstacle {
            Obstacle::SpentBudget => {
                for scope in [Scope::Creates(docs.clone()), Scope::FollowUps(docs)] {
                    while self.app.state().governor.acquire(&scope).await.is_ok() {}
                }
                return;
            }
            Obstacle::OpenCircuit => "prompts:docs",
            Obstacle::NoCredits => "credits:docs",
        };
        let now = self.app.clock().now().as_millis();
        let open = format!(
            "INSERT INTO upstream_circuits (circuit, failures, tried_at) VALUES ('{circuit}', 5, {now})"
        );
        self.app.ledger().execute(open).await;
    }

    /// Removes every obstacle.
    async fn heal(&self) {
        self.app.ledger().run("DELETE FROM upstream_circuits").await;
        self.app.ledger().run("DELETE FROM upstream_calls").await;
        self.app.clock().advance(Duration::from_secs(3_700));
    }

    async fn post(&self, follows: bool, key: &str, queue: bool) -> TestResponse {
        let path = if follows { &self.messages } else { JOBS };
        self.script.post(path, key, &json!({"prompt": key, "queue": queue})).await
    }

    /// Posts a prompt while the obstacle arises.
    async fn posted(
        &self,
        when: When,
        obstacle: Obstacle,
        (follows, key, queue): (bool, &str, bool),
    ) -> TestResponse {
        if when == When::Before {
            self.arise(obstacle).await;
            return self.post(follows, key, queue).await;
        }
        self.app.ledger().refuse_sending().await;
        let meanwhile = async {
            let waiting = "SELECT COUNT(*) FROM messages WHERE state = 'queued' AND in_queue = 0";
            let waits = async |count| (self.app.ledger().count(waiting).await == count).then_some(());
            until("it is committed", async || waits(1).await).await;
            self.arise(obstacle).await;
            // An attempt that found no obstacle before must not succeed.
            until("the obstacle is noticed", async || waits(0).await).await;
            self.app.ledger().allow_sending().await;
        };
        tokio::join!(self.post(follows, key, queue), meanwhile).0
    }

    async fn times_sent(&self, prompt: &str) -> usize {
        let posts = self.app.upstream.posts().await;
        posts.iter().filter(|post| post.body_json::<Value>().unwrap()["prompt"] == prompt).count()
    }
}

/// The state of the prompt that a response is about.
fn state(response: &TestResponse, follows: bool) -> Value {
    let job = response.json();
    if follows { job["follow_up_state"].clone() } else { job["state"].clone() }
}

#[tokio::test]
async fn prompt_that_may_not_wait_is_never_sent_later() {
    let scene = Scene::set().await;
    let mut unsent = Vec::new();
    for (number, obstacle) in OBSTACLES.into_iter().enumerate() {
        for when in [When::Before, When::AfterCommit] {
            for follows in [false, true] {
                let key = format!("may-not-wait-{number}-{when:?}-{follows}");
                let response = scene.posted(when, obstacle, (follows, &key, false)).await;
                match (when, obstacle) {
                    (When::Before, Obstacle::SpentBudget) => drop(problem(&response, 429, "budget_spent")),
                    (When::Before, Obstacle::NoCredits) => drop(problem(&response, 503, "no_credits")),
                    (When::Before, _) => drop(problem(&response, 502, "upstream_failed")),
                    (When::AfterCommit, _) => {
                        assert_eq!(
                            (response.status, state(&response, follows)),
                            (201, json!("rejected")),
                            "{key}: {}",
                            response.text
                        );
                        assert!(response.text.contains("nothing was started"), "{key}: {}", response.text);
                    }
                }
                if when == When::Before {
                    let wait: u64 = response.header("retry-after").parse().unwrap();
                    assert!((1..=3_600).contains(&wait), "{key}: {wait}");
                }
                scene.heal().await;
                unsent.push((when, key, follows));
            }
        }
    }
    // Several looks at the due prompts.
    tokio::time::sleep(Duration::from_millis(1_700)).await;
    assert_eq!(scene.app.ledger().count("SELECT COUNT(*) FROM messages WHERE state = 'queued'").await, 0);
    for (when, key, follows) in unsent {
        assert_eq!(scene.times_sent(&key).await, 0, "{key}");
        let again = scene.post(follows, &key, false).await;
        // What was refused was not stored, so that its key can be used; what was rejected stays rejected.
        let (expected, sent) = match (when, follows) {
            (When::AfterCommit, _) => ("rejected", 0),
            (When::Before, false) => ("active", 1),
            (When::Before, true) => ("accepted", 1),
        };
        assert_eq!((again.status, state(&again, follows)), (201, json!(expected)), "{key}: {}", again.text);
        assert_eq!(scene.times_sent(&key).await, sent, "{key}");
    }
}

#[tokio::test]
async fn prompt_that_may_wait_is_queued_and_sent_once() {
    let scene = Scene::set().await;
    for (number, obstacle) in OBSTACLES.into_iter().enumerate() {
        for when in [When::Before, When::AfterCommit] {
            for follows in [false, true] {
                let key = format!("may-wait-{number}-{when:?}-{follows}");
                let response = scene.posted(when, obstacle, (follows, &key, true)).await;
                assert_eq!(
                    (response.status, state(&response, follows)),
                    (202, json!("queued")),
                    "{key}: {}",
                    response.text
                );
                assert_eq!(scene.times_sent(&key).await, 0, "{key}");
                scene.heal().await;
                until(&key, async || (scene.times_sent(&key).await == 1).then_some(())).await;
                let moving = "SELECT COUNT(*) FROM messages WHERE state IN ('queued', 'sending')";
                until("it is accepted", async || (scene.app.ledger().count(moving).await == 0).then_some(()))
                    .await;
            }
        }
    }
}

/// Five prompts at once for the last call: one is sent, and the others are refused or rejected.
#[tokio::test]
async fn lost_race_for_the_budget_rejects_the_prompt() {
    for _ in 0..5 {
        let app = TestApp::with(per_hour(1)).await;
        app.upstream.accepts_jobs().await;
        let script = Script::of(&app).await;
        let bodies: Vec<Value> = (0..5).map(|n| json!({"prompt": format!("Prompt {n}")})).collect();
        let keys: Vec<String> = (0..5).map(|n| format!("key-{n}")).collect();
        let posts = keys.iter().zip(&bodies).map(|(key, body)| script.post(JOBS, key, body));
        let mut states: Vec<String> = Vec::new();
        for response in join_all(posts).await {
            match response.status {
                201 => states.push(response.json()["state"].as_str().unwrap().to_owned()),
                _ => drop(problem(&response, 429, "budget_spent")),
            }
        }
        assert_eq!(states.iter().filter(|state| *state == "active").count(), 1, "{states:?}");
        assert!(states.iter().all(|state| state == "active" || state == "rejected"), "{states:?}");
        app.clock().advance(Duration::from_secs(3_700));
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        assert_eq!(app.upstream.posts().await.len(), 1);
    }
}

#[tokio::test]
async fn platform_without_credits_rejects_a_prompt_that_may_not_wait() {
    for (status, text) in [(402, "AI credits are exhausted"), (503, "Credit check failed")] {
        let app = TestApp::with(per_hour(10)).await;
        app.upstream.on_create(ResponseTemplate::new(status).set_body_json(json!({ "error": text }))).await;
        let script = Script::of(&app).await;
        let job = script.post(JOBS, &format!("no-{status}"), &json!({"prompt": "Fix typos"})).await;
        assert_eq!((job.status, &job.json()["state"]), (201, &json!("rejected")), "{}", job.text);
        let next = script.post(JOBS, &format!("next-{status}"), &json!({"prompt": "Fix typos"})).await;
        assert!(problem(&next, 503, "no_credits").contains("no AI credits"));
        let waits = script
            .post(JOBS, &format!("waits-{status}"), &json!({"prompt": "Fix typos", "queue": true}))
            .await;
        assert_eq!((waits.status, &waits.json()["state"]), (202, &json!("queued")), "{}", waits.text);
    }
}

/// Docket was stopped, or an earlier prompt of the job waits.
#[tokio::test]
async fn prompt_that_was_not_sent_within_five_minutes_is_rejected() {
    let scene = Scene::set().await;
    scene.app.ledger().refuse_sending().await;
    let (late, early) = (scene.post(false, "late", false), scene.post(false, "early", true));
    let later = async {
        let committed = "SELECT COUNT(*) FROM messages WHERE state = 'queued'";
        until("both are committed", async || (scene.app.ledger().count(committed).await == 2).then_some(()))
            .await;
        scene.app.clock().advance(Duration::from_secs(301));
        let rejected = "SELECT COUNT(*) FROM messages WHERE state = 'rejected'";
        until("one is rejected", async || (scene.app.ledger().count(rejected).await == 1).then_some(()))
            .await;
        scene.app.ledger().allow_sending().await;
    };
    let (late, early, ()) = tokio::join!(late, early, later);
    assert_eq!((late.status, &late.json()["state"]), (201, &json!("rejected")), "{}", late.text);
    assert!(late.text.contains("within five minutes"), "{}", late.text);
    assert_eq!((early.status, &early.json()["state"]), (201, &json!("active")), "{}", early.text);
    assert_eq!((scene.times_sent("late").await, scene.times_sent("early").await), (0, 1));
}
