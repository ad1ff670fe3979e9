//! `docket job`, `docket batch` and `docket views`: the command line client.

mod batches;
mod compatibility;
mod dependencies;
mod foreign;
mod lost_replies;
mod refused;
mod timeout;
mod unreachable;
mod whole_list;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use wiremock::{Mock, MockServer, Request, ResponseTemplate, matchers};

use crate::api_tokens::create;
use crate::helpers::{
    Act, Archive, Finished, Installation, New, RawUpstream, Settings, TestApp, Written, day, days, intent,
    job_with, json, remote_job, rows, steady, steady_text,
};
use crate::tracking::{frozen, lose};

const DOCUMENT: &str = include_str!("../../docs/automate/ci.md");

/// A machine with a token of olga's.
struct Machine {
    installation: Installation,
    token: String,
}

impl Machine {
    async fn of(app: &TestApp) -> Self {
        let scopes = ("scopes", "jobs:read,jobs:write,jobs:resolve,analytics:read");
        let token = create(&app.operator().await, &[scopes]).await;
        let installation = Installation::new()
            .set("DOCKET_SERVER", &format!("http://{}", app.address()))
            .set("DOCKET_TOKEN", &token);
        Self { installation, token }
    }

    async fn run(&self, arguments: &[&str]) -> Finished {
        self.run_with_input(arguments, "").await
    }

    async fn run_with_input(&self, arguments: &[&str], input: &str) -> Finished {
        let finished = self.installation.run_beside_app(arguments, input).await;
        assert!(!format!("{finished:?}").contains(&self.token), "the token was printed: {finished:?}");
        finished
    }

    /// The result of a command with `--json`.
    async fn json(&self, arguments: &[&str]) -> Value {
        let finished = self.run(&[arguments, &["--json"]].concat()).await;
        assert_eq!(finished.code, Some(0), "{finished:?}");
        serde_json::from_str(&finished.stdout).unwrap()
    }
}

const PULL_REQUEST: &str = "https://git.example/acme/docs/pull/7";

/// An app whose jobs have this status as soon as they are polled. As the platform does, it names a pull request unless the job is active.
async fn app_with(status: &str) -> TestApp {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(1), ..Settings::default() }).await;
    app.upstream.accepts_jobs().await;
    let link = if status == "active" { Value::Null } else { json!(PULL_REQUEST) };
    let job = job_with("job_1", status, "prLink", link);
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(job)).await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    app
}

#[tokio::test]
async fn job_is_started_awaited_and_shown() {
    let app = app_with("completed").await;
    let machine = Machine::of(&app).await;
    let start = [
        "job",
        "start",
        "--project",
        "docs",
        "--page",
        "/quickstart",
        "--page",
        "/a,b",
        "--tag",
        "ci",
        "--wait",
        "-",
    ];
    let finished = machine.run_with_input(&start, "Fix typos\nin all guides\n").await;
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let [first, address, end, pull_request] = finished.stdout.lines().collect::<Vec<_>>()[..] else {
        panic!("{finished:?}")
    };
    let (id, _) = first.split_once("  ").unwrap();
    assert_eq!(first, format!("{id}  active"));
    assert_eq!((end, pull_request), (&*format!("{id}  completed"), PULL_REQUEST));
    assert_eq!(address, format!("http://{}/p/docs/jobs/{id}", app.address()));

    insta::assert_json_snapshot!(steady(&machine.json(&["job", "show", id, "--project", "docs"]).await));
    let listed = machine.run(&["job", "list", "--project", "docs"]).await.stdout;
    assert!(listed.starts_with(id), "{listed:?}");
    insta::assert_snapshot!(steady_text(&listed), @"[id 1]  completed  [time]  olga  Fix typos");
    let cancelled = machine.run(&["job", "cancel", id, "--project", "docs"]).await;
    assert!(cancelled.code == Some(1) && cancelled.stderr.contains("no queued prompt"), "{cancelled:?}");
    let which = machine.run(&["job", "list"]).await;
    assert!(which.code == Some(1) && which.stderr.contains("--project: docs, api"), "{which:?}");
}

