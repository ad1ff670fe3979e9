//! Query plans of pages: each reads only what it shows, independent of the total number of rows.

use super::work;
use sqlx::AssertSqlSafe;

use super::*;
use crate::dialect::Dialect;
use crate::jobs::intents::QUEUED;
use crate::jobs::lifecycle::standings;
use crate::jobs::list::{Sort, sections_statement};
use crate::jobs::messages::nothing_before_it;
use crate::jobs::templates::SELECT_TEXTS;
use crate::limits::not_sent_statement;
use crate::page_views::known_pages::BY_SPELLING;
use crate::page_views::queries::{Completed, PATHS, finished_about};
use model::selection::Selection;

impl Ledger {
    /// The query plan of a statement whose parameters have no values.
    async fn plan(&self, sql: &str) -> Vec<String> {
        let sql = format!("EXPLAIN QUERY PLAN {sql}");
        let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&self.store.pool).await.unwrap();
        rows.iter().map(|row| row.try_get::<String, _>("detail").unwrap()).collect()
    }

    /// The plan of a statement on PostgreSQL, with 2,000 pages: it reads few pages without an index.
    async fn plan_with_pages(&self, sql: &str) -> Vec<String> {
        let mut tx = self.store.pool.begin().await.unwrap();
        let pages =
            "INSERT INTO page_paths (project, path) SELECT 'docs', '/' || n FROM generate_series(1, 2000) n";
        for sql in ["SET LOCAL enable_seqscan = off", pages, "ANALYZE page_paths"] {
            sqlx::query(sql).execute(&mut *tx).await.unwrap();
        }
        let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN {sql}"))).fetch_all(&mut *tx).await.unwrap();
        rows.iter().map(|row| row.try_get::<String, _>(0).unwrap()).collect()
    }
}

fn reads(plan: &[String], table: &str) -> bool {
    plan.iter().any(|line| line.split(' ').any(|word| word == table))
}

#[tokio::test]
async fn new_job_form_reads_templates_and_no_jobs() {
    let ledger = Ledger::in_file().await;
    let plan = ledger.plan(SELECT_TEXTS).await;
    assert!(plan[0].starts_with("SEARCH templates USING INDEX"), "{plan:?}");
    for table in ["jobs", "j", "job_templates", "job_events"] {
        assert!(!reads(&plan, table), "{table}: {plan:?}");
    }
}

#[tokio::test]
async fn overview_reads_stored_counts_and_skips_empty_lists() {
    let ledger = Ledger::in_file().await;
    let (active, needing) = (
        JobFilter { state: Some(JobState::Active), archived: Some(false), ..JobFilter::default() },
        JobFilter { needs_attention: true, archived: Some(false), ..JobFilter::default() },
    );
    let changed = JobFilter { sort: Sort::Changed, archived: Some(false), ..JobFilter::default() };
    let statement =
        sections_statement(Dialect::Sqlite, &ledger.project, [(&active, 8), (&needing, 8), (&changed, 8)]);
    assert_eq!(statement.sql().matches("CASE WHEN EXISTS (SELECT 1 FROM job_counts").count(), 3);
    let plan = ledger.plan(statement.sql()).await;
    // The three lists, each by the index with its order. The counts are stored.
    let of_list = |line: &&String| line.split(' ').any(|word| word == "l" || word == "listed_jobs");
    let lists: Vec<_> = plan.iter().filter(of_list).collect();
    assert_eq!(lists.len(), 3, "{plan:?}");
    assert!(lists.iter().all(|line| line.starts_with("SEARCH l USING INDEX listed_")), "{plan:?}");
    assert!(lists[1].contains("listed_needing"), "{plan:?}");
    let counted: Vec<_> =
        plan.iter().filter(|line| line.contains(" c ") || line.contains("job_counts")).collect();
    assert!(
        counted.len() >= 4 && counted.iter().all(|line| line.contains("PRIMARY KEY (project=?")),
        "{plan:?}"
    );
}

#[tokio::test]
async fn stored_counts_match_the_jobs_after_every_change() {
    let ledger = Ledger::new().await;
    for n in 0..6 {
        let message = ledger.commit(&format!("i-{n}"), "text").await.unwrap();
        let intent = ledger.claim(&message).await.unwrap();
        let status = ["active", "completed", "failed"][n % 3];
        let remote = remote(&format!("r-{n}"), status);
        ledger
            .store
            .record_outcome(&work(), &intent, &DeliveryOutcome::Accepted(&remote, NOON), NOON)
            .await
            .unwrap();
    }
    for change in [
        "SELECT 1",
        "UPDATE jobs SET archived_here_at = 1 WHERE remote_status = 'failed'",
        "UPDATE jobs SET dismissed_at = 1 WHERE remote_status = 'completed'",
        "UPDATE jobs SET state = 'failed' WHERE remote_id = 'r-0'",
        "UPDATE jobs SET pr_link = 'x' WHERE state = 'completed'",
        "UPDATE jobs SET state = 'archived', archived_here_at = NULL",
        "DELETE FROM listed_jobs WHERE number < 4",
    ] {
        sqlx::query(change).execute(&ledger.store.pool).await.unwrap();
        let different: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM (
                 SELECT project, archived, state, attention, has_pr, COUNT(*) AS jobs FROM listed_jobs
                 GROUP BY project, archived, state, attention, has_pr
                 EXCEPT SELECT project, archived, state, attention, has_pr, jobs FROM job_counts) a",
        )
        .fetch_one(&ledger.store.pool)
        .await
        .unwrap();
        let sum: i64 = sqlx::query_scalar(
            "SELECT CAST(SUM(jobs) - (SELECT COUNT(*) FROM listed_jobs) AS BIGINT) FROM job_counts",
        )
        .fetch_one(&ledger.store.pool)
        .await
        .unwrap();
        assert_eq!((different, sum), (0, 0), "{change}");
    }
}

