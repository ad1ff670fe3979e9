//! The state of pull requests, as the code host reports it.

mod bad_responses;
mod connections;
mod failures;
mod joined;
mod pauses;

use std::time::Duration;

use base::clock::Clock;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::code_host::{CodeHost, TOKEN, open_pull_request};
use crate::helpers::{Browser, New, Settings, TestApp, detached_job, intent, job_with, json, until};

/// 2026-11-21T10:00:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_795_255_200_000);

struct Tracked {
    app: TestApp,
    host: CodeHost,
    clock: Clock,
    browser: Browser,
}

/// An app that is connected to a code host, with a frozen clock.
async fn tracked() -> Tracked {
    let host = CodeHost::start().await;
    let clock = Clock::frozen(NOW);
    let settings = Settings { code_hosts: host.connection(), clock: clock.clone(), ..Settings::default() };
    let app = TestApp::with(settings).await;
    let browser = app.operator().await;
    Tracked { app, host, clock, browser }
}

impl Tracked {
    /// A job whose pull request is at the code host.
    async fn job(&self, number: u64) -> String {
        self.job_with_link(&self.host.link(number)).await
    }

    async fn job_with_link(&self, link: &str) -> String {
        self.job_with(link, &[]).await
    }

    /// A job whose pull request has this link, with more fields of its form.
    async fn job_with(&self, link: &str, more: &[(&str, &str)]) -> String {
        let link = link.to_owned();
        let completed = move |_: &Request| {
            ResponseTemplate::new(201).set_body_json(job_with(
                &detached_job(),
                "completed",
                "prLink",
                json!(link),
            ))
        };
        self.app.upstream.on_create(completed).await;
        let pairs = [("project", "docs"), ("prompt", "Fix the quickstart"), ("intent", &intent())];
        let pairs = [&pairs[..], more].concat();
        self.browser.post_json("/api/jobs/create", &pairs).await["id"].as_str().unwrap().to_owned()
    }

    async fn request_of(&self, job: &str) -> Value {
        self.browser.job(&json!({ "id": job })).await["pull_request"].clone()
    }

    /// Waits until a field of the job's pull request has this value.
    async fn until(&self, job: &str, field: &str, value: Value) -> Value {
        until(&format!("{field} is {value}"), async || {
            let request = self.request_of(job).await;
            (request[field] == value).then_some(request)
        })
        .await
    }

    /// Starts a job and waits until its pull request with this number is open. Returns the job and the pull request.
    async fn open_job(&self, number: u64) -> (String, Value) {
        self.host.set(number, open_pull_request());
        let job = self.job(number).await;
        let request = self.until(&job, "state", json!("open")).await;
        (job, request)
    }

    fn wait_minutes(&self, minutes: u64) {
        self.clock.advance(Duration::from_secs(minutes * 60));
    }

    /// Waits longer than a session lasts.
    async fn wait_days(&mut self, days: u64) {
        self.wait_minutes(days * 24 * 60);
        self.browser = self.app.operator().await;
    }
}

#[tokio::test]
async fn job_has_the_state_of_its_pull_request() {
    let tracked = tracked().await;
    let (_, request) = tracked.open_job(259).await;
    let mut shown = request.clone();
    assert_eq!(shown["url"].take(), tracked.host.link(259));
    insta::assert_json_snapshot!(shown);
    let list = tracked.browser.post_json("/api/jobs/list", &[("project", "docs"), ("pr", "open")]).await;
    assert_eq!(list["jobs"][0]["pull_request"], request);
    for (filter, jobs) in
        [("waiting", 1), ("draft", 0), ("merged", 0), ("closed", 0), ("conflict", 0), ("yes", 1), ("no", 0)]
    {
        let list = tracked.browser.post_json("/api/jobs/list", &[("project", "docs"), ("pr", filter)]).await;
        assert_eq!(list["total"], jobs, "{filter}");
    }
}