#[tokio::test]
async fn token_without_reading_starts_jobs_and_follow_ups() {
    let app = app_with("active").await;
    let token = create(&app.operator().await, &[("scopes", "jobs:write")]).await;
    let installation = Installation::new().set("DOCKET_SERVER", &app.origin()).set("DOCKET_TOKEN", &token);
    let machine = Machine { installation, token };
    let started = machine.run(&["job", "start", "--project", "docs", "Fix typos"]).await;
    assert_eq!(started.code, Some(0), "{started:?}");
    let [first, address] = started.stdout.lines().collect::<Vec<_>>()[..] else { panic!("{started:?}") };
    let (id, _) = first.split_once("  ").unwrap();
    assert_eq!(address, format!("{}/p/docs/jobs/{id}", app.origin()));
    for (status, code) in [(200, 0), (422, 3)] {
        let response = ResponseTemplate::new(status).set_body_json(remote_job("job_1", "active"));
        app.upstream.on_follow_up(response).await;
        let sent = machine.run(&["job", "follow-up", "--project", "docs", id, "And links"]).await;
        assert_eq!(sent.code, Some(code), "{sent:?}");
    }
}

#[tokio::test]
async fn exit_code_names_the_outcome_of_a_job() {
    for (status, code) in [("failed", 3), ("archived", 0), ("active", 5)] {
        let app = app_with(status).await;
        let machine = Machine::of(&app).await;
        let timeout = if code == 5 { "5s" } else { "5m" };
        let start = ["job", "start", "--project", "docs", "--wait", "--timeout", timeout, "Fix typos"];
        let finished = machine.run(&start).await;
        assert_eq!(finished.code, Some(code), "{status}: {finished:?}");
        let lines: Vec<&str> = finished.stdout.lines().collect();
        let (id, _) = lines[0].split_once("  ").unwrap();
        let end = format!("{id}  {status}");
        // What is printed last: the end of the job, with its pull request, or for an active job its first and its last state.
        let expected = if code == 5 {
            vec![end.clone(), format!("http://{}/p/docs/jobs/{id}", app.address()), end]
        } else {
            vec![end, PULL_REQUEST.to_owned()]
        };
        assert_eq!(lines[lines.len() - expected.len()..], expected[..], "{status}: {finished:?}");
        let is_late = finished.stderr.contains("the job has not ended after 5s");
        assert_eq!(is_late, code == 5, "{status}: {finished:?}");
    }
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(422)).await;
    let rejected = Machine::of(&app).await.run(&["job", "start", "--project", "docs", "Fix typos"]).await;
    assert_eq!(rejected.code, Some(3), "{rejected:?}");

    let upstream = RawUpstream::start(|_| Act::HangUp(Vec::new()));
    let settings = Settings { upstream_url: Some(upstream.url()), ..Settings::default() };
    let app = TestApp::with(settings).await;
    let unknown = Machine::of(&app).await.run(&["job", "start", "--project", "docs", "Fix typos"]).await;
    assert_eq!(unknown.code, Some(4), "{unknown:?}");
}

/// Docket stopped tracking it, so that nobody knows how it ended.
#[tokio::test]
async fn lost_job_exits_4_at_once() {
    let app = TestApp::with(frozen()).await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    let machine = Machine::of(&app).await;
    let start = ["job", "start", "--project", "docs", "--key", "run-1", "Fix typos"];
    let job = machine.json(&start).await;
    let show = ["job", "show", "--project", "docs", job["id"].as_str().unwrap()];
    assert_eq!(machine.run(&show).await.code, Some(0), "it is active");
    lose(&app, &app.operator().await, &job).await;
    for arguments in [show.to_vec(), [&show[..], &["--wait"]].concat(), [&start[..], &["--wait"]].concat()] {
        let finished = machine.run(&arguments).await;
        assert_eq!(finished.code, Some(4), "{finished:?}");
        assert!(finished.stdout.contains("does not know this job"), "{finished:?}");
        assert!(!finished.stderr.contains("has not ended"), "{finished:?}");
    }
}

