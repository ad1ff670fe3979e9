#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod archive_and_tags;
mod audit;
mod authorization;
mod claims;
mod clock_state;
#[path = "../../../tests/databases/mod.rs"]
pub(super) mod databases;
mod days;
mod finding;
mod holds;
mod indexing;
mod lifecycle;
mod limits;
mod passkeys;
mod pull_requests;
mod reading;
mod webhook_events;

use std::sync::LazyLock;

use tempfile::TempDir;

use self::databases::TestDatabase;
use super::accounts::users;
use super::jobs::intents::{Claim, DeliveryOutcome, Intent, NewIntent, Scheduling};
use super::jobs::list::JobFilter;
use super::jobs::seen::Reader;
use super::platform::budget::{Meters, ScopeLimit};
use super::*;
use base::clock::Clock;
use base::prompt::Prompt;
use base::query_permits::{QueryPermit, QueryPermits};
use base::work::{Docket, Work};
use model::audit::Actor;
use model::id::{IntentId, JobId, ProjectId};
use model::job::{DeliveryState, JobState, ReasonCode, RemoteJob};
use model::page_path;
use model::time::Timestamp;
use model::user::Project;
use model::user::{GivenProjects, Role};
use model::webhook::{ChosenEvents, WebhookKind};

const NOON: Timestamp = Timestamp::from_millis(1_795_000_000_000);

const FILE: &str = "ledger.db";

/// Docket's own work, at noon. Tests run in one process, so they share its right to write.
pub(crate) fn work() -> Work {
    static DOCKET: LazyLock<Docket> = LazyLock::new(|| Docket::take().unwrap());
    DOCKET.task("test", Clock::frozen(NOON))
}

struct Ledger {
    store: Store,
    author: Actor,
    project: ProjectId,
    folder: TempDir,
    database: TestDatabase,
}

impl Ledger {
    /// The configured projects.
    fn projects(&self) -> [Project; 1] {
        [Project { id: self.project.clone(), name: self.project.to_string(), site: None, is_direct: false }]
    }

    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let database = database(&folder).await;
        Self::of(folder, database).await
    }

    /// In a SQLite file, whatever database is under test.
    async fn in_file() -> Self {
        let folder = TempDir::new().unwrap();
        let database = TestDatabase::of_file(&folder.path().join(FILE));
        Self::of(folder, database).await
    }

    async fn of(folder: TempDir, database: TestDatabase) -> Self {
        let store = Store::open(database.url()).await.unwrap();
        // Bypasses the audit log, because its tests count all rows.
        let mut tx = store.write(&work()).begin().await.unwrap().tx;
        users::insert(&mut tx, "ada", Role::Operator, &GivenProjects::All, "hash", NOON).await.unwrap();
        tx.commit().await.unwrap();
        let author = store.user_by_name("ada").await.unwrap().unwrap().actor("192.0.2.7");
        Self { store, author, project: "docs".parse().unwrap(), folder, database }
    }

    async fn commit(&self, intent: &str, prompt: &str) -> Option<String> {
        let pages = page_path::typed("/a").unwrap();
        self.insert(&NewIntent { pages, ..self.new_job(intent, prompt) }).await.unwrap()
    }

    fn new_job(&self, intent: &str, prompt: &str) -> NewIntent {
        let prompt = Prompt::parse(prompt, u32::MAX).unwrap();
        NewIntent::new_job(self.project.clone(), intent.parse().unwrap(), prompt)
    }

    fn new_follow_up(&self, job: &JobId, intent: &str, prompt: &str) -> NewIntent {
        let prompt = Prompt::parse(prompt, u32::MAX).unwrap();
        NewIntent::follow_up(self.project.clone(), job.clone(), intent.parse().unwrap(), prompt)
    }

    /// Commits a prompt, to be sent at once.
    async fn insert(&self, new: &NewIntent) -> Result<Option<String>, StoreError> {
        let (work, author) = (work(), &self.author);
        self.store.insert_intent((&work).into(), author, new, Scheduling::Immediate, u32::MAX).await
    }

    async fn claim(&self, message: &str) -> Option<Intent> {
        match self.store.claim(&work(), message, &ScopeLimit::of("creates", 100), None, NOON).await.unwrap() {
            Claim::Sending { intent, .. } => Some(*intent),
            _ => None,
        }
    }
}

