//! The fault matrix: each upstream operation under each row of the [table], over real connections. Under every fault,
//! the user gets a message, the prompt a state, the upstream no extra calls, and other users their pages. Each row
//! has its own app and upstream, so that faults do not influence each other.

mod table;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use base::clock::Clock;
use futures::{FutureExt, StreamExt};
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use self::table::{Condition, Prompt, Read, Row, table};
use crate::helpers::{
    Browser, EmulatedUpstream, Settings, TestApp, black_hole, intent, json, refusing_address,
};

/// The time limit of an upstream call if a test waits for its outcome.
const DEADLINE: Duration = Duration::from_secs(2);

/// The time limit of an upstream call if no test waits for it.
const NEVER: Duration = Duration::from_secs(600);

/// Concurrent rows in each test.
const AT_ONCE: usize = 4;

/// The poll interval of the app that polls.
const BETWEEN_READS: Duration = Duration::from_secs(3);

/// An app whose upstream is about to fail.
struct Scene {
    row: Row,
    emulator: EmulatedUpstream,
    app: TestApp,
    operator: Browser,
    /// Reserves the address.
    _address: Option<Box<dyn Any>>,
    /// The upstream's request counts before the fault.
    before: Value,
}

impl Scene {
    /// Sets up the scene of a row; `prelude` runs before the fault starts.
    async fn set<T>(row: Row, prelude: impl AsyncFnOnce(&Browser) -> T) -> (Self, T) {
        Self::with_timeout(DEADLINE, row, prelude).await
    }

    /// As [`Scene::set`], with the time limit of an upstream call.
    async fn with_timeout<T>(
        timeout: Duration,
        row: Row,
        prelude: impl AsyncFnOnce(&Browser) -> T,
    ) -> (Self, T) {
        let emulator = EmulatedUpstream::start().await;
        let mut app =
            TestApp::with(Settings { timeout, upstream_url: Some(emulator.url()), ..Settings::default() })
                .await;
        let mut operator = app.operator().await;
        let played = prelude(&operator).await;
        let mut reserved_address: Option<Box<dyn Any>> = None;
        let elsewhere = match &row.condition {
            Condition::Fault(fault) | Condition::Stall(fault) => {
                emulator.fail_all(fault).await;
                None
            }
            Condition::Refused => {
                let (reserved, unreachable) = refusing_address();
                reserved_address = Some(Box::new(reserved));
                Some(unreachable)
            }
            Condition::BlackHole => {
                let (hole, unreachable) = black_hole();
                reserved_address = Some(Box::new(hole));
                Some(unreachable)
            }
        };
        if let Some(elsewhere) = elsewhere {
            app.restart_with(|settings| settings.upstream_url = Some(elsewhere)).await;
            operator = app.operator().await;
        }
        let before = emulator.requests().await;
        (Self { row, emulator, app, operator, _address: reserved_address, before }, played)
    }

    /// The result of `operation`, while other users load their pages.
    async fn meanwhile<T>(&self, operation: impl Future<Output = T>) -> T {
        futures::join!(operation, self.others_have_their_pages()).0
    }

    /// Other users load their pages while `operation` waits for the upstream.
    async fn stalls<T>(&self, operation: impl Future<Output = T>) {
        tokio::select! {
            biased;
            _ = operation => panic!("{}: the operation ended", self.row.name),
            () = self.others_have_their_pages() => {}
        }
    }

    async fn others_have_their_pages(&self) {
        for path in ["/healthz", "/p/docs/jobs", "/p/docs/jobs/new"] {
            let response = self.operator.get(path).await;
            assert_eq!(response.status, 200, "{}: {path}", self.row.name);
        }
    }

    /// Checks that the upstream has seen `times` requests of this kind since the fault started, and no others.
    async fn got_requests(&self, operation: &str, times: usize) {
        let mut expected = self.before.clone();
        let times = if self.row.condition.connects() { times } else { 0 };
        expected[operation] = json!(expected[operation].as_u64().unwrap() + times as u64);
        assert_eq!(self.emulator.requests().await, expected, "{}: {operation}", self.row.name);
    }

    /// Checks that a prompt has the state of the table, with a reason.
    fn prompt_ended(&self, state: &Value, reason: &Value) {
        let name = self.row.name;
        assert_eq!(state, self.row.prompt.state(), "{name}: {reason}");
        if self.row.prompt == Prompt::Accepted {
            assert_eq!(reason, &json!(null), "{name}");
            return;
        }
        let reason = reason.as_str().unwrap_or_else(|| panic!("{name}: no reason"));
        let promised = reason.contains("nothing was started");
        assert_eq!(promised, self.row.prompt == Prompt::Rejected, "{name}: {reason}");
        self.assert_readable(reason);
    }

    fn assert_readable(&self, sentence: &str) {
        let name = self.row.name;
        assert!(sentence.len() > 20 && sentence.starts_with("The platform"), "{name}: {sentence}");
        for inside in
            ["<", "{", "reqwest", "hyper", "serde", "127.0.0.1", "http", "invalid", "SQL", "panicked"]
        {
            assert!(!sentence.contains(inside), "{name}: {sentence}");
        }
    }
}

/// Runs every row, and names those that fail.
async fn for_every_row(play: impl AsyncFn(Row)) {
    run(table(), play).await;
}

