//! A clock that jumps ahead: nothing is removed because of its age until an administrator confirms the time. The probes, metrics
//! and pages show this state.

use std::time::Duration;

use base::clock::Clock;
use base::config::{AuditConfig, RetentionConfig};
use model::time::Timestamp;
use secrecy::SecretString;
use service::audit::AuditMaintenance;
use service::clock_check::ClockError;

use crate::databases::is_postgres;
use crate::helpers::work::work;
use crate::helpers::{Browser, Installation, Ledger, METRICS_TOKEN, Settings, TestApp, until};

const NOON: &str = "2026-11-21T12:00:00Z";
pub(crate) const JUMP: Duration = Duration::from_secs(500 * 86_400);
const JOBS: &str = "SELECT COUNT(*) FROM jobs";
const AUDIT: &str = "SELECT COUNT(*) FROM audit";
/// A job that only its age protects from removal.
const FINISH: &str =
    "UPDATE jobs SET state = 'cancelled', next_poll_at = NULL; UPDATE listed_jobs SET attention = 0";
pub(crate) const JUMPED: &str = "The clock jumped ahead: old data is not removed";

fn settings() -> Settings {
    Settings {
        clock: Clock::frozen(NOON.parse::<Timestamp>().unwrap()),
        retention: RetentionConfig { jobs_days: 30, history_days: 0 },
        metrics_token: Some(SecretString::from(METRICS_TOKEN)),
        ..Settings::default()
    }
}

/// An app with a job and a heartbeat.
pub(crate) async fn app() -> TestApp {
    let app = TestApp::with(settings()).await;
    app.upstream.accepts_jobs().await;
    app.operator().await.created("Fix typos").await;
    app.ledger().run(FINISH).await;
    let ledger = app.ledger();
    until("a heartbeat", async || {
        (ledger.count("SELECT COUNT(*) FROM clock_state").await == 1).then_some(())
    })
    .await;
    app
}

/// Tries to remove expired data and audit records.
pub(crate) async fn remove(app: &TestApp) -> Result<u64, ClockError> {
    let state = app.state();
    let audit = AuditMaintenance::new(
        state.store.clone(),
        state.clock_check.clone(),
        state.tasks.clone(),
        AuditConfig { days: 30 },
        work(),
    );
    audit.tidy().await.unwrap();
    let removed = state.retention.remove().await?;
    Ok(removed.get("jobs").copied().unwrap_or_default())
}

#[tokio::test]
async fn jumped_clock_removes_nothing_until_an_administrator_confirms_it() {
    let app = app().await;
    let before = app.ledger().count(AUDIT).await;
    app.clock().advance(JUMP);
    assert!(matches!(remove(&app).await, Err(ClockError::Jumped(_))));
    assert_eq!(app.ledger().count(JOBS).await, 1);
    assert_eq!(app.ledger().count(AUDIT).await, before);

    // A task is unready until its next step, because its last success seems to be long ago.
    until("it is ready", async || {
        let ready = app.anonymous().get("/readyz").await;
        assert!(ready.text.contains(JUMPED), "{}", ready.text);
        (ready.status == 200).then_some(())
    })
    .await;
    let metrics = async || {
        let request = app.anonymous().request(reqwest::Method::GET, "/metrics").bearer_auth(METRICS_TOKEN);
        request.send().await.unwrap().text().await.unwrap()
    };
    assert!(metrics().await.contains("\ndocket_clock_jump_seconds 43200000.0\n"), "{}", metrics().await);
    let admin = app.sign_in("ada").await;
    let page = admin.get("/admin/upstream").await.text;
    assert!(page.contains("Confirm the time") && page.contains(NOON), "{page}");
    app.operator().await.post("/api/upstream/trust-clock", &[]).await.refused(403, "forbidden");

    let confirmed = admin.submit("/api/upstream/trust-clock", &[], Some("/admin/upstream")).await;
    assert_eq!((confirmed.status, confirmed.header("location")), (302, "/admin/upstream"));
    let page = admin.get("/admin/upstream").await.text;
    assert!(page.contains("You confirmed the time") && !page.contains("Confirm the time"), "{page}");
    let by_ada = "SELECT COUNT(*) FROM audit WHERE action = 'clock_confirm' AND actor = 'ada'";
    assert_eq!(app.ledger().count(by_ada).await, 1);
    assert!(!app.anonymous().get("/readyz").await.text.contains(JUMPED));
    assert!(metrics().await.contains("\ndocket_clock_jump_seconds 0.0\n"));
    assert_eq!(remove(&app).await.unwrap(), 1);
}