#[tokio::test]
async fn open_pull_request_is_checked_every_five_minutes_until_it_is_finished() {
    let mut tracked = tracked().await;
    let (job, _) = tracked.open_job(1).await;
    tracked.host.change(1, &json!({ "isDraft": true, "mergeable": "CONFLICTING" }));
    tracked.wait_minutes(6);
    let draft = tracked.until(&job, "state", json!("draft")).await;
    assert_eq!((&draft["waiting_for"], &draft["conflict"]), (&json!("author"), &json!(true)));
    tracked.host.change(
        1,
        &json!({ "state": "MERGED", "mergedAt": "2026-11-21T10:08:00Z", "closedAt": "2026-11-21T10:08:00Z" }),
    );
    tracked.wait_minutes(6);
    let merged = tracked.until(&job, "state", json!("merged")).await;
    assert_eq!((&merged["waiting_for"], &merged["conflict"]), (&json!("nobody"), &json!(false)));
    assert_eq!(merged["merged_at"], "2026-11-21T10:08:00Z");
    // Once more after ten minutes, and then never.
    tracked.wait_minutes(12);
    tracked.until(&job, "checked_at", json!("2026-11-21T10:24:00Z")).await;
    let before = tracked.host.queries().await.len();
    tracked.wait_days(1).await;
    // Another pull request shows that checks go on.
    tracked.host.set(2, open_pull_request());
    let other = tracked.job(2).await;
    tracked.until(&other, "state", json!("open")).await;
    assert_eq!(tracked.host.queries().await.len(), before + 2);
}

#[tokio::test]
async fn link_to_another_host_is_not_tracked() {
    let tracked = tracked().await;
    tracked.host.set(1, open_pull_request());
    let links = [
        "https://elsewhere.example/acme/docs/pull/1".to_owned(),
        format!("{}.example/acme/docs/pull/1", tracked.host.url()),
        format!("{}/acme/docs/issues/1", tracked.host.url()),
        "not a link".to_owned(),
    ];
    for link in links {
        let job = tracked.job_with_link(&link).await;
        let here = tracked.job(1).await;
        tracked.until(&here, "state", json!("open")).await;
        let request = tracked.request_of(&job).await;
        assert_eq!((&request["state"], &request["tracked"]), (&json!("unknown"), &json!(false)), "{link}");
    }
    let queries = tracked.host.queries().await;
    assert!(!queries.is_empty());
    assert!(queries.iter().all(|query| query.headers["authorization"] == format!("Bearer {TOKEN}")));
}

#[tokio::test]
async fn limit_of_the_code_host_is_observed_with_a_margin() {
    let tracked = tracked().await;
    tracked.host.set(1, open_pull_request());
    let limit = |remaining: &str| {
        [
            ("x-ratelimit-limit", "5000".to_owned()),
            ("x-ratelimit-remaining", remaining.to_owned()),
            // The clock of the host is five minutes ahead: the window ends in 20 minutes.
            ("x-ratelimit-reset", (NOW.as_millis() / 1_000 + 300 + 1_200).to_string()),
            ("date", "Sat, 21 Nov 2026 10:05:00 GMT".to_owned()),
        ]
    };
    tracked.host.set_headers(&limit("500"));
    let job = tracked.job(1).await;
    tracked.until(&job, "state", json!("open")).await;
    let admin = tracked.app.sign_in("ada").await;
    let status = admin.post_json("/api/upstream/status", &[]).await;
    let host = &status["code_hosts"][0];
    assert_eq!(
        host["limit"],
        json!({ "limit": 5000, "remaining": 500, "resets_at": "2026-11-21T10:20:00Z" }),
        "{status}"
    );
    assert_eq!(host["paused_until"], "2026-11-21T10:20:00Z");
    tracked.host.set_headers(&limit("4999"));
    tracked.wait_minutes(21);
    tracked.until(&job, "checked_at", json!("2026-11-21T10:21:00Z")).await;
}

#[tokio::test]
async fn opened_page_checks_a_state_older_than_a_minute_once() {
    let tracked = tracked().await;
    let (job, _) = tracked.open_job(1).await;
    let path = format!("/p/docs/jobs/{job}");
    let before = tracked.host.queries().await.len();
    tracked.browser.get(&path).await;
    tracked.wait_minutes(2);
    tracked.host.change(1, &json!({ "isDraft": true }));
    futures::future::join_all((0..20).map(|_| tracked.browser.get(&path))).await;
    tracked.until(&job, "state", json!("draft")).await;
    // The state, and the checks.
    assert_eq!(tracked.host.queries().await.len(), before + 2);
}

/// A receiver of webhooks, and the events that it got.
async fn with_receiver(tracked: &Tracked) -> wiremock::MockServer {
    let receiver = wiremock::MockServer::start().await;
    wiremock::Mock::given(wiremock::matchers::any())
        .respond_with(ResponseTemplate::new(200))
        .mount(&receiver)
        .await;
    let admin = tracked.app.sign_in("ada").await;
    New::webhook(&receiver.uri()).made(&admin).await;
    receiver
}

