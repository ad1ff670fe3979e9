//! The process is killed at each step of a prompt's delivery: afterwards every prompt was sent at most once, the same
//! form returns the same job, and the database is intact.

use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinHandle;

use crate::helpers::{
    Browser, Installation, Ledger, PausedUpstream, Served, TestResponse, black_hole, intent, until,
};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Create,
    FollowUp,
}

const KINDS: [Kind; 2] = [Kind::Create, Kind::FollowUp];
const PROMPT: &str = "Fix every typo in the guides";

/// A form that is about to be posted to a running process.
struct Scene {
    kind: Kind,
    intent: String,
    upstream: PausedUpstream,
    installation: Installation,
    ledger: Ledger,
    server: Served,
    browser: Arc<Browser>,
    /// The job of the follow-up.
    job: Value,
}

impl Scene {
    async fn of(kind: Kind) -> Self {
        let upstream = PausedUpstream::start().await;
        let installation = installation_for(&upstream.url());
        let (server, browser) = begin(&installation).await;
        let job = if kind == Kind::FollowUp { browser.created("The job before").await } else { Value::Null };
        let ledger = installation.ledger();
        Self { kind, intent: intent(), upstream, installation, ledger, server, browser, job }
    }

    /// Posts the form; returns the response, or `None` if the process ended before.
    fn post(&self) -> JoinHandle<Option<TestResponse>> {
        let mut pairs = vec![("project", "docs"), ("prompt", PROMPT), ("intent", self.intent.as_str())];
        let endpoint = match self.kind {
            Kind::Create => "/api/jobs/create",
            Kind::FollowUp => {
                pairs.push(("job", self.job["id"].as_str().unwrap()));
                "/api/jobs/message"
            }
        };
        let request = self.browser.call(endpoint, &pairs);
        let browser = self.browser.clone();
        tokio::spawn(async move { browser.try_send(request).await.ok() })
    }

    async fn kill(&self) {
        self.server.signal("KILL");
        assert_eq!(self.server.ended().await.code(), None);
        self.ledger.is_sound().await;
    }

    async fn begin_again(&mut self) {
        (self.server, self.browser) = begin(&self.installation).await;
        self.ledger.grace_is_over().await;
    }

    /// The delivery state of the prompt, if it is in the database.
    async fn state(&self) -> Option<String> {
        let list = self.browser.post_json("/api/jobs/list", &[("project", "docs")]).await;
        let mut messages = list["jobs"].as_array().unwrap().clone();
        messages
            .extend(messages.clone().iter().flat_map(|job| job["follow_ups"].as_array().unwrap().clone()));
        let mut found = messages.iter().filter(|message| message["prompt"] == PROMPT);
        let state = found.next().map(|message| message["state"].as_str().unwrap().to_owned());
        assert!(found.next().is_none(), "the prompt is stored twice");
        state
    }

    /// Checks that the prompt ends accepted or unknown, after this many requests; that no prompt is left to send; and
    /// that the same form returns the same job.
    async fn ends(&self, accepted: bool, posts: usize) {
        let expected = match (accepted, self.kind) {
            (false, _) => "unknown",
            (true, Kind::Create) => "active",
            (true, Kind::FollowUp) => "accepted",
        };
        until("the delivery has ended", async || (self.state().await? == expected).then_some(())).await;
        let first = self.post().await.unwrap().unwrap();
        let second = self.post().await.unwrap().unwrap();
        assert_eq!((first.status, second.status), (200, 200), "{} {}", first.text, second.text);
        assert_eq!(first.json()["id"], second.json()["id"]);
        assert_eq!(self.state().await.unwrap(), expected);
        assert_eq!(self.ledger.without_outcome().await, 0);
        assert_eq!(self.upstream.posts_of(PROMPT), posts);
        self.ledger.is_sound().await;
    }
}

fn installation_for(upstream: &str) -> Installation {
    Installation::with_administrator(upstream).set("DOCKET_POLL_SECONDS", "1")
}

async fn begin(installation: &Installation) -> (Served, Arc<Browser>) {
    let server = installation.serve(&["serve"]);
    let browser = server.signed_in().await;
    (server, Arc::new(browser))
}