#[tokio::test]
async fn corrected_clock_is_trusted_again() {
    let app = app().await;
    app.clock().advance(JUMP);
    assert!(remove(&app).await.is_err());
    app.clock().set(NOON.parse::<Timestamp>().unwrap().plus_seconds(3_600));
    assert_eq!(remove(&app).await.unwrap(), 0);
    assert!(!app.anonymous().get("/readyz").await.text.contains(JUMPED));
}

/// The database of a server that started a job, stored a heartbeat and ended. The job finished long ago.
async fn served_once(installation: &Installation) -> Ledger {
    let server = installation.serve(&["serve"]);
    server.signed_in().await.created("Fix typos").await;
    let ledger = installation.ledger();
    until("a heartbeat", async || {
        (ledger.count("SELECT COUNT(*) FROM clock_state").await == 1).then_some(())
    })
    .await;
    server.signal("TERM");
    assert!(server.ended().await.success());
    ledger.run(FINISH).await;
    ledger
}

#[tokio::test]
async fn start_with_a_wrong_clock_removes_nothing() {
    let installation = Installation::with_administrator("http://127.0.0.1:9")
        .set("DOCKET_LOG", "info,docket=debug")
        .set("DOCKET_JOBS_DAYS", "30")
        .set("DOCKET_AUDIT_DAYS", "30");
    let ledger = served_once(&installation).await;
    let before = ledger.count(AUDIT).await;

    let server = installation.serve_with_clock(JUMP.as_secs() as i32, &["serve"]);
    let browser = Browser::at(&server.address().await);
    // PostgreSQL's clock is right, and it is the one that counts.
    let counted = if is_postgres() { "Removing old data: running, last success 2" } else { JUMPED };
    until("retention has run", async || {
        let ready = browser.get("/readyz").await.text;
        (ready.contains(counted) && ready.contains("Maintaining the audit log: running, last success 2"))
            .then_some(())
    })
    .await;
    if !is_postgres() {
        // Retention and the audit log.
        let doubts = "old data is not removed: the clock jumped ahead";
        until("each of them has seen it", async || {
            (server.output().matches(doubts).count() >= 2).then_some(())
        })
        .await;
    }
    assert_eq!(ledger.count(JOBS).await, 1);
    assert!(ledger.count(AUDIT).await >= before);
    assert_eq!(server.signed_in().await.get("/admin/upstream").await.status, 200);
}

#[tokio::test]
async fn purge_refuses_a_jumped_clock_unless_it_is_trusted() {
    let installation = Installation::with_administrator("http://127.0.0.1:9").set("DOCKET_JOBS_DAYS", "30");
    let ledger = served_once(&installation).await;
    ledger.run("UPDATE jobs SET changed_at = 1; UPDATE clock_state SET seen_at = seen_at - 172800000").await;

    let counted = installation.run(&["purge", "--dry-run"]);
    assert!(counted.code == Some(0) && counted.stdout.contains("--trust-clock"), "{counted:?}");
    assert!(counted.stdout.contains("1  jobs"), "{counted:?}");
    for _ in 0..2 {
        let refused = installation.run(&["purge"]);
        assert!(refused.code == Some(1) && refused.stderr.contains("--trust-clock"), "{refused:?}");
    }
    assert_eq!(ledger.count(JOBS).await, 1);
    let done = installation.run(&["purge", "--trust-clock"]);
    assert!(done.code == Some(0) && done.stdout.contains("1  jobs"), "{done:?}");
    assert_eq!(ledger.count(JOBS).await, 0);
    assert_eq!(installation.run(&["purge"]).code, Some(0));
    assert_eq!(installation.run(&["audit", "verify"]).code, Some(0));
}