/// A permit for a query.
pub(crate) async fn permit() -> QueryPermit {
    QueryPermits::default().acquire("").await.unwrap()
}

/// A new database of the kind under test.
pub(crate) async fn database(folder: &TempDir) -> TestDatabase {
    let migrate = async |url: String| Store::open(&url).await.unwrap().close().await;
    TestDatabase::copied(&folder.path().join(FILE), "migrated", migrate).await
}

fn remote(id: &str, status: &str) -> RemoteJob {
    RemoteJob {
        id: id.to_owned(),
        status: status.to_owned(),
        model: None,
        repository: None,
        git_ref: None,
        pr_link: None,
        pr_link_is_earlier: false,
        created_at: None,
        archived_at: None,
        error: None,
    }
}

#[tokio::test]
async fn sqlite_is_new_enough_and_uses_a_durable_wal() {
    let ledger = Ledger::in_file().await;
    let version: String =
        sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&ledger.store.pool).await.unwrap();
    let parts: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
    assert!(parts >= vec![3, 51, 3], "{version}");
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&ledger.store.pool).await.unwrap();
    let synchronous: i64 =
        sqlx::query_scalar("PRAGMA synchronous").fetch_one(&ledger.store.pool).await.unwrap();
    assert_eq!((mode.as_str(), synchronous), ("wal", 2));
}

/// With this option connections share one page cache, and all but one lose each page as soon as they release it. A search of 100,000 jobs then takes
/// four times as long.
#[tokio::test]
async fn each_connection_has_its_own_page_cache() {
    let ledger = Ledger::in_file().await;
    let options: Vec<String> =
        sqlx::query_scalar("PRAGMA compile_options").fetch_all(&ledger.store.pool).await.unwrap();
    assert!(options.iter().any(|option| option == "ENABLE_FTS5"), "{options:?}");
    assert!(
        !options.iter().any(|option| option == "ENABLE_MEMORY_MANAGEMENT"),
        "built without .cargo/config.toml"
    );
}

#[tokio::test]
async fn an_intent_is_committed_once() {
    let ledger = Ledger::new().await;
    assert!(ledger.commit("i-1", "first").await.is_some());
    assert_eq!(ledger.commit("i-1", "second").await, None);
    let page = ledger.store.jobs(&permit().await, &ledger.project, &JobFilter::default()).await.unwrap();
    assert_eq!(page.jobs.len(), 1);
    assert_eq!(page.jobs[0].prompt, "first");
    assert_eq!(page.jobs[0].paths, ["/a"]);
}

#[tokio::test]
async fn a_message_is_claimed_by_one_of_many_senders() {
    let ledger = Ledger::new().await;
    let message = ledger.commit("i-1", "text").await.unwrap();
    let claims = futures::future::join_all((0..20).map(|_| ledger.claim(&message))).await;
    assert_eq!(claims.iter().flatten().count(), 1);
    assert_eq!(ledger.store.meter(&ScopeLimit::of("creates", 100), NOON).await.unwrap().used, 1);
}

#[tokio::test]
async fn delivery_of_an_ended_process_becomes_unknown() {
    let ledger = Ledger::new().await;
    let message = ledger.commit("i-1", "text").await.unwrap();
    let intent = ledger.claim(&message).await.unwrap();
    let state = async || ledger.store.being_sent(&message).await.unwrap().map(|intent| intent.state);
    ledger.store.beat(NOON).await.unwrap();
    ledger.store.lose_outcome(&work(), &intent, "ended", NOON.plus_seconds(40)).await.unwrap();
    assert_eq!(state().await, Some(DeliveryState::Sending));
    ledger.store.lose_outcome(&work(), &intent, "ended", NOON.plus_seconds(50)).await.unwrap();
    assert_eq!(state().await, None);
    let job = ledger.store.job(&ledger.project, &intent.job).await.unwrap().unwrap();
    assert_eq!((job.state, job.reason_code), (JobState::Unknown, Some(ReasonCode::DocketStopped)));
}

