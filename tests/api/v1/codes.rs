//! Error codes: each has one cause and one status, and the documents list them all.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use base::config::{AccessConfig, Budget};
use model::budget::AgentLimit;
use model::error::{AppError, ErrorCode};
use model::limits::PROMPTS_NOT_SENT;
use reqwest::Method;
use serde_json::Value;
use store::StoreError;
use strum::VariantArray;
use web::request::problem::Problem;
use wiremock::ResponseTemplate;

use super::Script;
use super::description::description;
use crate::api_tokens::problem;
use crate::helpers::{Settings, TestApp, TestResponse, json};
use crate::queue::per_hour;

const JOBS: &str = "/projects/docs/jobs";
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/automate/tokens.md");

fn names() -> Vec<&'static str> {
    ErrorCode::of_api().map(ErrorCode::as_str).collect()
}

#[tokio::test]
async fn description_has_exactly_the_codes_of_the_table() {
    let app = TestApp::start().await;
    let description = description(&app).await;
    let code = &description["components"]["schemas"]["Problem"]["properties"]["code"];
    assert_eq!(code["enum"], json!(names()));
}

#[test]
fn documents_have_the_table_of_codes() {
    let present = std::fs::read_to_string(DOCUMENT).unwrap();
    let (head, rest) = present.split_once("UPDATE_DOCS=1 -->\n").unwrap();
    let (_, end) = rest.split_once("<!-- end of the table").unwrap();
    let table = web::http::codes();
    let expected = format!("{head}UPDATE_DOCS=1 -->\n\n{table}\n<!-- end of the table{end}");
    match std::env::var_os("UPDATE_DOCS") {
        Some(_) => std::fs::write(DOCUMENT, expected).unwrap(),
        None => assert!(present == expected, "run: UPDATE_DOCS=1 cargo test --features ssr --test api v1"),
    }
    assert_eq!(web::http::reference().errors, table);
}

/// The text of all sources below a folder, without the tests.
fn sources(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("error/code.rs") {
            found.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// A row that nothing uses describes an error that does not exist. The type of a code prevents the opposite.
#[test]
fn each_code_of_the_table_is_used() {
    let mut text = String::new();
    for folder in ["src", "crates"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut text);
    }
    for code in ErrorCode::of_api() {
        assert!(text.contains(&format!("ErrorCode::{code:?}")), "nothing has the code {}", code.as_str());
    }
}

/// What a response to a script or to a page is made of, for every code.
#[test]
fn each_error_is_converted_to_a_code_of_the_api() {
    for code in ErrorCode::VARIANTS.iter().copied() {
        let problem = Problem::from(AppError::new(code, "It did not work out today."));
        assert!(names().contains(&problem.code()), "{code:?}");
        assert_eq!(problem.status().as_u16(), code.status(), "{code:?}");
        let again = problem.retry_after();
        assert!(again.is_some() || !matches!(code.status(), 429 | 503), "{code:?}");
    }
    let busy = AppError::new(ErrorCode::BudgetSpent, "Spent.").retry_in(Duration::from_millis(1_500));
    assert_eq!(Problem::from(busy).retry_after(), Some(2));
}

/// Sends requests to one server, and remembers the codes of the responses.
struct Provoked<'a> {
    script: &'a Script,
    seen: BTreeSet<&'static str>,
}

