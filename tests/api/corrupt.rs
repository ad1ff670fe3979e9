//! A database with invalid rows: the error messages, and the prompts that are not sent.

use base::clock::Clock;
use model::time::Timestamp;
use wiremock::ResponseTemplate;

use crate::helpers::{Settings, TestApp, intent, json, logged_of};

/// Changes the database without the app.
async fn change(app: &TestApp, sql: &'static str) {
    app.ledger().run_unchecked(sql).await;
}

#[tokio::test]
async fn corrupt_row_is_an_internal_error_instead_of_an_outage() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let pairs = [("project", "docs"), ("job", job["id"].as_str().unwrap())];
    for (broken, mended) in [
        ("UPDATE jobs SET batch_id = 'two words'", "UPDATE jobs SET batch_id = NULL"),
        ("UPDATE jobs SET state = 'nonsense'", "UPDATE jobs SET state = 'active'"),
    ] {
        change(&app, broken).await;
        let message = operator.post("/api/jobs/get", &pairs).await.refused(500, "internal");
        assert!(message.contains("this version cannot read"), "{message}");
        change(&app, mended).await;
        assert_eq!(operator.post_json("/api/jobs/get", &pairs).await["state"], "active");
    }
}

#[tokio::test]
async fn corrupt_session_is_an_internal_error_instead_of_an_outage() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    change(&app, "UPDATE sessions SET data = '{'").await;
    operator.post("/api/session/current", &[]).await.refused(500, "internal");
    assert_eq!(operator.get("/p/docs/jobs").await.status, 500);
    app.operator().await.post_json("/api/session/current", &[]).await;
}

#[tokio::test]
async fn nothing_is_sent_until_a_pause_is_recorded() {
    let clock = Clock::frozen("2025-03-10T10:15:00Z".parse::<Timestamp>().unwrap());
    let app = TestApp::with(Settings { clock, ..Settings::default() }).await;
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "600");
    app.upstream.on_create(busy).await;
    app.ledger().refuse("INSERT ON upstream_pauses", "true").await;
    let operator = app.operator().await;
    assert_eq!(operator.created("Told to wait").await["state"], json!("rejected"));
    let posts = app.upstream.posts().await.len();
    for _ in 0..3 {
        operator.create("Too early", &intent()).await.refused(503, "database_unavailable");
    }
    assert_eq!(app.upstream.posts().await.len(), posts);
    app.ledger().allow().await;
    operator.create("Still too early", &intent()).await.refused(429, "budget_spent");
    assert_eq!(app.upstream.posts().await.len(), posts);
    app.clock().advance(std::time::Duration::from_secs(601));
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    assert_eq!(operator.created("Now").await["state"], "active");
}

/// The lookup of the job fails: that is no job that does not exist, whose text would be dropped without a word.
#[tokio::test]
async fn failed_lookup_of_a_job_is_logged_when_a_text_is_not_saved() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let too_long = "x".repeat(40_000);
    let is_logged = async |job: &serde_json::Value| {
        let refused = operator.follow_up(job, &too_long, &intent()).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        let lines = logged_of(refused.header("x-request-id"));
        lines.iter().any(|line| line.contains("a draft could not be saved"))
    };
    let missing = json!({"id": "01920000-0000-7000-8000-000000000000"});
    assert!(!is_logged(&missing).await, "there is nothing to save");
    app.ledger().execute("ALTER TABLE jobs RENAME TO jobs_of_a_test".to_owned()).await;
    assert!(is_logged(&job).await);
}
