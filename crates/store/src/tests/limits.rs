//! Tests of the limits of rows, most of them with concurrent writers.

use super::work;
use model::audit::Actor;
use std::collections::BTreeSet;

use futures::future::join_all;

use super::*;
use crate::accounts::one_time_links::LinkToken;
use crate::accounts::second_factors::SignInStep;
use crate::audit::AuditFilter;
use crate::jobs::batches::NewBatch;
use crate::maintenance::retention::OF_PEOPLE;
use model::day::Day;
use model::job::TimelineMark;
use model::limits::{JOBS_OF_BATCH, MARKS_OF_JOB, PREPARED_BATCHES, SESSIONS, SIGN_IN_STEPS};
use model::page_path::Pages;

const MODEL: &str = include_str!("../../../../docs/threat-model.md");

/// The tables in the first column of the section on limits.
fn documented() -> Vec<&'static str> {
    let section = MODEL.split("\n## Limits of tables\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2)).collect()
}

/// If this fails, a migration added a table: add it to the section on limits, with its limit or the reason why it has none.
#[tokio::test]
async fn threat_model_has_the_limit_of_every_table() {
    let ledger = Ledger::new().await;
    let mut tx = ledger.store.begin_to_read().await.unwrap();
    let tables = ledger.store.dialect.tables(&mut tx).await.unwrap();
    // One of the databases stores the search index in tables.
    let search = ["job_words", "job_characters", "follow_up_words", "follow_up_characters"];
    let tables: BTreeSet<&str> = tables.iter().map(|table| table.name.as_str()).chain(search).collect();
    let documented = documented();
    assert_eq!(documented.iter().copied().collect::<BTreeSet<_>>(), tables);
    assert_eq!(documented.len(), tables.len(), "a table is listed twice");
}

/// If this fails, a migration added a reference to people: an account that has one was used, and retention must not remove it.
#[test]
fn retention_knows_every_reference_to_people() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite");
    let mut found = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let (text, mut table) = (std::fs::read_to_string(file.unwrap().path()).unwrap(), String::new());
        for line in text.lines() {
            let mut words = line.split_whitespace();
            if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
                table = rest.split(' ').next().unwrap().to_owned();
            } else if line.contains("REFERENCES users (id)") && !line.contains("ON DELETE CASCADE") {
                found.insert((table.clone(), words.next().unwrap().to_owned()));
            }
        }
    }
    let known = OF_PEOPLE.map(|(table, column)| (table.to_owned(), column.to_owned()));
    assert_eq!(found, BTreeSet::from(known));
}

/// How many of these writes succeeded. The others failed with this limit.
fn succeeded<T>(written: Vec<Result<T, StoreError>>, words: &str) -> usize {
    let refused = |error: &StoreError| match error {
        StoreError::Full(limit) => assert!(limit.to_string().contains(words), "{error}"),
        error => panic!("{error}"),
    };
    written.iter().filter(|written| written.as_ref().inspect_err(|error| refused(error)).is_ok()).count()
}

impl Ledger {
    async fn count(&self, table: &str) -> i64 {
        let count = format!("SELECT COUNT(*) FROM {table}");
        sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(&self.store.pool).await.unwrap()
    }

