//! Tests of the audit log: prevented and detected tampering.

use std::num::NonZeroU32;

use super::work;
use super::*;
use crate::audit::verify::ChainFault;
use crate::audit::{AuditFilter, chain};
use model::audit::Actor;
use model::audit::{Action, AuditEvent};

/// The triggers that an attacker with other tools would drop first, and their tables.
const GUARDS: [(&str, &str); 4] = [
    ("audit_rows_stay_as_they_are", "audit"),
    ("audit_rows_are_removed_by_retention_only", "audit"),
    ("audit_rows_follow_the_last_one", "audit"),
    ("audit_ends_move_along_rows", "audit_ends"),
];

const DAY: i64 = 86_400;
const THREE: NonZeroU32 = NonZeroU32::new(3).unwrap();

impl Ledger {
    /// With this many rows in the audit log, a day apart from each other.
    async fn audited(rows: i64) -> Self {
        let ledger = Self::new().await;
        for n in 1..=rows {
            let event = AuditEvent::new(Action::JobStart).in_project(&ledger.project).on(format!("job-{n}"));
            ledger.store.observe(&ledger.author, &event, NOON.plus_seconds(n * DAY)).await.unwrap();
        }
        ledger
    }

    async fn run(&self, statements: &'static str) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(statements).execute(&self.store.pool).await.map(|_| ())
    }

    async fn drop_guards(&self) {
        for (trigger, table) in GUARDS {
            let statement = match self.store.dialect {
                Dialect::Sqlite => format!("DROP TRIGGER {trigger}"),
                Dialect::Postgres => format!("DROP TRIGGER {trigger} ON {table}"),
            };
            sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&self.store.pool).await.unwrap();
        }
    }

    async fn fault(&self) -> Option<ChainFault> {
        self.store.verify_audit().await.unwrap().fault
    }

    async fn numbers(&self) -> Vec<i64> {
        let records = self.store.audit_records(&AuditFilter::default(), 1_000).await.unwrap();
        records.into_iter().map(|record| record.number).collect()
    }
}

#[tokio::test]
async fn every_statement_that_would_change_the_log_is_refused() {
    let ledger = Ledger::audited(3).await;
    for statement in [
        "UPDATE audit SET actor = 'eve'",
        "UPDATE audit SET number = 9 WHERE number = 3",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE number = 3",
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE number = 2",
        "INSERT INTO audit SELECT number + 1, at, 'x', 'eve', client_ip, action, outcome, project, subject, detail, hash, 'h'
         FROM audit WHERE number = 2",
        "UPDATE audit_ends SET number = 3 WHERE name = 'removed'",
        "UPDATE audit_ends SET number = 2, hash = (SELECT hash FROM audit WHERE number = 2) WHERE name = 'last'",
        "UPDATE audit_ends SET name = 'x'",
        "DELETE FROM audit_ends",
        "INSERT INTO audit_ends VALUES ('x', 1, 'h')",
    ] {
        assert!(ledger.run(statement).await.is_err(), "{statement}");
    }
    assert_eq!((ledger.fault().await, ledger.numbers().await), (None, vec![3, 2, 1]));
}

#[tokio::test]
async fn tampering_without_triggers_is_detected_and_located() {
    let swap = "UPDATE audit SET number = -2 WHERE number = 2; UPDATE audit SET number = 2 WHERE number = 3;
         UPDATE audit SET number = 3 WHERE number = -2";
    let contents = "CREATE TEMP TABLE kept AS SELECT * FROM audit WHERE number = 2;
         UPDATE audit SET (at, subject) = (SELECT at, subject FROM audit WHERE number = 3) WHERE number = 2;
         UPDATE audit SET (at, subject) = (SELECT at, subject FROM kept) WHERE number = 3";
    let cases: [(&str, ChainFault); 12] = [
        ("UPDATE audit SET actor = 'eve' WHERE number = 3", ChainFault::Changed(3)),
        ("UPDATE audit SET at = at + 1 WHERE number = 1", ChainFault::Changed(1)),
        ("UPDATE audit SET client_ip = '' WHERE number = 5", ChainFault::Changed(5)),
        ("UPDATE audit SET hash = 'h' WHERE number = 4", ChainFault::Changed(4)),
        ("UPDATE audit SET previous = 'p' WHERE number = 4", ChainFault::Changed(4)),
        ("DELETE FROM audit WHERE number = 3", ChainFault::Missing { first: 3, last: 3 }),
        ("DELETE FROM audit WHERE number < 3", ChainFault::Missing { first: 1, last: 2 }),
        ("DELETE FROM audit WHERE number > 3", ChainFault::Missing { first: 4, last: 5 }),
        ("DELETE FROM audit", ChainFault::Missing { first: 1, last: 5 }),
        (swap, ChainFault::Changed(2)),
        (contents, ChainFault::Changed(2)),
        (
            "DELETE FROM audit WHERE number < 3; UPDATE audit_ends SET number = 2,
             hash = (SELECT previous FROM audit WHERE number = 3) WHERE name = 'removed'",
            ChainFault::RemovedWithoutRecord(2),
        ),
    ];
    for (statements, fault) in cases {
        let ledger = Ledger::audited(5).await;
        ledger.drop_guards().await;
        assert_eq!(ledger.fault().await, None);
        ledger.run(statements).await.unwrap();
        assert_eq!(ledger.fault().await, Some(fault), "{statements}");
    }
}

