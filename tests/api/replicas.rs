//! Several processes on one database serve the same data: a running one keeps its deliveries, the others notice when one ends, and
//! the clocks of their machines do not matter. On PostgreSQL, whatever database the other tests use.

use std::sync::Arc;

use futures::future::join_all;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::databases::{Network, TestDatabase};
use crate::helpers::{
    Browser, Installation, Ledger, New, PASSWORD, PausedUpstream, Served, TestResponse, intent, until,
};

const PROMPT: &str = "Fix every typo in the guides";

const SENDING: &str = "SELECT COUNT(*) FROM messages WHERE state = 'sending'";
const UNKNOWN: &str = "SELECT COUNT(*) FROM messages WHERE state = 'unknown'";
const ACCEPTED: &str = "SELECT COUNT(*) FROM messages WHERE state = 'accepted'";
const INSTANCES: &str = "SELECT COUNT(*) FROM instances";

/// A database for several processes, and their upstream.
struct Site {
    upstream: PausedUpstream,
    database: TestDatabase,
    installation: Installation,
    ledger: Ledger,
}

impl Site {
    async fn new() -> Self {
        let upstream = PausedUpstream::start().await;
        let database = TestDatabase::of_server("").await;
        let installation = installation(&upstream, database.url());
        let ledger = Ledger::at(database.url());
        Self { upstream, database, installation, ledger }
    }

    async fn process(&self) -> (Served, Arc<Browser>) {
        let server = self.installation.serve(&["serve"]);
        let browser = server.signed_in().await;
        (server, Arc::new(browser))
    }

    /// Waits until `living` processes sent two more heartbeats, after each of which they look for abandoned deliveries.
    async fn beats(&self, living: usize) {
        for _ in 0..2 {
            let before = self.seen().await;
            until("all sent a heartbeat", async || {
                let now = self.seen().await;
                let beaten = before.iter().zip(&now).filter(|(before, now)| now > before);
                (beaten.count() == living).then_some(())
            })
            .await;
        }
    }

    async fn seen(&self) -> Vec<i64> {
        let mut connection = self.ledger.connection().await;
        sqlx::query_scalar("SELECT seen_at FROM instances ORDER BY id")
            .fetch_all(&mut connection)
            .await
            .unwrap()
    }
}

fn installation(upstream: &PausedUpstream, database: &str) -> Installation {
    Installation::in_file(&upstream.url())
        .set("DOCKET_ADMIN_PASSWORD", PASSWORD)
        .set("DOCKET_DATABASE_URL", database)
        .set("DOCKET_POLL_SECONDS", "1")
        // Longer than these tests pause the platform on a busy machine.
        .set("DOCKET_UPSTREAM_TIMEOUT_SECONDS", "100")
}

fn post(browser: &Arc<Browser>, intent: &str) -> JoinHandle<Option<TestResponse>> {
    post_prompt(browser, PROMPT, intent)
}

fn post_prompt(browser: &Arc<Browser>, prompt: &str, intent: &str) -> JoinHandle<Option<TestResponse>> {
    let request = New::job(prompt).with("intent", intent).request(browser);
    let browser = browser.clone();
    tokio::spawn(async move { browser.try_send(request).await.ok() })
}

async fn listed(browser: &Browser) -> Value {
    browser.post_json("/api/jobs/list", &[("project", "docs")]).await["jobs"].clone()
}

#[tokio::test]
async fn starting_process_does_not_touch_deliveries_of_another() {
    let site = Site::new().await;
    let (_first, there) = site.process().await;
    site.upstream.pause();
    let sent = intent();
    let waiting = post(&there, &sent);
    until("the upstream has it", async || (site.upstream.posts_of(PROMPT) == 1).then_some(())).await;

    let (second, here) = site.process().await;
    // As if the process had run for a while: now it looks for abandoned deliveries.
    site.ledger.run("UPDATE instances SET steady_since = 0").await;
    site.beats(2).await;
    assert_eq!(site.ledger.count(SENDING).await, 1);
    assert_eq!(listed(&here).await[0]["state"], json!("sending"), "the other process sees it too");

    // The same form at the other process waits for the same delivery.
    let again = post(&here, &sent);
    site.upstream.resume();
    let (first_answer, second_answer) =
        (waiting.await.unwrap().unwrap().json(), again.await.unwrap().unwrap().json());
    assert_eq!(first_answer["id"], second_answer["id"]);
    assert_eq!(second_answer["state"], json!("active"), "{second_answer}");
    assert_eq!(site.upstream.posts_of(PROMPT), 1);
    assert_eq!((site.ledger.count(UNKNOWN).await, site.ledger.count(ACCEPTED).await), (0, 1));

    second.signal("TERM");
    assert!(second.ended().await.success());
    assert_eq!(site.ledger.count(INSTANCES).await, 1, "it took its leave");
}

