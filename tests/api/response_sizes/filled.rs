//! An app whose database is filled up to its limits.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use wiremock::ResponseTemplate;

use crate::analytics_pages::{NOON, at};
use crate::api_tokens::create;
use crate::helpers::{Archive, Browser, Ledger, New, TestApp, Written, counts, day, intent, json};

/// The follow-ups of the long job: 44 MB, more than the buffers of sockets.
const LONG_FOLLOW_UPS: usize = 500;
/// The same where everything is read: several bodies.
const FEWER_FOLLOW_UPS: usize = 150;
/// The follow-ups of each other job.
const FOLLOW_UPS: usize = 25;
/// All jobs: those of a started batch, some started alone, and the one with long follow-ups.
pub(super) const JOBS: usize = 200 + ALONE + 1;
const ALONE: usize = 10;
pub(super) const TEMPLATES: usize = 100;
pub(super) const VIEWS: usize = 100;
pub(super) const PEOPLE: usize = 9_000 + 4;
/// Pull requests that wait for a reviewer.
pub(super) const REQUESTS: usize = 100;
pub(super) const TOKENS: usize = 1_000;
/// The pages that were viewed on a day.
pub(super) const PAGES: usize = 300;
/// A page has 250 rows.
const ROWS: usize = 250;
/// Each may send 30 requests at once.
const OLGAS_TOKENS: usize = 12;
/// The longest prompt, in characters.
const PROMPT: usize = 32_768;

pub(super) struct Filled {
    pub(super) app: TestApp,
    pub(super) ada: Browser,
    pub(super) stored: Stored,
    used: AtomicUsize,
    /// One full database at a time: each keeps a machine busy.
    _alone: MutexGuard<'static, ()>,
}

/// What the database contains.
#[derive(Clone, Default)]
pub(super) struct Stored {
    pub(super) long_job: String,
    /// The number of its follow-ups.
    pub(super) follow_ups: usize,
    pub(super) prepared_batch: String,
    pub(super) started_batch: String,
    /// The number of queued prompts.
    pub(super) queued: usize,
    template: String,
    jobs: String,
    tokens: Vec<String>,
}

static ALONE_ON_THE_MACHINE: Mutex<()> = Mutex::const_new(());

/// A text of `chars` characters that is longer in JSON, and different for each `n`.
fn text(n: usize, chars: usize) -> String {
    let start = n.to_string();
    let rest = "\"\u{1F980}\\".chars().cycle().take(chars - start.len());
    start.chars().chain(rest).collect()
}

/// Rows with the numbers from 1.
fn numbers(count: usize) -> String {
    format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})")
}

/// An expression for an id with the number `i`.
fn id(prefix: &str) -> String {
    format!("'01930000-0000-7000-{prefix}-' || CAST(100000000000 + i AS TEXT)")
}

/// With everything.
pub(super) async fn app() -> Filled {
    static STORED: OnceLock<Stored> = OnceLock::new();
    let filled = opened("full", &STORED, async |app| {
        let stored = add_long_job(app, FEWER_FOLLOW_UPS).await;
        add_the_rest(app, stored).await
    })
    .await;
    answer_page_views(&filled.app).await;
    filled
}

/// With a job that has long follow-ups.
pub(super) async fn with_long_job() -> Filled {
    static STORED: OnceLock<Stored> = OnceLock::new();
    opened("long_job", &STORED, async |app| add_long_job(app, LONG_FOLLOW_UPS).await).await
}

/// An app on a copy of what `fill` writes once.
async fn opened(
    template: &str,
    stored: &'static OnceLock<Stored>,
    fill: impl AsyncFn(&TestApp) -> Stored,
) -> Filled {
    let _alone = ALONE_ON_THE_MACHINE.lock().await;
    let filled = async |app: &TestApp| assert!(stored.set(fill(app).await).is_ok());
    let app = TestApp::on_copy(at(NOON).with_real_turns(), template, filled).await;
    app.upstream.accepts_jobs().await;
    let ada = app.sign_in("ada").await;
    Filled { app, ada, stored: stored.get().unwrap().clone(), used: AtomicUsize::new(0), _alone }
}