#[tokio::test]
async fn claim_beyond_the_budget_leaves_the_message_queued() {
    let ledger = Ledger::new().await;
    let message = ledger.commit("i-1", "text").await.unwrap();
    assert!(ledger.store.acquire_call("creates", 1, NOON).await.unwrap().is_some());
    assert!(matches!(
        ledger.store.claim(&work(), &message, &ScopeLimit::of("creates", 1), None, NOON).await.unwrap(),
        Claim::Later
    ));
    assert!(
        ledger
            .store
            .due_messages(&ledger.projects(), NOON)
            .await
            .unwrap()
            .iter()
            .any(|due| due.id == message)
    );
    let later = NOON.plus_seconds(3600);
    assert!(matches!(
        ledger.store.claim(&work(), &message, &ScopeLimit::of("creates", 1), None, later).await.unwrap(),
        Claim::Sending { .. }
    ));
}

#[tokio::test]
async fn shared_call_counts_in_both_scopes_or_neither() {
    let ledger = Ledger::new().await;
    let store = &ledger.store;
    let used = async |scope: &str| store.meter(&ScopeLimit::of(scope, 9), NOON).await.unwrap().used;
    let views = ScopeLimit::of("views", 2);
    let third = |limit| ScopeLimit::of("share:u-3", limit);
    for (share, counted) in
        [("share:u-1", true), ("share:u-1", false), ("share:u-2", true), ("share:u-3", false)]
    {
        let share_limit = ScopeLimit::of(share, 1);
        let fits = store.acquire_shared_call(&views, &share_limit, None, NOON).await.unwrap().is_some();
        assert_eq!(fits, counted, "{share}");
    }
    assert_eq!((used("views").await, used("share:u-1").await, used("share:u-3").await), (2, 1, 0));
    let later = NOON.plus_seconds(3601);
    store.count_failure("analytics", 1, later).await.unwrap();
    let through = async |circuit: Option<_>| {
        let circuits = circuit.map(|circuit| [circuit, "refused:views:docs"]);
        store.acquire_shared_call(&views, &third(2), circuits, later).await.unwrap().is_some()
    };
    assert_eq!(
        (through(Some("analytics")).await, through(Some("prompts")).await, through(None).await),
        (false, true, true)
    );
    let later = later.plus_seconds(3601);
    store.pause_calls(&work().at(later), "views", later.plus_seconds(60)).await.unwrap();
    assert!(store.acquire_shared_call(&views, &third(1), None, later).await.unwrap().is_none());
}

#[tokio::test]
async fn pause_of_calls_that_ends_later_remains() {
    let ledger = Ledger::new().await;
    let store = &ledger.store;
    let pause = async |seconds: i64| {
        store.pause_calls(&work(), "views", NOON.plus_seconds(seconds)).await.unwrap();
        let until = store.paused_until("views", NOON).await.unwrap().unwrap();
        until.seconds_since(NOON)
    };
    assert_eq!((pause(60).await, pause(600).await, pause(60).await), (60, 600, 600));
    assert!((3_600..=3_660).contains(&pause(86_400).await), "a pause is longer than an hour");
    // One that was planned before a clock rollback is replaced.
    let planned = "UPDATE upstream_pauses SET ends_at = 9000000000000";
    sqlx::query(planned).execute(&store.pool).await.unwrap();
    assert_eq!(pause(60).await, 60);
}

/// Waiting for the disk would be most of what Docket adds to a call. The count of a prompt does wait.
#[tokio::test]
async fn only_counters_skip_waiting_for_the_disk() {
    let ledger = Ledger::in_file().await;
    let store = &ledger.store;
    let synchronous =
        async |pool| -> i64 { sqlx::query_scalar("PRAGMA synchronous").fetch_one(pool).await.unwrap() };
    assert_eq!((synchronous(&store.pool).await, synchronous(&store.counts).await), (2, 1));
}