    async fn fill(&self, statement: String) {
        sqlx::query(sqlx::AssertSqlSafe(statement))
            .execute(self.store.write(&work()).statement())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn concurrent_notes_stay_within_the_limit_of_a_day() {
    let ledger = Ledger::new().await;
    let by = Authority::Test(&ledger.author, NOON);
    let add = async |day: Day, text: u32| {
        ledger.store.add_annotation(by, &ledger.project, day, &text.to_string()).await
    };
    let (today, tomorrow) = (Day::of(NOON), Day::of(NOON).plus_days(1));
    let added = join_all((0..60).map(|number| add(today, number))).await;
    assert_eq!(succeeded(added, "at most 50 notes"), 50);
    // Moving a note of another day there fails, too.
    let id = add(tomorrow, 0).await.unwrap();
    let change = async |day| ledger.store.change_annotation(by, &ledger.project, &id, day, "changed").await;
    assert_eq!(succeeded(vec![change(today).await], "at most 50 notes"), 0);
    change(tomorrow).await.unwrap();
    assert_eq!(ledger.count("annotations").await, 51);
    // A note that is repeated at the same time is stored once.
    let same = join_all((0..10).map(|_| add(tomorrow, 1))).await;
    assert_eq!(succeeded(same, "at most 50 notes"), 10);
    assert_eq!(ledger.count("annotations").await, 52);
}

#[tokio::test]
async fn concurrent_webhooks_stay_within_the_limit_of_a_project() {
    let ledger = Ledger::new().await;
    let by = Authority::Test(&ledger.author, NOON);
    let all = ChosenEvents::default();
    let add = |_| {
        let url = "https://example.com/hook";
        ledger.store.add_webhook(by, &ledger.project, WebhookKind::Json, url, "s", &all)
    };
    assert_eq!(succeeded(join_all((0..25).map(add)).await, "at most 20 webhooks"), 20);
    assert_eq!(ledger.count("webhooks").await, 20);
}

#[tokio::test]
async fn concurrent_requests_for_days_stay_within_the_limit() {
    let ledger = Ledger::new().await;
    let days =
        |year: i64| -> Vec<Day> { (0..300).map(|ago| Day::of(NOON).plus_days(-400 * year - ago)).collect() };
    let request = async |year| {
        ledger
            .store
            .add_requested_days(Authority::Test(&ledger.author, NOON), &ledger.project, &days(year))
            .await
    };
    assert_eq!(succeeded(join_all((0..3).map(request)).await, "At most 400 days"), 1);
    assert_eq!(ledger.count("requested_days").await, 300);
}

#[tokio::test]
async fn oldest_prepared_batches_of_a_person_are_removed() {
    let ledger = Ledger::new().await;
    let prepare = async |n: i64| {
        let intent: IntentId = format!("batch-{n}").parse().unwrap();
        let new = NewBatch {
            project: &ledger.project,
            author_id: &ledger.author.id,
            intent: &intent,
            template: "text",
            template_id: None,
            list: "/a",
        };
        ledger
            .store
            .prepare_batch(Authority::Test(&Actor::docket(), NOON.plus_seconds(n)), &new)
            .await
            .unwrap()
            .unwrap()
    };
    let started = prepare(0).await;
    ledger.store.start_batch(Authority::Test(&ledger.author, NOON), &started, &[], 10).await.unwrap();
    let first = prepare(1).await;
    join_all((2..2 * PREPARED_BATCHES).map(prepare)).await;
    assert_eq!(ledger.count("batches").await, PREPARED_BATCHES + 1);
    let there = async |id| ledger.store.batch(&ledger.project, id).await.unwrap().is_some();
    assert!(there(&started.id).await && !there(&first.id).await);
}

#[tokio::test]
async fn retries_stay_within_the_limit_of_a_batch() {
    let ledger = Ledger::new().await;
    let intent: IntentId = "batch".parse().unwrap();
    let new = NewBatch {
        project: &ledger.project,
        author_id: &ledger.author.id,
        intent: &intent,
        template: "text",
        template_id: None,
        list: "/a",
    };
    let batch = ledger.store.prepare_batch((&work()).into(), &new).await.unwrap().unwrap();
    ledger.store.start_batch(Authority::Test(&ledger.author, NOON), &batch, &[], 10).await.unwrap();
    let (id, project, jobs) = (&batch.id, &ledger.project, JOBS_OF_BATCH.most() - 1);
    ledger
        .fill(format!(
            "INSERT INTO jobs (id, project, state, created_at, changed_at, batch_id)
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {jobs})
             SELECT '00000000-0000-7000-8000-' || (100000000000 + i), '{project}', 'failed', 0, 0, '{id}' FROM n"
        ))
        .await;
    let retry_of = |number: i64| {
        let job = format!("00000000-0000-7000-8000-{}", 100_000_000_000 + number).parse().unwrap();
        let prompt = Prompt::parse("text", 9).unwrap();
        batch.job(new_id().parse().unwrap(), prompt, Pages::default(), Some(job))
    };
    let retry = async |jobs: &[NewIntent]| {
        ledger.store.retry_jobs(Authority::Test(&ledger.author, NOON), &batch, jobs, 10).await
    };
    assert_eq!(succeeded(vec![retry(&[retry_of(1), retry_of(2)]).await], "at most 1000 jobs"), 0);
    assert_eq!(ledger.count("messages").await, 0, "all or none");
    // The second one finds the retry of the first, and starts nothing.
    let twice = join_all([[retry_of(1)], [retry_of(1)]].iter().map(|jobs| retry(jobs))).await;
    assert_eq!(succeeded(twice, "at most"), 2);
    assert_eq!(ledger.count("messages").await, 1);
    assert_eq!(succeeded(vec![retry(&[retry_of(2)]).await], "at most 1000 jobs"), 0);
}

#[tokio::test]
async fn sessions_unused_for_longest_end_beyond_the_limit() {
    let ledger = Ledger::new().await;
    let (store, user) = (&ledger.store, ledger.author.id.clone());
    ledger
        .fill(format!(
            "INSERT INTO sessions (id_hash, data, user_id, created_at, last_used_at, expires_at)
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {SESSIONS})
             SELECT 'old-' || i, '', '{user}', 0, i, 9000000000000 FROM n"
        ))
        .await;
    for id in ["new-1", "new-2"] {
        assert!(store.add_session(id, "", NOON, NOON.plus_seconds(60)).await.unwrap());
        store.own_session(id, &user, "", "").await.unwrap();
    }
    let sessions = store.sessions_of(&user, NOON, Timestamp::from_millis(-1)).await.unwrap();
    let ids: Vec<&str> = sessions.iter().map(|session| session.id_hash.as_str()).collect();
    assert_eq!(ids.len() as i64, SESSIONS);
    assert!(ids.contains(&"new-1") && ids.contains(&"new-2") && ids.contains(&"old-3"), "{ids:?}");
    assert!(!ids.contains(&"old-1") && !ids.contains(&"old-2"), "{ids:?}");
}