async fn run(rows: Vec<Row>, play: impl AsyncFn(Row)) {
    let different: Vec<&str> = futures::stream::iter(rows)
        .map(|row| {
            let (name, played) = (row.name, AssertUnwindSafe(play(row)));
            async move { played.catch_unwind().await.is_err().then_some(name) }
        })
        .buffer_unordered(AT_ONCE)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert_eq!(different, Vec::<&str>::new());
}

/// A clock that starts when every job is due to be polled. The start is not much later, and the next poll is not far
/// away, because the app would otherwise detect a clock rollback.
fn when_due() -> (Clock, AbortOnDropHandle<()>) {
    let clock = Clock::frozen(Clock::system().now().plus_seconds(3_601));
    let (moved, began) = (clock.clone(), Instant::now());
    let moving = tokio::spawn(async move {
        let mut tick = tokio::time::interval(Duration::from_millis(5));
        let mut shown = 0;
        loop {
            tick.tick().await;
            // Slightly ahead, so that pauses that have ended by the system's clock have also ended by this one.
            let millis = began.elapsed().as_millis() as u64 + 20;
            moved.advance(Duration::from_millis(millis - shown));
            shown = millis;
        }
    });
    (clock, AbortOnDropHandle::new(moving))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_job_is_accepted_rejected_or_unknown_and_sent_once() {
    for_every_row(async |row| {
        let (scene, ()) = Scene::set(row, async |_| ()).await;
        let sent = intent();
        let response = scene.meanwhile(scene.operator.create("Fix typos", &sent)).await;
        assert_eq!(response.status, 200, "{}: {}", scene.row.name, response.text);
        let job = response.json();
        let delivered = if job["state"] == "active" { json!("accepted") } else { job["state"].clone() };
        scene.prompt_ended(&delivered, &job["reason"]);
        assert_eq!(job["prompt"], "Fix typos", "{}", scene.row.name);
        assert_eq!(scene.operator.create("Fix typos", &sent).await.json(), job, "{}", scene.row.name);
        scene.got_requests("create", 1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn follow_up_is_accepted_rejected_or_unknown_and_sent_once() {
    for_every_row(async |row| {
        let (scene, job) = Scene::set(row, async |operator| operator.created("Fix typos").await).await;
        let sent = intent();
        let response = scene.meanwhile(scene.operator.follow_up(&job, "And more", &sent)).await;
        assert_eq!(response.status, 200, "{}: {}", scene.row.name, response.text);
        let followed = response.json();
        let message = &followed["follow_ups"][0];
        scene.prompt_ended(&message["state"], &message["reason"]);
        assert_eq!((&message["prompt"], &followed["state"]), (&json!("And more"), &json!("active")));
        let again = scene.operator.follow_up(&job, "And more", &sent).await;
        assert_eq!(again.json(), followed, "{}", scene.row.name);
        scene.got_requests("follow-up", 1).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_keeps_its_last_known_state_when_polls_fail() {
    for_every_row(async |row| {
        let (scene, job) = Scene::set(row, async |operator| operator.created("Fix typos").await).await;
        let before = scene.operator.job(&job).await;
        scene.emulator.finish_jobs();
        let (later, _moving) = when_due();
        let reader = scene.app.idle_state(later, BETWEEN_READS).await;
        let name = scene.row.name;
        assert_eq!(scene.meanwhile(reader.jobs.poll_due()).await.unwrap(), 1, "{name}");
        let after = scene.operator.job(&job).await;
        match scene.row.read {
            Read::Same => assert_eq!(after, before, "{name}"),
            Read::Seen => assert_eq!(after["state"], "completed", "{name}"),
        }
        let page = scene.operator.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await;
        assert!(page.status == 200 && page.text.contains("Fix typos"), "{name}");
        scene.got_requests("get", scene.row.gets).await;
        reader.store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_view_query_returns_figures_or_a_message() {
    for_every_row(async |row| {
        let (scene, ()) = Scene::set(row, async |_| ()).await;
        let request = scene.operator.post("/api/analytics/views", &[("project", "docs")]);
        let response = scene.meanwhile(request).await;
        match scene.row.views {
            (200, _) => {
                assert_eq!(response.status, 200, "{}: {}", scene.row.name, response.text);
                assert!(response.json()["totals"]["total"].is_u64(), "{}", scene.row.name);
            }
            (status, code) => {
                assert_eq!(response.status, status, "{}: {}", scene.row.name, response.text);
                scene.assert_readable(&response.refused(status, code));
            }
        }
        scene.got_requests("views", scene.row.gets).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_upstream_does_not_delay_other_users() {
    let rows = table().into_iter().filter(|row| row.condition.stalls()).collect();
    run(rows, async |row| {
        let (scene, job) =
            Scene::with_timeout(NEVER, row, async |operator| operator.created("Fix typos").await).await;
        let views = scene.operator.post("/api/analytics/views", &[("project", "docs")]);
        let prompts = (intent(), intent());
        scene.stalls(scene.operator.create("Fix links", &prompts.0)).await;
        scene.stalls(scene.operator.follow_up(&job, "And more", &prompts.1)).await;
        scene.stalls(views).await;
        let (later, _moving) = when_due();
        let reader = scene.app.idle_state(later, BETWEEN_READS).await;
        scene.stalls(reader.jobs.poll_due()).await;
        reader.store.close().await;
    })
    .await;
}
