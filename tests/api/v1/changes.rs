//! Following all changes with a cursor, and asking again with the version of a response.

use std::collections::BTreeMap;
use std::time::Duration;

use base::clock::Clock;
use model::time::Timestamp;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use reqwest::Method;
use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use super::Script;
use crate::api_tokens::problem;
use crate::helpers::code_host::CodeHost;
use crate::helpers::{Browser, Settings, TestApp, TestResponse, json, remote_job};

const NOW: Timestamp = Timestamp::from_millis(1_795_255_200_000);
const JOBS: &str = "/projects/docs/jobs";
const ALL: &str = "/projects/docs/jobs?archived=any&limit=100";
const SINCE_THEN: &str = "changed_after=2026-11-01T00:00:00Z&archived=any";

/// A statement for each kind of change that a program sees, of the job whose id follows.
const CHANGES: [&str; 14] = [
    "UPDATE jobs SET follow_up_unseen = 1 - follow_up_unseen WHERE id = ",
    "UPDATE jobs SET next_poll_at = CASE WHEN next_poll_at IS NULL THEN 99999999999999 END WHERE id = ",
    "UPDATE jobs SET reason = COALESCE(reason, '') || 'x' WHERE id = ",
    "UPDATE jobs SET outcome = CASE WHEN outcome = 'failed' THEN NULL ELSE 'failed' END WHERE id = ",
    "UPDATE jobs SET remote_status = COALESCE(remote_status, '') || 'x' WHERE id = ",
    "UPDATE jobs SET repository = COALESCE(repository, '') || 'x' WHERE id = ",
    "UPDATE jobs SET git_ref = COALESCE(git_ref, '') || 'x' WHERE id = ",
    "UPDATE jobs SET pr_is_earlier = 1 - pr_is_earlier WHERE id = ",
    "UPDATE jobs SET remote_created_at = COALESCE(remote_created_at, 0) + 1 WHERE id = ",
    "UPDATE messages SET reason = COALESCE(reason, '') || 'x' WHERE position > 0 AND job_id = ",
    "UPDATE pull_requests SET checks = CASE WHEN checks = 'passed' THEN 'failed' ELSE 'passed' END WHERE job_id = ",
    "UPDATE pull_requests SET conflict = 1 - conflict WHERE job_id = ",
    "UPDATE pull_requests SET merged_at = COALESCE(merged_at, 0) + 1000, state = 'merged' WHERE job_id = ",
    "DELETE FROM job_paths WHERE job_id = ",
];

/// Changes jobs at random, through the API, the platform and the database.
struct World {
    app: TestApp,
    operator: Browser,
    random: StdRng,
    jobs: Vec<String>,
    host: CodeHost,
}

impl World {
    async fn with(seed: u64) -> Self {
        let (host, clock) = (CodeHost::start().await, Clock::frozen(NOW));
        let settings = Settings { code_hosts: host.connection(), clock, ..Settings::default() };
        let app = TestApp::with(settings).await;
        app.upstream.accepts_jobs().await;
        app.upstream.accepts_follow_ups().await;
        let operator = app.operator().await;
        Self { app, operator, random: StdRng::seed_from_u64(seed), jobs: Vec::new(), host }
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.random_range(0..end)
    }

    /// One change, and time in which a token may send further requests.
    async fn change(&mut self, script: &Script) {
        self.app.clock().advance(Duration::from_secs(10));
        let Some(job) = self.jobs.choose(&mut self.random).cloned() else {
            return self.start(script).await;
        };
        match self.below(8) {
            0 => self.start(script).await,
            1 => self.tag("tag", &job).await,
            2 => self.tag("untag", &job).await,
            3 => _ = script.act(&format!("{JOBS}/{job}/archive")).await,
            4 => _ = script.act(&format!("{JOBS}/{job}/restore")).await,
            5 => {
                let key = self.below(u64::MAX).to_string();
                let path = format!("{JOBS}/{job}/messages");
                script.post(&path, &key, &json!({"prompt": "Also fix /b", "queue": true})).await;
            }
            6 => self.poll(&job).await,
            _ => {
                let change = CHANGES.choose(&mut self.random).unwrap();
                self.app.ledger().execute(format!("{change}'{job}'")).await;
            }
        }
    }

