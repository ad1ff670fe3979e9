//! Health checks, and what people see during an outage.

use crate::helpers::{TestApp, intent};

#[tokio::test]
async fn the_probes_answer_without_a_session_and_tell_nothing_else() {
    let app = TestApp::start().await;
    let stranger = app.stranger();
    for path in ["/healthz", "/readyz"] {
        let answer = stranger.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.text.len() < 40, "{path}: {}", answer.text);
        assert_eq!(answer.header("set-cookie"), "", "{path}");
    }
}

#[tokio::test]
async fn without_its_database_the_process_is_up_but_not_ready() {
    let app = TestApp::start().await;
    let stranger = app.stranger();
    app.state().store.close().await;
    assert_eq!(stranger.get("/healthz").await.status, 200);
    assert_eq!(stranger.get("/readyz").await.status, 503);
}

#[tokio::test]
async fn without_its_database_every_question_is_answered_with_503_and_a_sentence() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let (operator, stranger) = (app.operator().await, app.stranger());
    app.state().store.close().await;
    let mut messages = vec![
        stranger.sign_in("olga", "whatever it is").await.refused(503, "database_unavailable"),
        operator.create("Fix typos", &intent()).await.refused(503, "database_unavailable"),
    ];
    for endpoint in ["/api/jobs/list", "/api/analytics/views", "/api/session/current", "/api/session/logout"]
    {
        messages
            .push(operator.post(endpoint, &[("project", "docs")]).await.refused(503, "database_unavailable"));
    }
    for message in messages {
        for inside in ["sql", "SQL", "pool", "docket.db"] {
            assert!(!message.contains(inside), "{message}");
        }
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
    let page = operator.get("/p/docs/jobs").await;
    assert_eq!(page.status, 503);
    assert!(!page.text.is_empty(), "an empty page");
}