#[tokio::test]
async fn write_ahead_log_shrinks_after_a_long_reader() {
    let ledger = Ledger::in_file().await;
    let pool = &ledger.store.pool;
    let log = ledger.folder.path().join(format!("{FILE}-wal"));
    let size = || std::fs::metadata(&log).unwrap().len();
    let write = async |bytes: i64| {
        let statement = "INSERT INTO removed_intents (author_id, intent) VALUES ('ada', hex(randomblob($1)))";
        sqlx::query(statement).bind(bytes).execute(pool).await.unwrap();
    };
    let mut reader = pool.begin().await.unwrap();
    sqlx::query("SELECT COUNT(*) FROM users").fetch_one(&mut *reader).await.unwrap();
    while size() <= 16 * 1024 * 1024 {
        write(1_000_000).await;
    }
    reader.rollback().await.unwrap();
    // One commit copies the log into the file, and the next one begins the log again.
    for _ in 0..3 {
        write(1).await;
    }
    assert!(size() <= 8 * 1024 * 1024, "{} bytes", size());
}

#[tokio::test]
async fn budget_covers_a_rolling_hour() {
    let ledger = Ledger::new().await;
    for minute in [0, 10, 20] {
        assert!(ledger.store.acquire_call("s", 3, NOON.plus_seconds(60 * minute)).await.unwrap().is_some());
    }
    let at = NOON.plus_seconds(60 * 30);
    assert!(ledger.store.acquire_call("s", 3, at).await.unwrap().is_none());
    let meter = ledger.store.meter(&ScopeLimit::of("s", 3), at).await.unwrap();
    assert_eq!((meter.used, meter.next_fits_at), (3, Some(NOON.plus_seconds(3600))));
    assert!(ledger.store.acquire_call("s", 3, NOON.plus_seconds(3600)).await.unwrap().is_some());
}

#[tokio::test]
async fn outcome_from_the_sender_replaces_an_unknown_one() {
    let ledger = Ledger::new().await;
    let message = ledger.commit("i-1", "text").await.unwrap();
    ledger.claim(&message).await.unwrap();
    let interrupted = ledger.store.being_sent(&message).await.unwrap().unwrap();
    ledger
        .store
        .record_outcome(
            &work(),
            &interrupted,
            &DeliveryOutcome::Unknown(ReasonCode::PlatformFailed.with("stopped")),
            NOON,
        )
        .await
        .unwrap();
    let job = ledger.store.job(&ledger.project, &interrupted.job).await.unwrap().unwrap();
    assert_eq!((job.state, job.reason.as_deref(), job.remote), (JobState::Unknown, Some("stopped"), None));
    // Another process, still running, sent it.
    let late = remote("r-1", "active");
    ledger
        .store
        .record_outcome(&work(), &interrupted, &DeliveryOutcome::Accepted(&late, NOON), NOON)
        .await
        .unwrap();
    ledger
        .store
        .record_outcome(
            &work(),
            &interrupted,
            &DeliveryOutcome::Unknown(ReasonCode::PlatformFailed.with("too late")),
            NOON,
        )
        .await
        .unwrap();
    let job = ledger.store.job(&ledger.project, &interrupted.job).await.unwrap().unwrap();
    assert_eq!((job.state, job.reason, job.remote), (JobState::Active, None, Some(late)));
    let states: Vec<&str> = job.history.iter().map(|entry| entry.state.as_str()).collect();
    assert_eq!(states, ["queued", "sending", "unknown", "accepted"]);
    assert!(ledger.store.due_messages(&ledger.projects(), NOON).await.unwrap().is_empty());
}

#[tokio::test]
async fn poll_begun_before_a_follow_up_overwrites_nothing() {
    let ledger = Ledger::new().await;
    let message = ledger.commit("i-1", "text").await.unwrap();
    let intent = ledger.claim(&message).await.unwrap();
    ledger
        .store
        .record_outcome(&work(), &intent, &DeliveryOutcome::Accepted(&remote("r-1", "active"), NOON), NOON)
        .await
        .unwrap();
    let mut due = ledger.store.due_polls(&ledger.projects(), NOON, NOON).await.unwrap().remove(0);
    let follow_up = ledger.new_follow_up(&intent.job, "i-2", "more");
    let second = ledger.insert(&follow_up).await.unwrap().unwrap();
    let second = ledger.claim(&second).await.unwrap();
    ledger
        .store
        .record_outcome(&work(), &second, &DeliveryOutcome::Accepted(&remote("r-1", "active"), NOON), NOON)
        .await
        .unwrap();
    assert!(
        !ledger.store.record_poll(&work(), &mut due, &remote("r-1", "completed"), None, NOON).await.unwrap()
    );
    let job = ledger.store.job(&ledger.project, &intent.job).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Active);
    assert_eq!(job.follow_ups[0].state, DeliveryState::Accepted);
}