async fn add_long_job(app: &TestApp, follow_ups: usize) -> Stored {
    app.upstream.accepts_jobs().await;
    let ada = app.sign_in("ada").await;
    let ledger = app.ledger();
    // Texts are not searched here, and indexing takes long.
    ledger.drop_trigger("list_text", "messages").await;
    let long_job = ada.created(&text(0, PROMPT)).await["id"].as_str().unwrap().to_owned();
    let olga = app.operator().await;
    let mut tokens = Vec::new();
    for n in 0..OLGAS_TOKENS {
        let fields = [("name", &*n.to_string()), ("scopes", "jobs:read,jobs:write,analytics:read")];
        tokens.push(create(&olga, &fields).await);
    }
    add_long_follow_ups(&ledger, &long_job, follow_ups).await;
    Stored { long_job, follow_ups, tokens, ..Stored::default() }
}

async fn add_the_rest(app: &TestApp, stored: Stored) -> Stored {
    let ada = app.sign_in("ada").await;
    let ledger = app.ledger();
    for n in 0..ALONE {
        ada.created(&text(n, 1_000)).await;
    }
    let template = add_texts_of_ada(&ada).await;
    let (prepared_batch, started_batch) = add_batches(app, &ada).await;
    add_short_follow_ups(&ledger, &stored.long_job).await;
    add_lists(&ledger).await;
    add_page_views(app).await;
    let listed = ada.post_json("/api/jobs/list", &[("project", "docs")]).await;
    let jobs = listed["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap());
    let jobs = jobs.collect::<Vec<_>>().join(",");
    let queued = ledger.count("SELECT COUNT(*) FROM messages WHERE state = 'queued'").await as usize;
    Stored { template, prepared_batch, started_batch, jobs, queued, ..stored }
}

/// Templates, saved views and drafts; returns the id of a template.
async fn add_texts_of_ada(ada: &Browser) -> String {
    let mut template = String::new();
    for n in 0..TEMPLATES {
        template = New::template(&n.to_string(), &text(n, PROMPT)).id(ada).await;
    }
    let filter = "\u{1F980}".repeat(500);
    let query = crate::helpers::fields(&[("q", &filter), ("author", &filter), ("tag", &filter)]);
    for n in 0..VIEWS {
        New::view(&n.to_string(), &query).made(ada).await;
    }
    for _ in 0..50 {
        let (form, paths) = (intent(), "\u{1F980}".repeat(26_000));
        let pairs = [("project", "docs"), ("form", &*form), ("text", "x"), ("paths", &*paths)];
        assert_eq!(ada.post("/api/jobs/draft", &pairs).await.status, 200);
    }
    template
}

/// A prepared batch with long previews, and a started one whose prompts are queued.
async fn add_batches(app: &TestApp, ada: &Browser) -> (String, String) {
    app.ledger().refuse_sending().await;
    let values: String = (0..200).map(|n| format!("/page-{n}\n")).collect();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let prompt = format!("{{{{page}}}}{}", "\u{1}".repeat(2_000));
        ids.push(New::batch(&prompt, &values).id(ada).await);
    }
    ada.post_json("/api/batches/start", &[("project", "docs"), ("batch", &ids[1])]).await;
    (ids.remove(0), ids.remove(0))
}

const MESSAGE: &str = "id, job_id, position, author_id, intent, prompt, state, created_at, due_at";

async fn add_long_follow_ups(ledger: &Ledger, long_job: &str, follow_ups: usize) {
    let long = text(0, PROMPT - 4);
    ledger
        .execute(format!(
            "INSERT INTO messages ({MESSAGE}) {} SELECT {}, m.job_id, i, m.author_id, 'long-' || CAST(i AS TEXT),
                 CAST(i AS TEXT) || '{long}', 'accepted', m.created_at, m.due_at
             FROM messages m CROSS JOIN n WHERE m.job_id = '{long_job}' AND m.position = 0",
            numbers(follow_ups),
            id("8000"),
        ))
        .await;
}

/// Short follow-ups of the other jobs, and pages of all jobs.
async fn add_short_follow_ups(ledger: &Ledger, long_job: &str) {
    let short = "\u{1}".repeat(300);
    ledger
        .execute(format!(
            "INSERT INTO messages ({MESSAGE}) {} SELECT {}, m.job_id, i, m.author_id, m.job_id || CAST(i AS TEXT),
                 '{short}', CASE m.state WHEN 'queued' THEN 'queued' ELSE 'accepted' END, m.created_at, m.due_at
             FROM messages m JOIN listed_jobs l ON l.job_id = m.job_id CROSS JOIN n
             WHERE m.job_id <> '{long_job}' AND m.position = 0",
            numbers(FOLLOW_UPS),
            "'01930000-0000-7000-8004-' || CAST(100000000000 + l.number * 100 + i AS TEXT)",
        ))
        .await;
    ledger
        .execute(format!(
            "INSERT INTO job_paths (job_id, path) {} SELECT j.id, '/' || CAST(i AS TEXT) || '{}' FROM jobs j CROSS JOIN n",
            numbers(49),
            "\u{1F980}".repeat(480),
        ))
        .await;
}