#[tokio::test]
async fn kill_before_the_commit_lets_the_form_be_resubmitted() {
    for kind in KINDS {
        let mut scene = Scene::of(kind).await;
        scene.ledger.never_finish_writing_prompts().await;
        let waiting = scene.post();
        // No other write takes as long.
        let mut looks = 0;
        until("the row is being written", async || {
            looks = if scene.ledger.is_being_written().await { looks + 1 } else { 0 };
            (looks == 20).then_some(())
        })
        .await;
        scene.kill().await;
        scene.ledger.finish_writing_prompts().await;
        assert!(waiting.await.unwrap().is_none(), "a response came from a dead process");
        assert_eq!(scene.upstream.posts_of(PROMPT), 0);

        scene.begin_again().await;
        assert_eq!(scene.state().await, None);
        assert_eq!(scene.post().await.unwrap().unwrap().status, 200);
        scene.ends(true, 1).await;
    }
}

#[tokio::test]
async fn kill_after_the_commit_sends_once_after_restart() {
    for kind in KINDS {
        let mut scene = Scene::of(kind).await;
        scene.ledger.refuse_sending().await;
        let waiting = scene.post();
        until("the row is committed", async || (scene.ledger.without_outcome().await == 1).then_some(()))
            .await;
        scene.kill().await;
        assert!(waiting.await.unwrap().is_none(), "a response came from a dead process");
        assert_eq!(scene.upstream.posts_of(PROMPT), 0);

        scene.ledger.allow_sending().await;
        scene.begin_again().await;
        scene.ends(true, 1).await;
    }
}

#[tokio::test]
async fn kill_while_connecting_leaves_the_prompt_unknown() {
    let (_hole, nowhere) = black_hole();
    let installation = installation_for(&nowhere);
    let (server, browser) = begin(&installation).await;
    let upstream = PausedUpstream::start().await;
    let ledger = installation.ledger();
    let mut scene = Scene {
        kind: Kind::Create,
        intent: intent(),
        installation: installation.set("DOCKET_UPSTREAM_URL", &upstream.url()),
        upstream,
        ledger,
        server,
        browser,
        job: Value::Null,
    };
    let waiting = scene.post();
    let sending = "SELECT COUNT(*) FROM messages WHERE state = 'sending'";
    until("the prompt is claimed", async || (scene.ledger.count(sending).await == 1).then_some(())).await;
    scene.kill().await;
    assert!(waiting.await.unwrap().is_none(), "a response came from a dead process");

    scene.begin_again().await;
    scene.ends(false, 0).await;
}

#[tokio::test]
async fn kill_during_the_request_leaves_the_prompt_unknown() {
    for kind in KINDS {
        let mut scene = Scene::of(kind).await;
        scene.upstream.pause();
        let waiting = scene.post();
        until("the upstream has it", async || (scene.upstream.posts_of(PROMPT) == 1).then_some(())).await;
        scene.kill().await;
        assert!(waiting.await.unwrap().is_none(), "a response came from a dead process");

        scene.upstream.resume();
        scene.begin_again().await;
        scene.ends(false, 1).await;
    }
}

#[tokio::test]
async fn kill_before_recording_the_response_leaves_the_prompt_unknown() {
    for kind in KINDS {
        let mut scene = Scene::of(kind).await;
        scene.upstream.pause();
        let waiting = scene.post();
        until("the upstream has it", async || (scene.upstream.posts_of(PROMPT) == 1).then_some(())).await;
        let responses = || scene.server.output().matches("remote=\"job_").count();
        let before = responses();
        let lock = scene.ledger.lock().await;
        scene.upstream.resume();
        until("the response has arrived", async || (responses() > before).then_some(())).await;
        scene.kill().await;
        lock.release().await;
        assert!(waiting.await.unwrap().is_none(), "a response came from a dead process");

        scene.begin_again().await;
        scene.ends(false, 1).await;
    }
}

#[tokio::test]
async fn kill_after_recording_leaves_the_prompt_accepted() {
    for kind in KINDS {
        let mut scene = Scene::of(kind).await;
        let response = scene.post();
        let accepted = "SELECT COUNT(*) FROM messages WHERE state = 'accepted'";
        let prompts = if kind == Kind::Create { 1 } else { 2 };
        until("it is recorded", async || (scene.ledger.count(accepted).await == prompts).then_some(())).await;
        scene.kill().await;
        // It does not matter whether the response arrived in time.
        drop(response.await.unwrap());

        let reads = scene.upstream.reads();
        scene.begin_again().await;
        scene.ends(true, 1).await;
        until("the job is read", async || (scene.upstream.reads() > reads).then_some(())).await;
    }
}