#[tokio::test]
async fn rewritten_row_with_a_new_hash_breaks_the_next_row() {
    let ledger = Ledger::audited(3).await;
    ledger.drop_guards().await;
    let filter = AuditFilter { before: Some(3), ..AuditFilter::default() };
    let mut record = ledger.store.audit_records(&filter, 1).await.unwrap().remove(0);
    record.actor = "eve".to_owned();
    let first = ledger.store.audit_link(1).await.unwrap().unwrap();
    sqlx::query("UPDATE audit SET actor = $1, hash = $2 WHERE number = 2")
        .bind(&record.actor)
        .bind(chain::hash(&first.hash, &record))
        .execute(&ledger.store.pool)
        .await
        .unwrap();
    assert_eq!(ledger.fault().await, Some(ChainFault::WrongPredecessor(3)));
}

#[tokio::test]
async fn log_can_be_verified_after_retention_removes_rows() {
    let ledger = Ledger::audited(9).await;
    let now = NOON.plus_seconds(10 * DAY);
    let fourth = ledger.store.audit_link(4).await.unwrap().unwrap();
    let removed = ledger.store.begin_audit_removal(&work(), NOON.plus_seconds(5 * DAY), now).await.unwrap();
    assert_eq!(removed, Some(fourth.clone()));
    // Three rows, then one: the log can be verified between them, as after a crash.
    for removed in [3, 1, 0] {
        let slice = ledger.store.remove_audit_slice(&work(), THREE).await.unwrap();
        assert_eq!((slice, ledger.fault().await), (removed, None));
    }
    assert_eq!(ledger.numbers().await, [10, 9, 8, 7, 6, 5]);
    let newest = ledger.store.audit_records(&AuditFilter::default(), 1).await.unwrap().remove(0);
    assert_eq!((newest.action.as_str(), newest.subject), (Action::AuditRemove.as_str(), fourth.to_string()));
    let check = ledger.store.verify_audit().await.unwrap();
    assert_eq!((check.fault, check.removed, check.last.number), (None, fourth, 10));
    // Every row is old enough, but a removal began within a day.
    let begin = async |now: Timestamp| {
        ledger.store.begin_audit_removal(&work(), now.plus_seconds(DAY), now).await.unwrap()
    };
    assert_eq!(begin(now.plus_seconds(DAY - 1)).await, None);
    assert_eq!(begin(now.plus_seconds(DAY)).await.map(|last| last.number), Some(10));
    while ledger.store.remove_audit_slice(&work(), THREE).await.unwrap() > 0 {}
    assert_eq!((ledger.numbers().await, ledger.fault().await), (vec![11], None));
    // Another removal, without the triggers, has no retention row.
    ledger.drop_guards().await;
    ledger.run("UPDATE audit_ends SET number = 9 WHERE name = 'removed'").await.unwrap();
    assert!(ledger.fault().await.is_some());
}

#[tokio::test]
async fn audit_row_and_its_change_commit_together() {
    let ledger = Ledger::new().await;
    assert!(ledger.commit("i-1", "first").await.is_some());
    assert_eq!(ledger.commit("i-1", "again").await, None);
    assert_eq!(ledger.numbers().await, [1]);
    ledger.run("ALTER TABLE audit RENAME TO away").await.unwrap();
    assert!(ledger.insert(&ledger.new_job("i-2", "second")).await.is_err());
    assert_eq!(
        ledger.store.jobs(&permit().await, &ledger.project, &JobFilter::default()).await.unwrap().jobs.len(),
        1
    );
}