/// People, tokens, pull requests and notes.
async fn add_lists(ledger: &Ledger) {
    let name = "\u{6F22}".repeat(55);
    ledger
        .execute(format!(
            "INSERT INTO users (id, name, role, password_hash, created_at) {}
             SELECT {}, 'p' || CAST(i AS TEXT) || '{name}', 'viewer', '', 0 FROM n",
            numbers(PEOPLE - 4),
            id("8001"),
        ))
        .await;
    ledger
        .execute(format!(
            "INSERT INTO api_tokens (id, user_id, name, token_hash, last_four, scopes, projects, created_at, expires_at) {}
             SELECT {}, u.id, '{name}', CAST(i AS TEXT), 'abcd', 'jobs:read', '*', 0, 0 FROM n JOIN users u ON u.name = 'otto'",
            numbers(TOKENS - OLGAS_TOKENS),
            id("8002"),
        ))
        .await;
    let files: Vec<String> = (0..100).map(|n| format!("{n}{}", "\u{1F980}".repeat(240))).collect();
    ledger
        .execute(format!(
            "INSERT INTO pull_requests (job_id, project, number, url, host, state, waiting_for, waiting_since, files, files_total, checked_at, next_check_at)
             SELECT l.job_id, l.project, l.number, 'https://git.example/pull/1', 'https://git.example', 'open', 'reviewer', 0, '{}', 100, 0, NULL
             FROM listed_jobs l ORDER BY l.number LIMIT {REQUESTS}",
            json!(files)
        ))
        .await;
    ledger
        .execute(format!(
            "INSERT INTO annotations (id, project, day, text, author_id, created_at, updated_at) {}
             SELECT {}, 'docs', '2026-11-20', '{}', u.id, 0, 0 FROM n JOIN users u ON u.name = 'ada'",
            numbers(500),
            id("8003"),
            "\u{1F980}".repeat(280),
        ))
        .await;
}

fn path(n: usize) -> String {
    format!("/{n}/{}", "\u{1F980}".repeat(1_900))
}

/// A day with pages that have long paths.
async fn add_page_views(app: &TestApp) {
    let rows = (0..PAGES).map(|n| (path(n), counts(10, 1))).collect();
    Archive::of(app).await.put("docs", Written::new(day("2026-11-20"), rows)).await;
}

/// The same from the platform.
async fn answer_page_views(app: &TestApp) {
    let views: Vec<_> =
        (0..ROWS).map(|n| json!({"path": path(n), "human": 1, "ai": 1, "total": 2})).collect();
    let totals = json!({"human": 250, "ai": 250, "total": 500});
    let body = json!({"totals": totals, "views": views, "hasMore": true});
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(body)).await;
}

impl Filled {
    /// A value for every field of every server function.
    pub(super) fn fields<'a>(&'a self, batch: &'a str) -> Vec<(&'a str, &'a str)> {
        let own = [
            ("project", "docs"),
            ("job", self.stored.long_job.as_str()),
            ("jobs", &self.stored.jobs),
            ("batch", batch),
            ("template", &self.stored.template),
            ("from", "2026-11-20"),
            ("to", "2026-11-20"),
            ("limit", "250"),
            ("path", "/*"),
            ("query", "from=2026-11-20&to=2026-11-20&limit=250"),
            ("who", "all"),
            ("prompt", "x"),
            ("name", "x"),
            ("text", "x"),
        ];
        let is_own = |name: &str| own.iter().any(|(known, _)| *known == name);
        let others = crate::roles::FIELDS.iter().filter(|(name, _)| !is_own(name)).copied();
        own.into_iter().chain(others).collect()
    }

    /// One of olga's tokens: each can send few requests at once.
    pub(super) fn token(&self) -> &str {
        self.app.clock().advance(Duration::from_secs(1));
        &self.stored.tokens[self.used.fetch_add(1, Ordering::Relaxed) % self.stored.tokens.len()]
    }
}