#[tokio::test]
async fn follow_up_is_awaited_although_the_platform_reports_the_end_before() {
    for (end, code) in [("completed", 0), ("failed", 3)] {
        let app = app_with("completed").await;
        let machine = Machine::of(&app).await;
        let job = machine.json(&["job", "start", "--project", "docs", "--wait", "Fix typos"]).await;
        let done = ResponseTemplate::new(200).set_body_json(remote_job("job_1", "completed"));
        app.upstream.on_follow_up(done).await;
        let reads = AtomicUsize::new(0);
        let reported = move |_: &Request| {
            let word = ["completed", "active", end][(reads.fetch_add(1, Ordering::Relaxed) / 3).min(2)];
            ResponseTemplate::new(200).set_body_json(remote_job("job_1", word))
        };
        app.upstream.on_read(reported).await;
        let id = job["id"].as_str().unwrap();
        let finished =
            machine.run(&["job", "follow-up", "--project", "docs", "--wait", id, "And links"]).await;
        assert_eq!(finished.code, Some(code), "{finished:?}");
        let end = format!("{id}  {end}");
        assert!(finished.stdout.lines().any(|line| line == end), "{finished:?}");
        let reads = app.upstream.reads().await;
        assert!(reads > 6, "it ended after {reads} polls");
    }
}

#[tokio::test]
async fn exit_code_of_a_follow_up_is_its_own() {
    let app = app_with("completed").await;
    let machine = Machine::of(&app).await;
    let job = machine.json(&["job", "start", "--project", "docs", "--wait", "Fix typos"]).await;
    let id = job["id"].as_str().unwrap();
    let otto = app.sign_in("otto").await;
    for (mine, theirs, code) in [(200, 422, 0), (422, 200, 3), (502, 422, 4), (422, 502, 3)] {
        let key = format!("--key=run-{mine}-{theirs}");
        let answer = |status| ResponseTemplate::new(status).set_body_json(remote_job("job_1", "active"));
        let follow_up = ["job", "follow-up", "--project", "docs", &key, id, "And links"];
        app.upstream.on_follow_up(answer(mine)).await;
        assert_eq!(machine.run(&follow_up).await.code, Some(code), "{mine}");
        app.upstream.on_follow_up(answer(theirs)).await;
        otto.follow_up(&job, "And words", &intent()).await;
        let again = machine.run(&follow_up).await;
        assert_eq!(again.code, Some(code), "{mine} {theirs}: {again:?}");
        let state = match code {
            0 => "accepted",
            3 => "rejected: ",
            _ => "unknown: ",
        };
        let line = again.stdout.lines().last().unwrap();
        assert!(line.starts_with("follow-up ") && line.contains(&format!("  {state}")), "{mine}: {again:?}");
        if code != 0 {
            let awaited = machine.run(&[&follow_up[..], &["--wait"]].concat()).await;
            assert_eq!(awaited.code, Some(code), "it is not awaited: {awaited:?}");
        }
    }
}