#[tokio::test]
async fn concurrent_events_form_one_chain() {
    let ledger = Ledger::new().await;
    let events = (0..200).map(|n| {
        let (store, author) = (&ledger.store, &ledger.author);
        async move { store.observe(author, &AuditEvent::new(Action::Export).on(n), NOON).await.unwrap() }
    });
    futures::future::join_all(events).await;
    assert_eq!(ledger.numbers().await, (1..=200).rev().collect::<Vec<i64>>());
    assert_eq!(ledger.fault().await, None);
}

#[tokio::test]
async fn excess_events_are_counted_and_the_count_becomes_a_row() {
    let ledger = Ledger::new().await;
    let event = AuditEvent::new(Action::SignIn).refused();
    for second in 0..100 {
        let at = NOON.plus_seconds(second);
        for typed in ["correct horse", "ada"] {
            let by = ledger.store.actor_named(typed, "192.0.2.9").await.unwrap();
            ledger.store.observe_often(&by, &event, at).await.unwrap();
        }
    }
    let records = ledger.store.audit_records(&AuditFilter::default(), 1_000).await.unwrap();
    assert_eq!(records.len(), 40);
    assert!(records.iter().all(|record| record.actor == "ada" || record.actor.is_empty()), "{records:?}");
    ledger.store.record_counts(&work(), NOON.plus_seconds(60)).await.unwrap();
    assert_eq!(ledger.numbers().await.len(), 40);
    for _ in 0..2 {
        ledger.store.record_counts(&work(), NOON.plus_seconds(3_700)).await.unwrap();
    }
    let records = ledger.store.audit_records(&AuditFilter::default(), 2).await.unwrap();
    assert!(records.iter().all(|record| record.detail.starts_with("80 more since ")), "{records:?}");
    assert_eq!((ledger.numbers().await.len(), ledger.fault().await), (42, None));
    // The next hour has a new limit.
    let ada = ledger.store.actor_named("ada", "").await.unwrap();
    ledger.store.observe_often(&ada, &event, NOON.plus_seconds(7_300)).await.unwrap();
    assert_eq!(ledger.numbers().await.len(), 43);
}

#[tokio::test]
async fn separate_counts_by_project_and_client_ip_are_limited() {
    let ledger = Ledger::new().await;
    let export = AuditEvent::new(Action::Export).in_project(&ledger.project);
    let elsewhere = AuditEvent::new(Action::Export).in_project(&"api".parse().unwrap());
    let from = |client_ip: &str| Actor { client_ip: client_ip.to_owned(), ..ledger.author.clone() };
    for _ in 0..23 {
        ledger.store.observe_often(&from("192.0.2.1"), &export, NOON).await.unwrap();
    }
    for _ in 0..2 {
        ledger.store.observe_often(&from("192.0.2.2"), &export, NOON).await.unwrap();
        ledger.store.observe_often(&from("192.0.2.1"), &elsewhere, NOON).await.unwrap();
    }
    for n in 0..500 {
        ledger.store.observe_often(&from(&format!("2001:db8::{n}")), &export, NOON).await.unwrap();
    }
    ledger.store.record_counts(&work(), NOON.plus_seconds(3_700)).await.unwrap();
    let records = ledger.store.audit_records(&AuditFilter::default(), 1_000).await.unwrap();
    let counted = |project: &str, client_ip: &str| {
        let found = records.iter().find(|record| {
            record.project == project && record.client_ip == client_ip && record.detail.contains("more since")
        });
        found.map(|record| record.detail.split(' ').next().unwrap().to_owned())
    };
    assert_eq!(counted("docs", "192.0.2.1").as_deref(), Some("3"));
    assert_eq!(counted("docs", "192.0.2.2").as_deref(), Some("2"));
    assert_eq!(counted("api", "192.0.2.1").as_deref(), Some("2"));
    assert!(counted("", "").is_some(), "{records:?}");
    assert!(records.len() <= 20 + 51, "{}", records.len());
    assert_eq!(ledger.fault().await, None);
}

#[tokio::test]
async fn opening_a_database_to_read_does_not_change_it() {
    let ledger = Ledger::audited(3).await;
    let missing = ledger.folder.path().join("missing.db");
    assert!(Store::open_to_read(&format!("sqlite://{}", missing.display())).await.is_err());
    assert!(!missing.exists());
    let read = Store::open_to_read(ledger.database.url()).await.unwrap();
    assert_eq!(read.verify_audit().await.unwrap().last.number, 3);
    assert!(read.observe(&ledger.author, &AuditEvent::new(Action::Export), NOON).await.is_err());
}