#[tokio::test]
async fn oldest_sign_in_steps_of_a_person_end() {
    let ledger = Ledger::new().await;
    let step =
        SignInStep { user_id: ledger.author.id.clone(), session_stamp: String::new(), next: "/".to_owned() };
    for n in 0..SIGN_IN_STEPS + 5 {
        let until = NOON.plus_seconds(300 + n);
        ledger.store.put_sign_in_step(&n.to_string(), &step, NOON, until).await.unwrap();
    }
    assert_eq!(ledger.count("sign_in_steps").await, SIGN_IN_STEPS);
    assert!(ledger.store.sign_in_step("4", 5, NOON).await.unwrap().is_none());
    assert!(ledger.store.sign_in_step("5", 5, NOON).await.unwrap().is_some());
}

#[tokio::test]
async fn unsent_prompts_have_a_limit_within_a_day() {
    let ledger = Ledger::new().await;
    ledger.commit("i-1", "text").await.unwrap();
    let (author, job) = (ledger.author.id.clone(), "(SELECT id FROM jobs)");
    ledger
        .fill(format!(
            "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
             SELECT 'm-' || i, {job}, i, '{author}', 'm-' || i, 'text', 'cancelled', {at}, {at} FROM n",
            at = NOON.as_millis()
        ))
        .await;
    let submit = async |intent: &str, now| {
        let (new, docket) = (ledger.new_job(intent, "text"), Actor::docket());
        let (by, scheduling) = (Authority::Test(&docket, now), Scheduling::Immediate);
        ledger.store.insert_intent(by, &ledger.author, &new, scheduling, u32::MAX).await
    };
    assert_eq!(succeeded(vec![submit("i-2", NOON).await], "2000 of your prompts"), 0);
    assert!(submit("i-3", NOON.plus_seconds(86_401)).await.unwrap().is_some());
}

#[tokio::test]
async fn accounts_have_a_limit() {
    let ledger = Ledger::new().await;
    ledger
        .fill(
            "INSERT INTO users (id, name, role, password_hash, created_at)
             WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
             SELECT 'u-' || i, 'u-' || i, 'viewer', '', 0 FROM n"
                .to_owned(),
        )
        .await;
    let invited = ledger
        .store
        .invite(
            Authority::Test(&ledger.author, NOON),
            "ivan",
            Role::Viewer,
            &GivenProjects::All,
            &LinkToken { hash: "token".to_owned(), expires_at: NOON.plus_seconds(60) },
        )
        .await;
    assert_eq!(succeeded(vec![invited], "at most 10000 accounts"), 0);
}

#[tokio::test]
async fn templates_added_and_removed_again_leave_few_audit_records() {
    let ledger = Ledger::new().await;
    let (store, project, by) = (&ledger.store, &ledger.project, &ledger.author);
    for n in 0..30 {
        let added = store
            .add_template(Authority::Test(by, NOON), project, &n.to_string(), "text", 100)
            .await
            .unwrap();
        assert!(store.remove_template(Authority::Test(by, NOON), project, &added.unwrap()).await.unwrap());
    }
    let records = store.audit_records(&AuditFilter::default(), 1_000).await.unwrap();
    assert_eq!(records.len(), 2 * 20);
    assert_eq!(store.audit_counts().await.unwrap().iter().map(|counted| counted.count).sum::<u64>(), 20);
}

#[tokio::test]
async fn job_archived_and_restored_again_keeps_a_short_timeline() {
    let ledger = Ledger::new().await;
    ledger.commit("i-1", "text").await.unwrap();
    let page = ledger.store.jobs(&permit().await, &ledger.project, &JobFilter::default()).await.unwrap();
    let (store, project, by, ids) =
        (&ledger.store, &ledger.project, &ledger.author, [page.jobs[0].id.clone()]);
    for _ in 0..80 {
        assert_eq!(
            store.mark(Authority::Test(by, NOON), TimelineMark::Archived, project, &ids).await.unwrap().len(),
            1
        );
        assert_eq!(
            store.mark(Authority::Test(by, NOON), TimelineMark::Restored, project, &ids).await.unwrap().len(),
            1
        );
    }
    let others = ledger.count("job_events WHERE state NOT IN ('archived here', 'brought back here')").await;
    assert_eq!(ledger.count("job_events").await - others, MARKS_OF_JOB);
    assert_eq!(others, 1);
}