    async fn start(&mut self, script: &Script) {
        let key = self.below(u64::MAX).to_string();
        let body = json!({"prompt": format!("Fix /a/{key}"), "tags": ["First"]});
        let started = script.post(JOBS, &key, &body).await;
        assert_eq!(started.status, 201, "{}", started.text);
        self.jobs.push(started.json()["id"].as_str().unwrap().to_owned());
    }

    async fn tag(&mut self, what: &str, job: &str) {
        let tag = if self.below(2) == 0 { "First" } else { "Second" };
        self.operator
            .post_json(&format!("/api/jobs/{what}"), &[("project", "docs"), ("jobs", job), ("tag", tag)])
            .await;
    }

    /// The platform reports another status, perhaps with a pull request.
    async fn poll(&mut self, job: &str) {
        let status = *["active", "completed", "failed", "paused"].choose(&mut self.random).unwrap();
        let number = self.below(3);
        let link = (number > 0).then(|| self.host.link(number));
        self.app
            .upstream
            .on_read(move |request: &Request| {
                let id = request.url.path_segments().unwrap().next_back().unwrap();
                let mut body = remote_job(id, status);
                body["prLink"] = json!(link);
                ResponseTemplate::new(200).set_body_json(body)
            })
            .await;
        self.operator.post("/api/jobs/check", &[("project", "docs"), ("job", job)]).await;
    }
}

/// The jobs of a page by their ids.
fn by_id(page: &Value) -> BTreeMap<String, Value> {
    let jobs = page["jobs"].as_array().unwrap().iter();
    jobs.map(|job| (job["id"].as_str().unwrap().to_owned(), job.clone())).collect()
}

/// A program that knows all jobs, because it follows their changes.
#[derive(Default)]
struct Follower {
    jobs: BTreeMap<String, Value>,
    cursor: Option<String>,
}

impl Follower {
    /// Reads a page, and returns how many jobs it had.
    async fn read(&mut self, script: &Script, limit: u64) -> usize {
        let cursor = self.cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page = script.got(&format!("{JOBS}?{SINCE_THEN}&limit={limit}{cursor}")).await;
        self.cursor = Some(page["next_cursor"].as_str().expect("later changes follow").to_owned());
        let found = by_id(&page);
        assert!(found.len() as u64 <= limit);
        let count = found.len();
        self.jobs.extend(found);
        count
    }
}

#[tokio::test]
async fn follower_of_changes_knows_every_job_as_it_is() {
    for seed in 0..3 {
        let mut world = World::with(seed).await;
        let (writer, reader) = (Script::of(&world.app).await, Script::of(&world.app).await);
        let mut follower = Follower::default();
        for _ in 0..60 {
            world.change(&writer).await;
            if world.below(2) == 0 {
                let limit = 1 + world.below(3);
                follower.read(&reader, limit).await;
            }
        }
        // The platform may still report something.
        loop {
            world.app.clock().advance(Duration::from_secs(60));
            while follower.read(&reader, 100).await > 0 {}
            let now = by_id(&reader.got(ALL).await);
            if follower.read(&reader, 100).await == 0 {
                assert_eq!(follower.jobs, now, "seed {seed}");
                break;
            }
        }
        assert!(follower.jobs.len() > 3, "seed {seed}");
    }
}

async fn ask(script: &Script, path: &str, version: Option<&str>) -> TestResponse {
    let request = script.request(Method::GET, path);
    let request = version.iter().fold(request, |request, version| request.header("if-none-match", *version));
    script.client.send(request).await
}

/// The code host's times of checks say nothing of the job.
fn without_checks(mut job: Value) -> Value {
    if let Some(request) = job["pull_request"].as_object_mut() {
        request.remove("checked_at");
    }
    job
}

#[tokio::test]
async fn response_with_a_known_version_is_unchanged() {
    for seed in 10..12 {
        let mut world = World::with(seed).await;
        let (writer, reader) = (Script::of(&world.app).await, Script::of(&world.app).await);
        let mut known: BTreeMap<String, (String, Value)> = BTreeMap::new();
        let mut unchanged = 0;
        for _ in 0..60 {
            world.change(&writer).await;
            world.app.clock().advance(Duration::from_secs(10));
            let job = world.jobs.choose(&mut world.random).unwrap().clone();
            for path in [format!("{JOBS}/{job}"), ALL.to_owned()] {
                let before = known.get(&path);
                let again = ask(&reader, &path, before.map(|(version, _)| version.as_str())).await;
                let version = again.header("etag").to_owned();
                assert_eq!(again.header("cache-control"), "private, no-cache");
                if again.status == 304 {
                    assert_eq!(again.text, "");
                    let now = without_checks(ask(&reader, &path, None).await.json());
                    let version_now = ask(&reader, &path, Some(&version)).await;
                    // Unless the platform reported something meanwhile.
                    if version_now.status == 304 {
                        assert_eq!(Some(&now), before.map(|(_, body)| body), "seed {seed}: {path}");
                        unchanged += 1;
                    }
                } else {
                    assert_eq!(again.status, 200, "{}", again.text);
                    known.insert(path, (version, without_checks(again.json())));
                }
            }
        }
        assert!(unchanged > 0, "seed {seed}");
    }
}

