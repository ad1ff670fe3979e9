//! The single writer of states: no other code writes them, its attention is the expected one, and a job is read from one snapshot.

use super::work;
use std::path::Path;

use sqlx::AssertSqlSafe;

use super::*;
use crate::jobs::lifecycle::refresh_attention;
use crate::jobs::unresolved::UnresolvedDelivery;
use model::id::JobId;

/// The attention of a job in each state, one digit for each of [`FOLLOW_UPS`]: without a pull request, without one and lost, with one, and with one
/// and lost. An archived or dismissed job needs none.
const ATTENTION: [(JobState, [&str; 4]); 10] = [
    (JobState::Queued, ["011001", "011001", "011001", "011001"]),
    (JobState::Sending, ["011001", "011001", "011001", "011001"]),
    (JobState::Active, ["011001", "011001", "011001", "011001"]),
    (JobState::Completed, ["111111", "111111", "011001", "011001"]),
    (JobState::Archived, ["011001", "011001", "011001", "011001"]),
    (JobState::Failed, ["111111", "111111", "111111", "111111"]),
    (JobState::Rejected, ["111111", "111111", "111111", "111111"]),
    (JobState::Cancelled, ["000000", "000000", "000000", "000000"]),
    (JobState::Unknown, ["111111", "111111", "111111", "111111"]),
    (JobState::Other, ["011001", "111111", "011001", "111111"]),
];

/// The states of the follow-ups of a job.
const FOLLOW_UPS: [&[&str]; 6] =
    [&[], &["unknown"], &["rejected"], &["rejected", "accepted"], &["cancelled"], &["unknown", "queued"]];

/// Clauses from which a statement is assembled, so that its columns are not in its text: the file, the clause, and the columns.
const ASSEMBLED: [(&str, &str, &str); 1] =
    [("src/jobs/archive_and_tags.rs", "{at} = $1, {person} = $2", "archived_here_at, dismissed_at")];

/// The statements of a source file that write a state of a delivery or a job, or may do so.
fn writes_of_states(path: &str, source: &str) -> Vec<String> {
    let source = source.replace("\\\n", " ");
    let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for table in ["messages", "jobs"] {
        for insert in [format!("INTO {table} "), format!("INTO {table}(")] {
            found.extend(source.match_indices(&insert).map(|_| format!("inserts into {table}")));
        }
        for (at, update) in source.match_indices(&format!("UPDATE {table} ")) {
            let rest = &source[at + update.len()..];
            // A trigger on an update does not count.
            let Some(set) =
                rest.strip_prefix("SET ").or_else(|| rest.split_once(" SET ").map(|(_, set)| set))
            else {
                continue;
            };
            let end = ["WHERE", "\"", ";"].iter().filter_map(|end| set.find(end)).min();
            let set = set[..end.unwrap_or(set.len())].trim();
            let is_listed = ASSEMBLED.iter().any(|(file, clause, _)| *file == path && *clause == set);
            let names_state = set.split(',').any(|part| part.trim().starts_with("state ="));
            if names_state || (set.contains('{') && !is_listed) {
                found.push(format!("updates {table}: {set}"));
            }
        }
    }
    found
}

#[test]
fn a_statement_that_writes_a_state_is_recognized() {
    for statement in [
        "UPDATE jobs SET state = $2, reason = $3 WHERE id = $1",
        "UPDATE messages SET reason = NULL,\n    state = 'queued'\n WHERE id = $1",
        "UPDATE messages SET {set} WHERE id = $1",
        "INSERT INTO messages (id) VALUES ($1)",
        "INSERT INTO jobs(id) SELECT 1",
    ] {
        assert_eq!(writes_of_states("src/a.rs", statement).len(), 1, "{statement}");
    }
    for statement in [
        "UPDATE jobs SET reason = $2 WHERE state = 'queued'",
        "UPDATE listed_jobs SET state = new.state",
        "AFTER UPDATE OF state ON jobs",
        "SELECT state FROM jobs",
        "INSERT INTO job_events (state) VALUES ($1)",
    ] {
        assert_eq!(writes_of_states("src/a.rs", statement), Vec::<String>::new(), "{statement}");
    }
}