#[tokio::test]
async fn finished_job_and_its_webhook_event_commit_together() {
    let ledger = Ledger::new().await;
    let kind = WebhookKind::Json;
    let webhook = ledger
        .store
        .add_webhook(
            Authority::Test(&ledger.author, NOON),
            &ledger.project,
            kind,
            "https://a.example",
            "s",
            &ChosenEvents::default(),
        )
        .await
        .unwrap();
    let message = ledger.commit("i-1", "text").await.unwrap();
    let intent = ledger.claim(&message).await.unwrap();
    ledger
        .store
        .record_outcome(&work(), &intent, &DeliveryOutcome::Accepted(&remote("r-1", "active"), NOON), NOON)
        .await
        .unwrap();
    let mut due = ledger.store.due_polls(&ledger.projects(), NOON, NOON).await.unwrap().remove(0);
    // Without the outbox, the end of the job cannot be recorded either.
    sqlx::query("ALTER TABLE webhook_deliveries RENAME TO away").execute(&ledger.store.pool).await.unwrap();
    assert!(ledger.store.record_poll(&work(), &mut due, &remote("r-1", "failed"), None, NOON).await.is_err());
    let job = ledger.store.job(&ledger.project, &intent.job).await.unwrap().unwrap();
    assert_eq!((job.state, job.tracked), (JobState::Active, true));
    sqlx::query("ALTER TABLE away RENAME TO webhook_deliveries").execute(&ledger.store.pool).await.unwrap();
    assert!(ledger.store.record_poll(&work(), &mut due, &remote("r-1", "failed"), None, NOON).await.unwrap());
    let events = ledger.store.due_events(&ledger.projects(), NOON, NOON).await.unwrap();
    assert_eq!((events.len(), &events[0].webhook, events[0].event.as_str()), (1, &webhook, "job.failed"));
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_database_and_backup() {
    use std::os::unix::fs::PermissionsExt;
    let ledger = Ledger::in_file().await;
    let backup = ledger.folder.path().join("copy.db");
    ledger.commit("i-1", "kept").await.unwrap();
    ledger.store.backup(&backup, &CancellationToken::new()).await.unwrap();
    assert!(
        ledger.store.backup(&backup, &CancellationToken::new()).await.is_err(),
        "a backup overwrites nothing"
    );
    for file in ["ledger.db", "copy.db"] {
        let mode = std::fs::metadata(ledger.folder.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let copy = Store::open(&format!("sqlite://{}", backup.display())).await.unwrap();
    assert_eq!(
        copy.jobs(&permit().await, &ledger.project, &JobFilter::default()).await.unwrap().jobs.len(),
        1
    );
}

#[tokio::test]
async fn setup_link_works_once_and_only_without_accounts() {
    let folder = TempDir::new().unwrap();
    let database = database(&folder).await;
    let store = Store::open(database.url()).await.unwrap();
    store.put_setup_link(&work(), "hash", NOON.plus_seconds(10)).await.unwrap();
    assert!(!store.spend_setup_link("other", "eve", "h", "", NOON).await.unwrap());
    assert!(!store.spend_setup_link("hash", "eve", "h", "", NOON.plus_seconds(10)).await.unwrap());
    assert!(store.spend_setup_link("hash", "ada", "h", "", NOON).await.unwrap());
    assert!(!store.spend_setup_link("hash", "eve", "h", "", NOON).await.unwrap());
    store.put_setup_link(&work(), "hash-2", NOON.plus_seconds(10)).await.unwrap();
    assert!(!store.spend_setup_link("hash-2", "eve", "h", "", NOON).await.unwrap());
}

#[tokio::test]
async fn combined_meters_equal_the_separate_ones() {
    let ledger = Ledger::new().await;
    let store = &ledger.store;
    for _ in 0..2 {
        assert!(store.acquire_call("creates", 2, NOON).await.unwrap().is_some());
    }
    assert!(store.acquire_call("views", 5, NOON).await.unwrap().is_some());
    store.pause_calls(&work(), "views", NOON.plus_seconds(60)).await.unwrap();
    ledger.commit("a", "Waits").await.unwrap();

    let scopes =
        [("creates", 2), ("follow-ups", 2), ("views", 5)].map(|(scope, limit)| ScopeLimit::of(scope, limit));
    let reader = Reader { user_id: "nobody".to_owned(), everyone: true };
    let Meters { of_scopes: meters, waiting, unread, .. } =
        store.meters(&ledger.project, &scopes, &reader, NOON).await.unwrap();
    for (meter, limited) in meters.into_iter().zip(&scopes) {
        assert_eq!(meter, store.meter(limited, NOON).await.unwrap(), "{}", limited.scope);
    }
    assert_eq!(meters[0].next_fits_at, Some(NOON.plus_seconds(3_600)));
    assert_eq!(meters[2].next_fits_at, Some(NOON.plus_seconds(60)));
    assert_eq!((waiting, unread.total()), (1, 0), "a queued job has not ended");
    ledger.ended("b", "failed", None).await;
    let unread = store.meters(&ledger.project, &scopes, &reader, NOON).await.unwrap().unread;
    assert_eq!(unread.jobs, 1);
    let own = Reader { everyone: false, ..reader };
    let (_, own) = store.revision(&ledger.project, &own, NOON).await.unwrap();
    assert_eq!(own.jobs, 0, "another person's");
}

#[tokio::test]
async fn queue_reads_only_the_displayed_part_of_a_prompt() {
    let ledger = Ledger::new().await;
    ledger.commit("i-1", &"é".repeat(30_000)).await;
    let row = sqlx::query(sqlx::AssertSqlSafe(super::jobs::queue::queued_statement()))
        .bind(ledger.project.as_str())
        .bind(0_i64)
        .bind(NOON.as_millis())
        .fetch_one(&ledger.store.pool)
        .await
        .unwrap();
    let read = sqlx::Row::try_get::<String, _>(&row, "prompt").unwrap().chars().count();
    assert_eq!(read, model::job::EXCERPT_CHARS + 1);
    let shown = ledger.store.queued(&ledger.project, false, NOON).await.unwrap().remove(0).prompt;
    assert!(shown.ends_with('…') && shown.chars().count() == read, "{shown}");
}

#[tokio::test]
async fn new_job_never_appears_behind_one_already_seen() {
    let ledger = Ledger::new().await;
    let ledger = &ledger;
    let writers = futures::future::join_all((0..40).map(|n| async move {
        ledger.commit(&format!("i-{n}"), "text").await.unwrap();
    }));
    let reader = async {
        let mut seen = std::collections::BTreeSet::new();
        while seen.len() < 40 {
            let numbers: Vec<i64> = sqlx::query_scalar("SELECT number FROM listed_jobs")
                .fetch_all(&ledger.store.pool)
                .await
                .unwrap();
            let newest = seen.last().copied().unwrap_or_default();
            let behind = numbers.iter().find(|number| **number <= newest && !seen.contains(*number));
            assert_eq!(behind, None, "{newest} was seen before");
            seen.extend(numbers);
        }
    };
    futures::join!(writers, reader);
}

#[tokio::test]
async fn abandoned_write_leaves_no_transaction_open() {
    let ledger = Ledger::new().await;
    for moment in 0..40 {
        let mut write = Box::pin(ledger.store.acquire_call("s", u32::MAX, NOON));
        for _ in 0..moment {
            if futures::poll!(&mut write).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    // Other connections read the writes of abandoned connections.
    let other = Store::open(ledger.database.url()).await.unwrap();
    let before = other.meter(&ScopeLimit::of("s", u32::MAX), NOON).await.unwrap().used;
    let writes = futures::future::join_all((0..20).map(|_| ledger.store.acquire_call("s", u32::MAX, NOON)));
    assert!(writes.await.into_iter().all(|counted| counted.unwrap().is_some()));
    let after = other.meter(&ScopeLimit::of("s", u32::MAX), NOON).await.unwrap().used;
    assert!(after >= before + 20, "{before} and then {after}");
    assert_eq!(ledger.store.meter(&ScopeLimit::of("s", u32::MAX), NOON).await.unwrap().used, after);
}