#[tokio::test]
async fn page_report_finds_its_jobs_by_label() {
    let ledger = Ledger::in_file().await;
    for selection in ["/guides/start", "/guides/*"] {
        let selection = Selection::parse(Some(selection)).unwrap();
        let plan = ledger.plan(&finished_about(&selection, Completed::WithChanges, 3)).await;
        let by = |table: &str, by: &str| {
            assert!(
                plan.iter()
                    .any(|line| line.starts_with(&format!("SEARCH {table} USING")) && line.contains(by)),
                "{table}: {plan:?}"
            );
        };
        by("s", "PRIMARY KEY (project=? AND label");
        by("l", "INTEGER PRIMARY KEY (rowid=?)");
        by("j", "(id=?)");
        // The jobs that were found, their number, and those that are returned: only their prompts are read.
        let scans: Vec<_> = plan.iter().filter(|line| line.starts_with("SCAN")).collect();
        assert!(
            matches!(&scans[..], [a, all, f] if *a == "SCAN a" && all.starts_with("SCAN (subquery-") && *f == "SCAN f"),
            "{plan:?}"
        );
        by("m", "(job_id=? AND position=?)");
    }
    let plan = ledger.plan(&finished_about(&Selection::Project, Completed::All, 1)).await;
    assert!(
        plan.iter().any(|line| line.contains("jobs_by_change (project=? AND state=? AND changed_at>?)")),
        "{plan:?}"
    );
    assert!(
        plan.iter().any(|line| line.contains("pull_requests_merged (project=? AND merged_at>?)")),
        "{plan:?}"
    );
}

#[tokio::test]
async fn analytics_table_reads_only_the_paths_of_its_days() {
    let ledger = Ledger::in_file().await;
    let plan = ledger.plan(PATHS).await;
    assert_eq!(plan, ["SEARCH page_paths USING INDEX page_paths_seen (project=? AND seen_on>?)"]);
}

#[tokio::test]
async fn known_pages_are_found_by_an_index() {
    let ledger = Ledger::in_file().await;
    let plan = ledger.plan(&format!("{BY_SPELLING} ($2, $3)")).await;
    assert_eq!(
        plan,
        ["SEARCH page_paths USING COVERING INDEX page_paths_by_spelling (project=? AND <expr>=?)"]
    );
    let ledger = Ledger::new().await;
    if ledger.store.dialect == Dialect::Postgres {
        let plan =
            ledger.plan_with_pages(&format!("{BY_SPELLING} ('/a', '/b')").replace("$1", "'docs'")).await;
        let at = plan.iter().position(|line| line.contains("on page_paths_by_spelling")).unwrap();
        assert!(plan[at + 1].contains("Index Cond: (lower(rtrim(path"), "{plan:?}");
    }
}

#[tokio::test]
async fn retention_page_names_every_table() {
    let ledger = Ledger::in_file().await;
    let page = include_str!("../../../../docs/retention.md");
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_sqlx_%'
         AND name NOT GLOB '*_words_*' AND name NOT GLOB '*_characters_*'",
    )
    .fetch_all(&ledger.store.pool)
    .await
    .unwrap();
    assert!(tables.len() > 30, "{tables:?}");
    for table in tables {
        assert!(page.contains(&format!("`{table}`")), "{table}");
    }
}

#[tokio::test]
async fn follow_up_reads_no_text_of_its_job_or_author() {
    let ledger = Ledger::in_file().await;
    let standings = ledger.plan(&standings(1)).await;
    let of_messages: Vec<_> =
        standings.iter().filter(|line| line.contains("SEARCH m ") || line.contains("SEARCH b ")).collect();
    // Only the last message itself is read.
    let last = "SEARCH m USING INDEX sqlite_autoindex_messages_2 (job_id=? AND position=?)";
    assert_eq!(of_messages.len(), 3, "{standings:?}");
    assert!(of_messages.iter().all(|line| line.contains("COVERING INDEX") || *line == last), "{standings:?}");
    let queued = ledger.plan(QUEUED).await;
    assert_eq!(queued, ["SEARCH messages USING COVERING INDEX messages_queued_by_author (author_id=?)"]);
    let not_sent = ledger.plan(&not_sent_statement()).await;
    assert_eq!(not_sent, ["SEARCH messages USING INDEX messages_not_sent (author_id=? AND created_at>?)"]);
    let claim = format!("SELECT m.id FROM messages m WHERE m.id = $1 AND {}", nothing_before_it());
    let claim = ledger.plan(&claim).await;
    assert!(
        claim.iter().any(|line| line.starts_with("SEARCH b USING COVERING INDEX messages_of_job")),
        "{claim:?}"
    );
}