async fn events(receiver: &wiremock::MockServer) -> Vec<String> {
    let requests = receiver.received_requests().await.unwrap();
    let kind = |request: &Request| request.body_json::<Value>().unwrap()["type"].as_str().unwrap().to_owned();
    requests.iter().map(kind).filter(|kind| kind.starts_with("pull_request.")).collect()
}

#[tokio::test]
async fn merge_is_notified_once() {
    let tracked = tracked().await;
    let receiver = with_receiver(&tracked).await;
    let (job, _) = tracked.open_job(1).await;
    tracked.browser.post_json("/api/notifications/read", &[("project", "docs")]).await;
    tracked.host.change(
        1,
        &json!({ "state": "MERGED", "mergedAt": "2026-11-21T10:05:00Z", "closedAt": "2026-11-21T10:05:00Z" }),
    );
    tracked.wait_minutes(7);
    tracked.until(&job, "state", json!("merged")).await;
    until("the event is delivered", async || (!events(&receiver).await.is_empty()).then_some(())).await;
    tracked.wait_minutes(12);
    tracked.until(&job, "checked_at", json!("2026-11-21T10:19:00Z")).await;
    assert_eq!(events(&receiver).await, ["pull_request.merged"]);
    let news = tracked.browser.post_json("/api/notifications/list", &[("project", "docs")]).await;
    assert_eq!(news["new"][0]["id"], json!(job), "{news}");
    let page = tracked.browser.get(&format!("/p/docs/jobs/{job}")).await.text;
    assert!(page.contains("Pull request merged"), "{page}");
}

#[tokio::test]
async fn waiting_pull_request_is_reported_as_stale_once() {
    let mut tracked = tracked().await;
    let receiver = with_receiver(&tracked).await;
    tracked.host.set(1, open_pull_request());
    // Old when Docket first sees it: no news.
    tracked.host.set(2, open_pull_request());
    tracked.host.change(2, &json!({ "createdAt": "2026-11-11T10:00:00Z" }));
    let (job, old) = (tracked.job(1).await, tracked.job(2).await);
    tracked.until(&job, "state", json!("open")).await;
    tracked.until(&old, "state", json!("open")).await;
    for _ in 0..2 {
        tracked.wait_days(4).await;
        let expected = json!(tracked.clock.now());
        tracked.until(&job, "checked_at", expected).await;
    }
    until("the event is delivered", async || (!events(&receiver).await.is_empty()).then_some(())).await;
    assert_eq!(events(&receiver).await, ["pull_request.stale"]);
    let news = tracked.browser.get("/p/docs/notifications").await.text;
    assert!(news.contains("waiting for") && news.contains("a reviewer"), "{news}");
    let overview = tracked.browser.get("/p/docs").await.text;
    assert!(overview.contains("Stale") && overview.contains("All reviews"), "{overview}");
    let reviews = tracked.browser.post_json("/api/pull-requests/reviews", &[("project", "docs")]).await;
    assert_eq!(reviews["groups"][0]["waiting_for"], "reviewer");
    assert_eq!(
        (&reviews["groups"][0]["total"], &reviews["groups"][0]["jobs"][0]["job"]),
        (&json!(2), &json!(old))
    );
}