#[tokio::test]
async fn retries_of_one_run_use_the_same_key() {
    let server = MockServer::start().await;
    let started = json!({
        "id": "01920000-0000-7000-8000-000000000001", "state": "active", "reason": null, "prompt": "Fix typos", "author": "olga",
        "created_at": "2026-11-21T12:00:00Z", "path": "/p/docs/jobs/1", "pull_request": null,
    });
    let attempts = Mutex::new(0);
    let respond = move |_: &Request| {
        let mut attempts = attempts.lock().unwrap();
        *attempts += 1;
        match *attempts {
            1 => ResponseTemplate::new(502),
            2 => ResponseTemplate::new(429)
                .insert_header("retry-after", "1")
                .set_body_json(json!({"detail": "Too many requests.", "code": "too_many_requests"})),
            _ => ResponseTemplate::new(201).set_body_json(&started),
        }
    };
    Mock::given(matchers::path("/api/v1/projects/docs/jobs")).respond_with(respond).mount(&server).await;
    let client = Installation::new().set("DOCKET_SERVER", &server.uri()).set("DOCKET_TOKEN", "dkt_x");
    let finished = client.run(&["job", "start", "--project", "docs", "Fix typos"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(
        finished.stderr.matches("; next attempt in").count(),
        2,
        "each attempt is announced: {finished:?}"
    );
    let requests = server.received_requests().await.unwrap();
    let keys: Vec<_> = requests.iter().map(|request| request.headers["idempotency-key"].clone()).collect();
    assert!(keys.len() == 3 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
}

#[tokio::test]
async fn key_may_be_any_name_of_a_ci_run() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let machine = Machine::of(&app).await;
    let long = "x".repeat(300);
    let names = [
        "release/v1.2.3",
        "release-v1.2.3",
        "release/v1.2.4",
        "Größe 😀",
        " a",
        "a",
        "\"a\"",
        "refs/heads/a b\n",
        &long,
        &long[1..],
        "-",
    ];
    let mut ids = std::collections::BTreeSet::new();
    for name in names {
        let key = format!("--key={name}");
        let start = ["job", "start", "--project", "docs", &key, "Fix typos"];
        let job = machine.json(&start).await;
        assert_eq!(machine.json(&start).await["id"], job["id"], "{name}: the same key, the same job");
        ids.insert(job["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), names.len(), "different keys, different jobs");
    assert_eq!(app.upstream.posts().await.len(), names.len());
    let other = machine
        .run(&["job", "start", "--project", "docs", "--key", "release/v1.2.3", "Another prompt"])
        .await;
    assert!(other.code == Some(1) && other.stderr.contains("idempotency key"), "{other:?}");
    // A variable of the CI system that is not set.
    let empty = machine.run(&["job", "start", "--project", "docs", "--key", "", "Fix typos"]).await;
    assert!(empty.code == Some(2) && empty.stderr.contains("key"), "{empty:?}");
}

#[tokio::test]
async fn wrong_usage_exits_2_with_one_line() {
    let client = |server: &str| Installation::new().set("DOCKET_SERVER", server).set("DOCKET_TOKEN", "dkt_x");
    let list = ["job", "list", "--project", "docs"];
    for (installation, word) in [
        (Installation::new(), "DOCKET_SERVER"),
        (Installation::new().set("DOCKET_SERVER", "https://docket.example.com"), "DOCKET_TOKEN"),
        (client("http://docket.example.com"), "https"),
        (client("docket.example.com"), "DOCKET_SERVER"),
        (client("https://docket.example.com").set("DOCKET_TOKEN_FILE", "token"), "not both"),
    ] {
        let finished = installation.run(&list);
        assert_eq!((finished.code, finished.stderr.lines().count()), (Some(2), 1), "{finished:?}");
        assert!(finished.stderr.contains(word), "{finished:?}");
    }
    let app = TestApp::start().await;
    let machine = Machine::of(&app).await;
    for arguments in
        [&["job", "start", "--project", "docs"][..], &["job", "list", "--limit", "0"], &["job", "show"]]
    {
        assert_eq!(machine.run(arguments).await.code, Some(2), "{arguments:?}");
    }
}

/// They would be steps to another address.
#[tokio::test]
async fn id_that_is_none_is_refused_before_a_request() {
    let server = MockServer::start().await;
    let client = Installation::new().set("DOCKET_SERVER", &server.uri()).set("DOCKET_TOKEN", "dkt_x");
    for id in ["", ".", "..", ".\t."] {
        for arguments in [
            &["job", "show", id][..],
            &["job", "follow-up", id, "And links"],
            &["job", "cancel", id],
            &["job", "resolve", id, "--attempt", "0", "--not-started"],
            &["job", "list", "--project", id],
            &["job", "start", "--project", id, "Fix typos"],
            &["batch", "show", id],
            &["batch", "cancel", id],
            &["views", "--project", id],
        ] {
            let finished = client.run(arguments);
            assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:?}");
            assert!(finished.stderr.contains("it is no id"), "{arguments:?}: {finished:?}");
        }
    }
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

/// A part of a prompt or a list is not what its author wrote.
#[tokio::test]
async fn text_beyond_the_limit_is_refused_instead_of_cut() {
    let server = MockServer::start().await;
    let client = Installation::new().set("DOCKET_SERVER", &server.uri()).set("DOCKET_TOKEN", "dkt_x");
    let long = "/a\u{20ac}\n".repeat(200_000);
    std::fs::write(client.path("values.txt"), &long).unwrap();
    for arguments in [
        &["job", "start", "--project", "docs", "-"][..],
        &["job", "follow-up", "--project", "docs", "1", "-"],
        &["batch", "start", "--project", "docs", "--file", "-", "Check {{page}}"],
        &["batch", "start", "--project", "docs", "--file", "values.txt", "Check {{page}}"],
    ] {
        let finished = client.run_with_input(arguments, &long);
        assert_eq!(finished.code, Some(1), "{arguments:?}: {finished:?}");
        assert!(finished.stderr.contains("there is more than 1 MiB"), "{arguments:?}: {finished:?}");
    }
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

#[tokio::test]
async fn token_file_is_read_and_refused_token_explained() {
    let app = TestApp::start().await;
    let Machine { installation, token } = Machine::of(&app).await;
    let installation = installation.unset("DOCKET_TOKEN").set("DOCKET_TOKEN_FILE", "token");
    let (file, machine) = (installation.path("token"), Machine { installation, token: token.clone() });
    let with_file = async |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        machine.run(&["job", "list", "--project", "docs"]).await
    };
    let marked = format!("\u{feff}{token}\r\n");
    let utf_16: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [format!("{token}\n").as_bytes(), marked.as_bytes(), &utf_16] {
        let listed = with_file(bytes).await;
        assert_eq!(listed.code, Some(0), "{listed:?}");
    }
    let refused = with_file(b"dkt_wrong").await;
    assert!(refused.code == Some(1) && refused.stderr.contains("not an API token"), "{refused:?}");
}

/// It is wrong, and neither missing nor ignored.
#[test]
fn variable_that_is_no_text_exits_2() {
    for variable in ["DOCKET_SERVER", "DOCKET_TOKEN", "DOCKET_TOKEN_FILE", "DOCKET_CA_FILE"] {
        let client = Installation::new()
            .set("DOCKET_SERVER", "https://docket.example.com")
            .set("DOCKET_TOKEN", "dkt_x");
        let line = format!("{variable}=$(printf 'dkt_\\377'); export {variable}; exec \"$0\" \"$@\"");
        let finished = client.run_by(&line, &["job", "list", "--project", "docs"]);
        assert_eq!((finished.code, finished.stderr.lines().count()), (Some(2), 1), "{finished:?}");
        let expected = format!("{variable} is wrong: its bytes are not UTF-8.");
        assert!(finished.stderr.contains(&expected), "{finished:?}");
    }
}

#[tokio::test]
async fn template_is_found_by_its_name() {
    let app = app_with("active").await;
    New::template("Check", "Check {{page}}").made(&app.operator().await).await;
    let machine = Machine::of(&app).await;
    let start =
        ["job", "start", "--project", "docs", "--template", "Check", "--set", "page=/a=b", "--key", "run-1"];
    let job = machine.json(&start).await;
    assert_eq!(job["prompt"], "Check /a=b");
    let missing = machine.run(&["job", "start", "--project", "docs", "--template", "Chekc"]).await;
    assert!(missing.code == Some(1) && missing.stderr.contains("no template with that name"), "{missing:?}");
    let template = [("project", "docs"), ("template", job["template"].as_str().unwrap())];
    app.operator().await.post_json("/api/templates/remove", &template).await;
    assert_eq!(machine.json(&start).await["id"], job["id"], "the first job, without its template");
}

#[tokio::test]
async fn views_are_printed_as_table_csv_and_json() {
    let app = TestApp::start().await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-01", "2026-11-02") {
        archive.write(day, rows(&[("/a", 3, 2), ("/b,c", 1, 0)])).await;
    }
    let machine = Machine::of(&app).await;
    let range = ["views", "--project", "docs", "--from", "2026-11-01", "--to", "2026-11-03"];
    let csv = machine.run(&[&range[..], &["--csv"]].concat()).await;
    assert_eq!(csv.stdout, "path,human,ai,total\n/a,6,4,10\n\"/b,c\",2,0,2\n");
    assert!(csv.stderr.contains("2026-11-03 is not in Docket’s history"), "{csv:?}");
    let table = machine.run(&range).await;
    assert!(table.stdout.lines().nth(1).unwrap().ends_with("10  /a"), "{table:?}");
    let found = machine.json(&range).await;
    assert_eq!(found["totals"]["total"], 12);
    assert_eq!(found["missing_days"], json!([{"from": "2026-11-03", "to": "2026-11-03"}]));
    assert!(!csv.stderr.contains("provisional"), "{csv:?}");
    let fetched_at = Some("2026-11-05T06:00:00Z".parse().unwrap());
    archive
        .put("docs", Written { fetched_at, ..Written::new(day("2026-11-04"), rows(&[("/a", 1, 0)])) })
        .await;
    let provisional =
        machine.run(&["views", "--project", "docs", "--from", "2026-11-01", "--to", "2026-11-04"]).await;
    let expected = "2026-11-04 is provisional: the platform may still change its views";
    assert!(provisional.stderr.contains(expected), "{provisional:?}");
    let long = machine.run(&["views", "--project", "docs", "--from", "0001-01-01"]).await;
    assert!(long.code == Some(1) && long.stderr.contains("1,100 days"), "{long:?}");
}

#[tokio::test]
async fn documented_ci_commands_run() {
    let variables =
        ["GITHUB_RUN_ID=1001", "GITHUB_REF_NAME=v1.2", "CI_PIPELINE_ID=2002", "CI_COMMIT_TAG=v1.3"];
    let examples: Vec<&str> =
        DOCUMENT.split("```yaml").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let joined = example.replace("\\\n", " ");
        let commands: Vec<_> = joined.lines().filter_map(|line| line.split_once("docket job ")).collect();
        let app = app_with("completed").await;
        let machine = Machine::of(&app).await;
        let [(_, arguments)] = commands[..] else { panic!("{example}") };
        let line = format!("export {}; \"$0\" job {arguments}", variables.join(" "));
        let finished = machine.installation.run_by_beside_app(&line, &[]).await;
        assert_eq!(finished.code, Some(0), "{line}: {finished:?}");
        assert_eq!(app.upstream.posts().await.len(), 1);
    }
}

#[tokio::test]
async fn unknown_job_is_resolved_as_the_client_advises() {
    let app = app_with("active").await;
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let machine = Machine::of(&app).await;
    let unknown = machine.run(&["job", "start", "--project", "docs", "Fix typos"]).await;
    assert_eq!(unknown.code, Some(4), "{unknown:?}");
    let (id, _) = unknown.stdout.split_once("  ").unwrap();
    let advice = format!("docket job resolve {id} --attempt 0 --not-started, or --started --platform-id ID");
    assert!(unknown.stderr.contains(&advice), "{unknown:?}");
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    let resolve = ["job", "resolve", id, "--attempt", "0", "--project", "docs"];
    let run = async |more: &[&str]| machine.run(&[&resolve, more].concat()).await;
    for wrong in [&[][..], &["--not-started", "--started"], &["--not-started", "--platform-id", "x"]] {
        assert_eq!(run(wrong).await.code, Some(2), "{wrong:?}");
    }
    for _ in 0..2 {
        let resolved = run(&["--not-started"]).await;
        assert_eq!(resolved.code, Some(0), "{resolved:?}");
        assert!(resolved.stdout.starts_with(&format!("{id}  active")), "{resolved:?}");
    }
    assert_eq!(app.upstream.posts().await.len(), 1);
    let late = run(&["--started", "--platform-id", "job_9"]).await;
    assert!(late.code == Some(1) && late.stderr.contains("Look at the job again"), "{late:?}");

    app.upstream.on_follow_up(ResponseTemplate::new(502)).await;
    let sent = machine.run(&["job", "follow-up", "--project", "docs", id, "And links"]).await;
    assert_eq!(sent.code, Some(4), "{sent:?}");
    let (_, of) = sent.stderr.split_once("--follow-up ").unwrap();
    let follow_up = of.split(' ').next().unwrap();
    let resolved = run(&["--follow-up", follow_up, "--started"]).await;
    assert_eq!(resolved.code, Some(0), "{resolved:?}");
}

#[tokio::test]
async fn retry_names_the_job_that_it_runs_again() {
    let app = app_with("failed").await;
    let machine = Machine::of(&app).await;
    let failed = machine.run(&["job", "start", "--project", "docs", "--wait", "Fix typos"]).await;
    assert_eq!(failed.code, Some(3), "{failed:?}");
    let (id, _) = failed.stdout.split_once("  ").unwrap();
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_2", "active"))).await;
    let again = machine.json(&["job", "start", "--project", "docs", "--retry-of", id, "Fix typos"]).await;
    assert_eq!((&again["state"], &again["retry_of"]), (&json!("active"), &json!(id)));
}