#[tokio::test]
async fn version_is_of_one_address() {
    let mut world = World::with(0).await;
    let script = Script::of(&world.app).await;
    world.start(&script).await;
    let versions = [
        ask(&script, JOBS, None).await,
        ask(&script, ALL, None).await,
        ask(&script, &format!("{JOBS}/{}", world.jobs[0]), None).await,
        ask(&script, "/projects/api/jobs", None).await,
    ];
    let versions: Vec<&str> = versions.iter().map(|response| response.header("etag")).collect();
    for version in &versions {
        assert_eq!(versions.iter().filter(|other| *other == version).count(), 1, "{versions:?}");
        assert_eq!(ask(&script, JOBS, Some(version)).await.status == 304, *version == versions[0]);
    }
    let several = versions.join(", ");
    assert_eq!(ask(&script, JOBS, Some(&several)).await.status, 304);
    assert_eq!(ask(&script, JOBS, Some("*")).await.status, 304);
    for odd in ["", "x", "\"\"", "W/", &"\"a\",".repeat(500)] {
        assert_eq!(ask(&script, JOBS, Some(odd)).await.status, 200, "{odd}");
    }
    // A version is no permission.
    let other = Script::with(&world.app, &[("scopes", "analytics:read")]).await;
    problem(&ask(&other, JOBS, Some(versions[0])).await, 403, "insufficient_scope");
    let hidden =
        Script::with(&world.app, &[("scopes", "jobs:read"), ("access", "selected"), ("projects", "api")]);
    problem(&ask(&hidden.await, JOBS, Some(versions[0])).await, 404, "not_found");
}

#[tokio::test]
async fn cursor_of_changes_belongs_to_its_request_and_to_this_database() {
    let mut world = World::with(0).await;
    let script = Script::of(&world.app).await;
    world.start(&script).await;
    let page = script.got(&format!("{JOBS}?{SINCE_THEN}")).await;
    let cursor = page["next_cursor"].as_str().unwrap();
    assert_eq!(script.got(&format!("{JOBS}?{SINCE_THEN}&cursor={cursor}")).await["jobs"], json!([]));
    let other = "changed_after=2026-11-02T00:00:00Z&archived=any";
    for other in
        ["archived=any", other, &format!("{SINCE_THEN}&tag=first"), "changed_after=2026-11-01T00:00:00Z"]
    {
        problem(&script.get(&format!("{JOBS}?{other}&cursor={cursor}")).await, 400, "bad_input");
    }
    for wrong in ["archived=all", "archived=", "changed_after=yesterday"] {
        problem(&script.get(&format!("{JOBS}?{wrong}")).await, 400, "bad_input");
    }
    // As a restore of a backup does it.
    world.app.ledger().run("UPDATE project_changes SET restored_at = 7").await;
    let message =
        problem(&script.get(&format!("{JOBS}?{SINCE_THEN}&cursor={cursor}")).await, 409, "conflict");
    assert!(message.contains("without a cursor"), "{message}");
}

#[tokio::test]
async fn list_has_archived_jobs_if_asked() {
    let mut world = World::with(0).await;
    let script = Script::of(&world.app).await;
    world.start(&script).await;
    world.start(&script).await;
    script.act(&format!("{JOBS}/{}/archive", world.jobs[0])).await;
    for (query, expected) in
        [("", vec![1]), ("?archived=no", vec![1]), ("?archived=yes", vec![0]), ("?archived=any", vec![1, 0])]
    {
        let page = script.got(&format!("{JOBS}{query}")).await;
        let ids: Vec<&str> =
            page["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
        let expected: Vec<&str> = expected.into_iter().map(|at: usize| world.jobs[at].as_str()).collect();
        assert_eq!(ids, expected, "{query}");
    }
}