impl Provoked<'_> {
    #[track_caller]
    fn add(&mut self, response: &TestResponse, code: ErrorCode) {
        problem(response, code.status(), code.as_str());
        self.seen.insert(code.as_str());
    }

    /// With a method, a path of the API, and headers beside those of the script.
    async fn send(&self, method: Method, path: &str, headers: &[(&'static str, &str)]) -> TestResponse {
        let request = self.script.request(method, path);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        self.script.client.send(request).await
    }
}

#[tokio::test]
async fn each_cause_has_its_own_code() {
    let access = AccessConfig { queued_per_person: 1, ..AccessConfig::default() };
    let budget = Budget { agent_limit: AgentLimit::Separate, ..per_hour(2).budget };
    let app = TestApp::with(Settings { access, budget, ..Settings::default() }).await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let reader = Script::with(&app, &[("scopes", "jobs:read")]).await;
    let mut provoked = Provoked { script: &script, seen: BTreeSet::new() };
    let (get, post) = (Method::GET, Method::POST);

    let anonymous = app.anonymous();
    let without = anonymous.send(anonymous.request(get.clone(), "/api/v1/projects")).await;
    provoked.add(&without, ErrorCode::MissingToken);
    let invalid = anonymous.request(get.clone(), "/api/v1/projects").bearer_auth("dkt_invented");
    provoked.add(&anonymous.send(invalid).await, ErrorCode::InvalidToken);
    provoked.add(&reader.post(JOBS, "key", &json!({"prompt": "x"})).await, ErrorCode::InsufficientScope);
    provoked.add(&script.get("/nowhere").await, ErrorCode::NotFound);
    provoked.add(&script.get("/projects/nowhere/jobs").await, ErrorCode::NotFound);
    provoked.add(&provoked.send(Method::DELETE, JOBS, &[]).await, ErrorCode::MethodNotAllowed);
    provoked.add(
        &provoked.send(get.clone(), "/projects", &[("host", "evil.example")]).await,
        ErrorCode::WrongHost,
    );
    provoked.add(&script.get(&format!("{JOBS}?limit=0")).await, ErrorCode::BadInput);
    provoked.add(&provoked.send(post.clone(), JOBS, &[]).await, ErrorCode::IdempotencyKeyRequired);
    let plain = [("idempotency-key", "k"), ("content-type", "text/plain")];
    provoked.add(&provoked.send(post.clone(), JOBS, &plain).await, ErrorCode::UnsupportedMediaType);
    let large = json!({"prompt": "x".repeat(1024 * 1024)});
    provoked.add(&script.post(JOBS, "k", &large).await, ErrorCode::TooLarge);
    let mcp = anonymous.request(post, "/mcp").bearer_auth(&script.token).header("accept", "text/html");
    provoked.add(&anonymous.send(mcp.json(&json!({}))).await, ErrorCode::NotAcceptable);
    let page = anonymous
        .request(Method::POST, "/mcp")
        .bearer_auth(&script.token)
        .header("origin", "https://a.example");
    provoked.add(&anonymous.send(page.json(&json!({}))).await, ErrorCode::WrongOrigin);

    let job = script.post(JOBS, "one", &json!({"prompt": "One"})).await.json();
    provoked.add(&script.post(JOBS, "one", &json!({"prompt": "Other"})).await, ErrorCode::IntentReused);
    let cancel = format!("{JOBS}/{}/cancel", job["id"].as_str().unwrap());
    provoked.add(&script.act(&cancel).await, ErrorCode::Conflict);
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let unknown = script.post(JOBS, "two", &json!({"prompt": "Two"})).await.json();
    let messages = format!("{JOBS}/{}/messages", unknown["id"].as_str().unwrap());
    provoked.add(&script.post(&messages, "three", &json!({"prompt": "x"})).await, ErrorCode::NotAccepted);
    provoked.add(&script.post(JOBS, "four", &json!({"prompt": "Four"})).await, ErrorCode::BudgetSpent);
    let queued = |prompt: &str| json!({"prompt": prompt, "queue": true});
    assert_eq!(script.post(JOBS, "four", &queued("Four")).await.status, 202);
    provoked.add(&script.post(JOBS, "five", &queued("Five")).await, ErrorCode::QueueFull);
    let mut refused = reader.get("/projects").await;
    while refused.status == 200 {
        refused = reader.get("/projects").await;
    }
    provoked.add(&refused, ErrorCode::TooManyRequests);

    // `figures_changed` and `unfilled_placeholder` have tests of their own, `not_in_history` is of MCP, and the others need a failure.
    let elsewhere: BTreeSet<_> = names().into_iter().filter(|name| !provoked.seen.contains(name)).collect();
    let expected = [
        "busy",
        "database_unavailable",
        "figures_changed",
        "forbidden",
        "internal",
        "no_credits",
        "not_in_history",
        "query_too_slow",
        "result_too_large",
        "too_many_unsent",
        "too_slow",
        "unfilled_placeholder",
        "upstream_failed",
        "upstream_slow",
    ];
    assert_eq!(elsewhere, BTreeSet::from(expected));
}

/// The store stops a query after 2 seconds; its own tests have one that does not end.
#[test]
fn query_that_takes_too_long_is_not_called_busy() {
    for (error, code, words) in [
        (StoreError::Stopped, "query_too_slow", "Ask for less"),
        (StoreError::Busy, "busy", "Try again"),
        (StoreError::QueueFull(3), "queue_full", "at most 3 prompts"),
        (StoreError::Full(&PROMPTS_NOT_SENT), "too_many_unsent", "2000 of your prompts"),
    ] {
        let problem = Problem::from(AppError::from(error));
        assert_eq!(problem.code(), code);
        assert!(problem.detail().contains(words), "{}", problem.detail());
    }
}

#[tokio::test]
async fn earlier_queries_of_a_person_are_called_busy() {
    let app = TestApp::with(Settings::default().with_real_turns()).await;
    let script = Script::of(&app).await;
    let olga = app.state().store.user_by_name("olga").await.unwrap().unwrap().id;
    let permits = &app.state().query_permits;
    let _running = [permits.acquire(&olga).await.unwrap(), permits.acquire(&olga).await.unwrap()];
    problem(&script.get(JOBS).await, 503, "busy");
}

/// The limit is about the prompts of a day. They are made in the database.
#[tokio::test]
async fn too_many_unsent_prompts_have_a_code_of_their_own() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let started = script.post(JOBS, "first", &json!({"prompt": "First"})).await;
    assert_eq!(started.status, 201, "{}", started.text);
    app.ledger()
        .run(
            "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             SELECT 'm-' || n.i, first.job_id, n.i, first.author_id, 'm-' || n.i, 'text', 'cancelled', first.created_at, first.due_at
             FROM n, (SELECT * FROM messages WHERE position = 0) first",
        )
        .await;
    let refused = script.post(JOBS, "second", &json!({"prompt": "Second"})).await;
    let detail = problem(&refused, 429, "too_many_unsent");
    assert!(detail.contains("2000 of your prompts"), "{detail}");
    assert_eq!(app.upstream.posts().await.len(), 1);
    let found: Value = script.got("/budgets").await;
    assert!(found["budgets"].is_array(), "reading goes on");
}