#[tokio::test]
async fn abandoned_deliveries_become_unknown_after_the_grace_time() {
    let site = Site::new().await;
    let (killed, there) = site.process().await;
    let (_living, here) = site.process().await;
    site.upstream.pause();
    let sent = intent();
    let waiting = post(&there, &sent);
    until("the upstream has it", async || (site.upstream.posts_of(PROMPT) == 1).then_some(())).await;
    killed.signal("KILL");
    assert_eq!(killed.ended().await.code(), None);
    assert!(waiting.await.unwrap().is_none());

    // The running process has not itself run for the grace time. 40 s ahead: a heartbeat counts if it differs from now by at most the grace time of
    // 45 s, also in the future.
    site.ledger
        .run(
            "UPDATE instances SET steady_since = seen_at + 40000;
             UPDATE instances SET seen_at = 0 WHERE id = (SELECT MIN(id) FROM instances)",
        )
        .await;
    site.beats(1).await;
    assert_eq!(site.ledger.count(SENDING).await, 1);
    // It has, but the other one sent a heartbeat recently.
    site.ledger
        .run(
            "UPDATE instances SET seen_at = (SELECT MAX(seen_at) FROM instances) + 40000
             WHERE id = (SELECT MIN(id) FROM instances);
             UPDATE instances SET steady_since = 0",
        )
        .await;
    site.beats(1).await;
    assert_eq!(site.ledger.count(SENDING).await, 1);

    site.ledger.grace_is_over().await;
    until("the living one finds it", async || (site.ledger.count(UNKNOWN).await == 1).then_some(())).await;
    site.upstream.resume();
    let job = &listed(&here).await[0];
    assert!(job["reason"].as_str().unwrap().contains("stopped"), "{job}");
    assert_eq!(post(&here, &sent).await.unwrap().unwrap().json()["id"], job["id"]);
    assert_eq!(site.upstream.posts_of(PROMPT), 1, "it was sent again");
}

#[tokio::test]
async fn stopping_process_completes_its_deliveries() {
    let site = Site::new().await;
    let (leaving, there) = site.process().await;
    let (_staying, here) = site.process().await;
    site.upstream.pause();
    let waiting = post(&there, &intent());
    until("the upstream has it", async || (site.upstream.posts_of(PROMPT) == 1).then_some(())).await;
    leaving.signal("TERM");
    leaving.output_after("stopping").await;
    site.ledger.run("UPDATE instances SET steady_since = 0").await;
    site.beats(2).await;
    assert_eq!(site.ledger.count(SENDING).await, 1, "it was considered ended");
    site.upstream.resume();
    assert!(leaving.ended().await.success());
    _ = waiting.await.unwrap();
    assert_eq!(listed(&here).await[0]["state"], json!("active"));
    assert_eq!(site.ledger.count("SELECT COUNT(*) FROM job_events WHERE state = 'unknown'").await, 0);
}

#[tokio::test]
async fn stalled_database_network_is_reported_and_recovers() {
    let site = Site::new().await;
    let network = Network::to(site.database.url()).await;
    let (_other, there) = site.process().await;
    let installation = installation(&site.upstream, &network.url());
    let server = installation.serve(&["serve"]);
    let here = Arc::new(server.signed_in().await);
    until("it is ready", async || (here.get("/readyz").await.status == 200).then_some(())).await;

    network.stall(true);
    // The network stalls until the test ends that, so a request without a timeout would get no response.
    assert_eq!(here.get("/readyz").await.status, 503);
    // Meanwhile requests get an error message, also those without a free connection.
    let sent = intent();
    let pages = join_all((0..20).map(|_| here.get("/p/docs/jobs")));
    let (refused, pages) = tokio::join!(post(&here, &sent), pages);
    let message = refused.unwrap().unwrap().refused(503, "database_unavailable");
    assert!(message.contains("Try again in a moment"), "{message}");
    for page in pages {
        assert_eq!(page.status, 503);
        assert!(page.text.contains("Try again in a moment"), "{}", page.text);
    }
    assert_eq!(there.get("/readyz").await.status, 200, "the other one has its own network");

    network.stall(false);
    until("it is ready again", async || (here.get("/readyz").await.status == 200).then_some(())).await;
    assert_eq!(post(&here, &sent).await.unwrap().unwrap().json()["state"], json!("active"));
    assert_eq!(site.upstream.posts_of(PROMPT), 1);
}

