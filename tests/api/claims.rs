//! Claims without a delivery: the reply to their commit was lost, or their outcome could not be recorded. The next heartbeat ends them. After a stop
//! signal nothing is claimed.

use model::time::Timestamp;
use store::jobs::intents::Claim;
use store::platform::budget::ScopeLimit;

use crate::helpers::work::work;
use crate::helpers::{TestApp, intent, json, logged, until};

#[tokio::test]
async fn prompt_is_sent_once_if_the_reply_to_its_claim_is_lost() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let (operator, ledger) = (app.operator().await, app.ledger());
    ledger.refuse_sending().await;
    let job = operator.create("Fix typos", &intent()).await.json();
    ledger.run("UPDATE messages SET due_at = 9000000000000000").await;
    ledger.allow_sending().await;

    // This process claims the prompt, and its delivery does not learn of it.
    let state = app.state();
    let due = state
        .store
        .due_messages(&state.settings.current().projects, Timestamp::from_millis(i64::MAX))
        .await
        .unwrap();
    let claim = state
        .store
        .claim(&work(), &due[0].id, &ScopeLimit::of("test", 100), None, state.clock.now())
        .await
        .unwrap();
    assert!(matches!(claim, Claim::Sending { .. }));
    ledger.run("UPDATE messages SET due_at = 0").await;

    let sent = until("it is sent", async || {
        let job = operator.job(&job).await;
        (job["state"] == "active").then_some(job)
    })
    .await;
    assert!(sent["history"].to_string().contains("did not send it"), "{sent}");
    let calls = app.state().store.call_times(&ScopeLimit::of("test", 100)).await.unwrap();
    assert!(calls.is_empty(), "a call that was not made is counted: {calls:?}");
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn outcome_that_could_not_be_recorded_is_unknown_at_a_heartbeat() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let (operator, ledger) = (app.operator().await, app.ledger());
    // The delivery panics after it has sent the prompt, and its outcome is refused.
    app.state().tasks.break_at("one delivery");
    ledger.refuse("UPDATE OF state ON messages", "NEW.state = 'unknown'").await;
    let job = operator.create("Fix typos", &intent()).await.json();
    let message = until("it was sent", async || {
        let claimed = app.state().store.sent_here().await.unwrap();
        (app.upstream.posts().await.len() == 1).then(|| claimed[0].message_id.clone())
    })
    .await;
    let failure = async || {
        let lines = logged(&message);
        lines.iter().any(|line| line.contains("delivery failed")).then_some(())
    };
    until("its outcome is refused", failure).await;
    ledger.allow().await;
    until("it is unknown", async || (operator.job(&job).await["state"] == json!("unknown")).then_some(()))
        .await;
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn prompt_committed_after_the_stop_signal_is_sent_by_the_next_process() {
    let mut app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    app.state().leaving.cancel();
    let job = operator.create("Fix typos", &intent()).await.json();
    assert_eq!(job["state"], "queued", "{job}");
    app.stop().await;
    assert_eq!(app.upstream.posts().await.len(), 0);
    app.begin().await;
    until("it is sent", async || (app.upstream.posts().await.len() == 1).then_some(())).await;
}