#[test]
fn only_the_lifecycle_module_writes_states() {
    let (mut files, mut own) = (0, Vec::new());
    for (path, source) in sources() {
        let writes = writes_of_states(&path, &source);
        files += 1;
        if path.starts_with("src/jobs/lifecycle") {
            own.extend(writes);
        } else {
            assert_eq!(writes, Vec::<String>::new(), "{path}: only store::jobs::lifecycle may write a state");
        }
        for (_, clause, columns) in ASSEMBLED.iter().filter(|(file, ..)| *file == path) {
            assert!(source.contains(clause), "{path} no longer contains {clause}");
            assert!(columns.split(", ").all(|column| source.contains(&format!("\"{column}\""))), "{path}");
            assert!(!source.contains("\"state\""), "{path}");
        }
    }
    assert!(files > 100, "{files}");
    own.sort();
    own.dedup_by_key(|write| write.split(':').next().unwrap_or_default().to_owned());
    let tables = own.iter().map(|write| write.split(':').next().unwrap_or_default());
    let expected = ["inserts into jobs", "inserts into messages", "updates jobs", "updates messages"];
    assert!(tables.eq(expected), "{own:?}");
}

/// The sources of this crate without tests, and the migrations: no other crate can execute statements.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut folders = vec!["src".to_owned(), "migrations".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let path = format!("{folder}/{name}");
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
                continue;
            }
            let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
            if !is_test {
                found.push((path, std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    found
}

/// Every job with its attention, as `number:attention`.
async fn attention(pool: &crate::dialect::Pool) -> Vec<String> {
    let rows: Vec<(String, i64)> =
        sqlx::query_as("SELECT job_id, attention FROM listed_jobs ORDER BY job_id")
            .fetch_all(pool)
            .await
            .unwrap();
    rows.into_iter().map(|(job, attention)| format!("{job} {attention}")).collect()
}

/// Inserts jobs in every state and with every history that affects attention. Returns their expected attention, as [`attention`].
async fn fill(pool: &crate::dialect::Pool) -> Vec<String> {
    let mut expected = Vec::new();
    let mut statements = vec![
        "INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('u', 'bea', 'operator', 'h', 1)"
            .to_owned(),
    ];
    let mut number = 0;
    for (state, attention) in ATTENTION {
        let first = match state {
            JobState::Queued
            | JobState::Sending
            | JobState::Rejected
            | JobState::Cancelled
            | JobState::Unknown => state.as_str(),
            _ => "accepted",
        };
        let mut attention = attention.into_iter();
        for link in ["NULL", "'https://git.example/1'"] {
            for status in ["NULL", "'not found'"] {
                let attention = attention.next().unwrap();
                for mark in ["", "archived_here_at", "dismissed_at"] {
                    for (later, attention) in FOLLOW_UPS.into_iter().zip(attention.chars()) {
                        let job = format!("01930000-0000-7000-8000-{number:012}");
                        number += 1;
                        expected.push(format!("{job} {}", if mark.is_empty() { attention } else { '0' }));
                        statements.push(format!(
                            "INSERT INTO jobs (id, project, state, created_at, changed_at, pr_link, remote_status)
                             VALUES ('{job}', 'docs', '{state}', 1, 1, {link}, {status})"
                        ));
                        for (position, state) in [first].iter().chain(later).enumerate() {
                            statements.push(format!(
                                "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
                                 VALUES ('{job}-{position}', '{job}', {position}, 'u', '{job}-{position}', 'text', '{state}', 1, 1)"
                            ));
                        }
                        if !mark.is_empty() {
                            statements.push(format!("UPDATE jobs SET {mark} = 1 WHERE id = '{job}'"));
                        }
                    }
                }
            }
        }
    }
    let mut tx = pool.begin().await.unwrap();
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement)).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
    expected
}

#[tokio::test]
async fn writer_computes_the_attention_of_every_kind_of_job() {
    assert!(ATTENTION.iter().map(|(state, _)| *state).eq(JobState::ALL));
    let ledger = Ledger::new().await;
    let store = &ledger.store;
    let expected = fill(&store.pool).await;
    let needing = expected.iter().filter(|line| line.ends_with(" 1")).count();
    assert_eq!((expected.len(), needing), (720, 156));
    let ids: Vec<JobId> = expected.iter().map(|line| line[..36].parse().unwrap()).collect();
    let refresh = async || {
        let mut tx = store.write(&work()).begin().await.unwrap().tx;
        refresh_attention(&mut tx, &ids).await.unwrap();
        tx.commit().await.unwrap();
    };
    refresh().await;
    assert_eq!(attention(&store.pool).await, expected);

    // The writer changes nothing, and then corrects every value after all were inverted.
    let revision = "SELECT revision FROM project_changes WHERE project = 'docs'";
    let revisions = async || -> i64 { sqlx::query_scalar(revision).fetch_one(&store.pool).await.unwrap() };
    let seen = revisions().await;
    refresh().await;
    assert_eq!((attention(&store.pool).await, revisions().await), (expected.clone(), seen));
    sqlx::query("UPDATE listed_jobs SET attention = 1 - attention").execute(&store.pool).await.unwrap();
    assert_ne!(attention(&store.pool).await, expected);
    refresh().await;
    assert_eq!(attention(&store.pool).await, expected);
}