/// How many prompts three processes get while replies to `COMMIT` are lost. Fewer than a project may start in an hour.
const PROMPTS: usize = 60;
/// How many of them are sent at once. All at once would wait longer for each other than the database lets them, on a busy machine.
const AT_ONCE: usize = 10;

#[tokio::test]
async fn every_prompt_is_sent_once_although_replies_to_commits_are_lost() {
    let site = Site::new().await;
    let (mut servers, mut browsers, mut networks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let network = Network::to(site.database.url()).await;
        let server = installation(&site.upstream, &network.url()).serve(&["serve"]);
        browsers.push(Arc::new(server.signed_in().await));
        servers.push(server);
        networks.push(network);
    }
    for network in &networks {
        network.lose_commits(5);
    }
    let browsers = &browsers;
    let posted = stream::iter(0..PROMPTS).map(async |n| {
        let (prompt, intent) = (format!("Fix typo {n}"), intent());
        // A person whose form was not confirmed sends it again, to whichever process responds.
        for attempt in n.. {
            let response = post_prompt(&browsers[attempt % browsers.len()], &prompt, &intent).await.unwrap();
            if let Some(response) = response {
                if response.status == 200 {
                    break;
                }
                let text = response.text;
                assert!(!text.contains("nothing was sent"), "the prompt may have been stored: {text}");
            }
        }
        prompt
    });
    let posted: Vec<String> = posted.buffer_unordered(AT_ONCE).collect().await;
    let unfinished = "SELECT COUNT(*) FROM messages WHERE state NOT IN ('accepted', 'unknown')";
    until("every delivery ended", async || (site.ledger.count(unfinished).await == 0).then_some(())).await;
    assert!(networks.iter().map(Network::lost_commits).sum::<u64>() > 20, "too few replies were lost");
    for prompt in posted {
        assert_eq!(site.upstream.posts_of(&prompt), 1, "{prompt}");
    }
    // No process ended, so every outcome is known.
    let accepted = usize::try_from(site.ledger.count(ACCEPTED).await).unwrap();
    assert_eq!((accepted, site.ledger.count(UNKNOWN).await), (PROMPTS, 0));
}

#[tokio::test]
async fn clocks_that_differ_by_a_minute_have_no_effect() {
    let site = Site::new().await;
    let fast = site.installation.serve_with_clock(30, &["serve"]);
    let slow = site.installation.serve_with_clock(-30, &["serve"]);
    let (of_fast, of_slow) = (Arc::new(fast.signed_in().await), Arc::new(slow.signed_in().await));
    // Jobs from alternating processes: they and their timelines are listed in the order of their start.
    let mut expected = Vec::new();
    for n in 0..6 {
        let browser = if n % 2 == 0 { &of_fast } else { &of_slow };
        expected.insert(0, browser.created(&format!("Prompt {n}")).await["id"].clone());
    }
    let ids: Vec<Value> =
        listed(&of_slow).await.as_array().unwrap().iter().map(|job| job["id"].clone()).collect();
    assert_eq!(ids, expected);
    let between =
        "SELECT MAX(ABS(created_at - CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT))) FROM messages";
    assert!(site.ledger.count(between).await < 25_000, "a time is not the database's");
    // Each process considers the other one running.
    site.ledger.run("UPDATE instances SET steady_since = 0").await;
    site.beats(2).await;
    assert_eq!(site.ledger.count(INSTANCES).await, 2);
    assert_eq!(site.ledger.count(UNKNOWN).await, 0);
}

#[tokio::test]
async fn failed_sign_ins_are_counted_across_processes() {
    let site = Site::new().await;
    let (first, _) = site.process().await;
    let (second, _) = site.process().await;
    let (here, there) = (Browser::at(&first.address().await), Browser::at(&second.address().await));
    for _ in 0..5 {
        assert_eq!(here.sign_in("somebody", "a few wrong words").await.status, 401);
        assert_eq!(there.sign_in("somebody", "a few wrong words").await.status, 401);
    }
    for browser in [here, there] {
        browser.sign_in("somebody", "a few wrong words").await.refused(429, "too_many_attempts");
    }
}