#[tokio::test]
async fn pull_requests_of_a_removed_project_wait_until_it_returns() {
    let mut tracked = tracked().await;
    let receiver = with_receiver(&tracked).await;
    let (job, _) = tracked.open_job(1).await;
    tracked.host.set(2, open_pull_request());
    tracked.job_with(&tracked.host.link(2), &[]).await;
    let ledger = tracked.app.ledger();
    until("both are open", async || {
        (ledger.count("SELECT COUNT(*) FROM pull_requests WHERE state = 'open'").await == 2).then_some(())
    })
    .await;
    // The second one belongs to another project, which shows that the checks go on.
    ledger.run("UPDATE jobs SET project = 'api' WHERE pr_link LIKE '%/pull/2'").await;
    ledger.run("UPDATE pull_requests SET project = 'api' WHERE number = 2").await;
    let checked = "SELECT MAX(checked_at) FROM pull_requests WHERE project = 'docs'";
    let other_checked = "SELECT MAX(checked_at) FROM pull_requests WHERE project = 'api'";
    let before = ledger.count(checked).await;
    tracked.host.change(
        1,
        &json!({ "state": "MERGED", "mergedAt": "2026-11-25T10:00:00Z", "closedAt": "2026-11-25T10:00:00Z" }),
    );

    tracked.app.restart_with(|settings| settings.projects = "api=API reference".to_owned()).await;
    for _ in 0..2 {
        // Long enough for an open pull request to become stale.
        tracked.wait_days(2).await;
        let now = tracked.clock.now().as_millis();
        until("the other one is checked", async || (ledger.count(other_checked).await == now).then_some(()))
            .await;
    }
    assert_eq!(ledger.count(checked).await, before, "the pull request of a removed project is checked");
    assert_eq!(
        ledger.count("SELECT COUNT(*) FROM pull_requests WHERE project = 'docs' AND stale = 1").await,
        0
    );
    assert_eq!(events(&receiver).await, <[String; 0]>::default());

    tracked.app.restart_with(|settings| settings.projects = "docs=Docs,api=API reference".to_owned()).await;
    tracked.browser = tracked.app.operator().await;
    tracked.until(&job, "state", json!("merged")).await;
    until("the merge is reported", async || (!events(&receiver).await.is_empty()).then_some(())).await;
    assert_eq!(events(&receiver).await, ["pull_request.merged"]);
}

#[tokio::test]
async fn five_hundred_open_pull_requests_need_at_most_22_requests_per_refresh() {
    let tracked = tracked().await;
    for number in 1..=500 {
        tracked.host.set(number, open_pull_request());
    }
    let job = tracked.job(1).await;
    tracked.until(&job, "state", json!("open")).await;
    let ledger = tracked.app.ledger();
    let copies = format!(
        "INSERT INTO jobs (id, project, state, created_at, changed_at, remote_id, remote_status, pr_link)
         WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
         SELECT '01930000-0000-7000-8000-000000' || (100000 + i), 'docs', 'completed', 1, 1, 'r' || i, 'completed', '{}/acme/docs/pull/' || i FROM n",
        tracked.host.url()
    );
    ledger.run(copies.leak()).await;
    let open = "SELECT COUNT(*) FROM pull_requests WHERE state = 'open'";
    until("all are known", async || (ledger.count(open).await == 500).then_some(())).await;
    for _ in 0..3 {
        let before = tracked.host.queries().await.len();
        tracked.wait_minutes(6);
        let current = format!(
            "SELECT COUNT(*) FROM pull_requests WHERE checked_at = {}",
            tracked.clock.now().as_millis()
        );
        let current: &'static str = current.leak();
        until("all are current", async || (ledger.count(current).await == 500).then_some(())).await;
        let requests = tracked.host.queries().await.len() - before;
        assert!(requests <= 22, "{requests}");
    }
}

#[tokio::test]
async fn two_processes_share_the_checks() {
    let tracked = tracked().await;
    let (job, _) = tracked.open_job(1).await;
    let other = tracked.app.idle_state(tracked.clock.clone(), Duration::from_secs(3_600)).await;
    let stop = tokio_util::sync::CancellationToken::new();
    let before = tracked.host.queries().await.len();
    tracked.wait_minutes(6);
    let expected = json!(tracked.clock.now());
    futures::future::join_all((0..10).map(|_| other.code_hosts.check_due(&stop)))
        .await
        .into_iter()
        .for_each(Result::unwrap);
    tracked.until(&job, "checked_at", expected).await;
    assert_eq!(tracked.host.queries().await.len(), before + 2);
}

#[tokio::test]
async fn open_pull_request_is_shown_where_its_page_is_used() {
    let tracked = tracked().await;
    let (job, _) = tracked.open_job(259).await;
    tracked
        .app
        .ledger()
        .run("INSERT INTO page_paths (project, path, seen_on) VALUES ('docs', '/quickstart', '2026-11-20')")
        .await;
    let fields = [("project", "docs"), ("prompt", "Something else"), ("paths", "/quickstart")];
    let similar = tracked.browser.post_json("/api/jobs/similar", &fields).await;
    assert_eq!((&similar[0]["id"], &similar[0]["changed_by"]), (&json!(job), &json!("#259")), "{similar}");
    let page = tracked.browser.get(&format!("/p/docs/jobs/{job}")).await.text;
    assert!(page.contains("href=\"/p/docs/analytics?path=/quickstart\""), "{page}");
}