#[tokio::test]
async fn a_step_from_another_state_changes_nothing() {
    let ledger = Ledger::new().await;
    let message = ledger.commit("i-1", "text").await.unwrap();
    let intent = ledger.claim(&message).await.unwrap();
    let accepted = remote("r-1", "active");
    ledger
        .store
        .record_outcome(&work(), &intent, &DeliveryOutcome::Accepted(&accepted, NOON), NOON)
        .await
        .unwrap();
    let before = ledger.store.job(&ledger.project, &intent.job).await.unwrap().unwrap();
    for late in [
        DeliveryOutcome::Rejected(ReasonCode::PromptRefused.with("late")),
        DeliveryOutcome::Unknown(ReasonCode::PlatformFailed.with("late")),
        DeliveryOutcome::Requeued(ReasonCode::PlatformLimit.with("late")),
        DeliveryOutcome::Accepted(&remote("r-2", "failed"), NOON),
    ] {
        ledger.store.record_outcome(&work(), &intent, &late, NOON.plus_seconds(9)).await.unwrap();
    }
    assert!(ledger.claim(&message).await.is_none());
    let message = message.parse().unwrap();
    let cancelled =
        ledger.store.cancel(Authority::Test(&ledger.author, NOON), &ledger.project, &[message], "late").await;
    assert_eq!(cancelled.unwrap(), 0);
    assert_eq!(ledger.store.job(&ledger.project, &intent.job).await.unwrap().unwrap(), before);
}

/// A job in a state that none of its steps leads to is an error, and stays unchanged.
#[tokio::test]
async fn job_in_an_unexpected_state_is_not_overwritten() {
    let ledger = Ledger::new().await;
    let message = ledger.commit("i-1", "text").await.unwrap();
    let intent = ledger.claim(&message).await.unwrap();
    sqlx::query("UPDATE jobs SET state = 'completed'").execute(&ledger.store.pool).await.unwrap();
    let refused = ledger
        .store
        .record_outcome(
            &work(),
            &intent,
            &DeliveryOutcome::Rejected(ReasonCode::PromptRefused.with("no")),
            NOON,
        )
        .await
        .unwrap_err();
    assert!(refused.is_corrupt(), "{refused}");
    let states: (String, String) =
        sqlx::query_as("SELECT j.state, m.state FROM jobs j JOIN messages m ON m.job_id = j.id")
            .fetch_one(&ledger.store.pool)
            .await
            .unwrap();
    assert_eq!(states, ("completed".to_owned(), "sending".to_owned()));
}

/// A reader of one table at a time could see a state without its timeline entry, or an entry without its state.
#[tokio::test]
async fn job_and_its_timeline_are_from_one_snapshot() {
    let ledger = Ledger::new().await;
    let (store, project) = (&ledger.store, &ledger.project);
    let message = ledger.commit("i-1", "text").await.unwrap();
    let claim = async || match store
        .claim(&work(), &message, &ScopeLimit::of("creates", 1_000), None, NOON)
        .await
        .unwrap()
    {
        Claim::Sending { intent, .. } => *intent,
        _ => panic!("not claimed"),
    };
    let job = claim().await.job;
    store
        .record_outcome(
            &work(),
            &store.being_sent(&message).await.unwrap().unwrap(),
            &DeliveryOutcome::Unknown(ReasonCode::PlatformFailed.with("lost")),
            NOON,
        )
        .await
        .unwrap();
    let writer = async {
        for attempt in 0..100 {
            let unknown = UnresolvedDelivery { project, job: &job, position: 0, attempt };
            assert!(store.send_again((&work()).into(), &unknown, "again").await.unwrap().is_some());
            let intent = claim().await;
            store
                .record_outcome(
                    &work(),
                    &intent,
                    &DeliveryOutcome::Unknown(ReasonCode::PlatformFailed.with("lost")),
                    NOON,
                )
                .await
                .unwrap();
        }
    };
    let reader = async {
        loop {
            let job = store.job(project, &job).await.unwrap().unwrap();
            assert_eq!(job.history.last().unwrap().state.as_str(), job.state.as_str());
        }
    };
    tokio::select! {
        () = writer => {}
        () = reader => {}
    }
}
