//! Tests of the search index: each prompt and each follow-up is indexed once, in an entry of its own.

use super::*;
use crate::dialect::Area;
use crate::dialect::migrations::normalized_texts::normalize;
use crate::jobs::list::Sort;
use model::id::JobId;

/// The number and the position of each entry in the index of words, with its number of words. Up to 127.
const SIZES_IN_FILE: &str = "SELECT id AS number, 0 AS position, HEX(sz) AS words FROM job_words_docsize
    UNION ALL SELECT id / 1048576, id % 1048576, HEX(sz) FROM follow_up_words_docsize ORDER BY 1, 2";
const SIZES_ON_SERVER: &str =
    "SELECT number, CAST(0 AS BIGINT) AS position, TO_HEX(LENGTH(words)) AS words FROM job_words
     UNION ALL SELECT number, position, TO_HEX(LENGTH(words)) FROM follow_up_words ORDER BY 1, 2";

impl Ledger {
    async fn follow_up(&self, job: &JobId, intent: &str, prompt: &str) {
        self.insert(&self.new_follow_up(job, intent, prompt)).await.unwrap().unwrap();
    }

    async fn entries(&self) -> Vec<(i64, i64, usize)> {
        let sql = match self.store.dialect {
            Dialect::Sqlite => SIZES_IN_FILE,
            Dialect::Postgres => SIZES_ON_SERVER,
        };
        let rows = sqlx::query(sql).fetch_all(&self.store.pool).await.unwrap();
        let words = |row: &AnyRow| usize::from_str_radix(&row.get::<String, _>("words"), 16).unwrap();
        rows.iter().map(|row| (row.get("number"), row.get("position"), words(row))).collect()
    }

    async fn finds(&self, text: &str) -> usize {
        let filter = JobFilter { text: Some(text.to_owned()), ..JobFilter::default() };
        let listed = self.store.jobs(&permit().await, &self.project, &filter).await.unwrap();
        assert_eq!(listed.counts.values().sum::<u64>(), listed.jobs.len() as u64, "{text:?}");
        listed.jobs.len()
    }

    async fn normalize(&self) {
        let mut tx = self.store.dialect.begin(&self.store.pool, Area::Ledger).await.unwrap();
        normalize(&mut tx).await.unwrap();
        tx.commit().await.unwrap();
    }

    async fn execute(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.store.pool).await.unwrap();
    }
}

#[tokio::test]
async fn follow_up_adds_one_entry_with_its_own_words() {
    let ledger = Ledger::new().await;
    let job = ledger.ended("first", "completed", None).await;
    ledger.commit("other", "another job").await.unwrap();
    for n in 1..=40 {
        let before = ledger.entries().await;
        ledger.follow_up(&job, &format!("f{n}"), &format!("follow up number{n}")).await;
        let mut after = ledger.entries().await;
        let new = after.remove(n);
        assert_eq!((after, new), (before, (1, n as i64, 3)), "after {n} follow-ups");
    }
    assert_eq!((ledger.finds("number1 ").await, ledger.finds("number40").await), (1, 1));
}

#[tokio::test]
async fn words_spread_over_texts_of_a_job_find_it_once() {
    let ledger = Ledger::new().await;
    for (intent, prompt) in
        [("plain", "amber lantern"), ("spread", "amber kite 概要ページ"), ("late", "blue kite")]
    {
        ledger.ended(intent, "completed", None).await;
        sqlx::query("UPDATE messages SET prompt = $1 WHERE intent = $2")
            .bind(prompt)
            .bind(intent)
            .execute(&ledger.store.pool)
            .await
            .unwrap();
    }
    let ids: Vec<String> =
        sqlx::query_scalar("SELECT id FROM jobs ORDER BY id").fetch_all(&ledger.store.pool).await.unwrap();
    let [_, spread, late] = [0, 1, 2].map(|at| ids[at].parse::<JobId>().unwrap());
    ledger.follow_up(&spread, "f1", "a quiet fjord, and the amber again").await;
    ledger.follow_up(&spread, "f2", "a second fjord 更新してください").await;
    ledger.follow_up(&late, "f3", "the amber fjord").await;
    for (text, jobs) in [
        ("amber", 3),
        ("fjord", 2),
        ("kite fjord", 2),
        ("amber kite", 2),
        ("lantern fjord", 0),
        ("quiet second", 1),
        ("kite quiet second amber", 1),
        ("\"quiet fjord\" kite", 1),
        ("\"kite quiet\"", 0),
        ("kite fjo", 2),
        ("要ページ", 1),
        ("要ページ 新してくだ", 1),
        ("要ページ 新してくだ fjord kite", 1),
        ("要ページ 新してくだ lantern", 0),
        ("ペー", 1),
    ] {
        assert_eq!(ledger.finds(text).await, jobs, "{text:?}");
    }
    let label =
        JobFilter { label: Some("/a".to_owned()), text: Some("amber".to_owned()), ..JobFilter::default() };
    for sort in [Sort::Changed, Sort::Oldest] {
        let filter = JobFilter { text: Some("kite fjord".to_owned()), sort, ..JobFilter::default() };
        let listed = ledger.store.jobs(&permit().await, &ledger.project, &filter).await.unwrap();
        assert_eq!(listed.jobs.len(), 2, "{filter:?}");
    }
    let listed = ledger.store.jobs(&permit().await, &ledger.project, &label).await.unwrap();
    assert_eq!(listed.jobs.len(), 3);
}

/// Earlier versions indexed a prompt and its follow-ups in one entry.
#[tokio::test]
async fn entry_of_an_earlier_version_still_finds_its_follow_ups() {
    let ledger = Ledger::new().await;
    let job = ledger.ended("prompt", "completed", None).await;
    ledger.follow_up(&job, "f1", "amber").await;
    ledger.execute("DELETE FROM follow_up_words").await;
    ledger.execute("DELETE FROM job_words").await;
    ledger
        .execute(match ledger.store.dialect {
            Dialect::Sqlite => "INSERT INTO job_words (rowid, text) VALUES (1, 'prompt amber')",
            Dialect::Postgres => {
                "INSERT INTO job_words (number, words) VALUES (1, docket_words('prompt amber'))"
            }
        })
        .await;
    ledger.follow_up(&job, "f2", "lantern").await;
    for text in ["amber", "prompt lantern", "amber lantern", "lantern"] {
        assert_eq!(ledger.finds(text).await, 1, "{text}");
    }
    // The prompt's entry is written again when the prompt is normalized, and no follow-up is lost.
    ledger.execute("UPDATE messages SET prompt = 'cafe\u{301}' WHERE position = 0").await;
    ledger.execute("DELETE FROM job_words").await;
    ledger
        .execute(match ledger.store.dialect {
            Dialect::Sqlite => "INSERT INTO job_words (rowid, text) VALUES (1, 'prompt amber')",
            Dialect::Postgres => {
                "INSERT INTO job_words (number, words) VALUES (1, docket_words('prompt amber'))"
            }
        })
        .await;
    ledger.normalize().await;
    for text in ["caf\u{e9}", "amber lantern caf\u{e9}"] {
        assert_eq!(ledger.finds(text).await, 1, "{text}");
    }
    assert_eq!(ledger.finds("prompt").await, 0);
}

#[tokio::test]
async fn composed_and_decomposed_words_find_the_same_jobs() {
    for (composed, decomposed) in [
        ("\u{d55c}\u{ad6d}\u{c5b4}", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}"),
        ("\u{30ac}\u{30a4}\u{30c9}", "\u{30ab}\u{3099}\u{30a4}\u{30c8}\u{3099}"),
        (
            "\u{0439}\u{043e}\u{0433}\u{0443}\u{0440}\u{0442}",
            "\u{0438}\u{0306}\u{043e}\u{0433}\u{0443}\u{0440}\u{0442}",
        ),
        ("\u{03ba}\u{03b1}\u{03bb}\u{03ac}", "\u{03ba}\u{03b1}\u{03bb}\u{03b1}\u{0301}"),
        ("\u{00fc}ber", "u\u{0308}ber"),
    ] {
        let ledger = Ledger::new().await;
        ledger.commit("new", composed).await.unwrap();
        ledger.commit("old", "of an earlier version").await.unwrap();
        // The store's callers normalize; an earlier version did not.
        sqlx::query("UPDATE messages SET prompt = $1 WHERE intent = 'old'")
            .bind(decomposed)
            .execute(&ledger.store.pool)
            .await
            .unwrap();
        ledger.normalize().await;
        for text in [composed, decomposed] {
            assert_eq!(ledger.finds(text).await, 2, "{text}");
        }
        let stored: Vec<String> =
            sqlx::query_scalar("SELECT prompt FROM messages").fetch_all(&ledger.store.pool).await.unwrap();
        assert_eq!(stored, [composed, composed]);
    }
}

#[tokio::test]
async fn decomposed_page_or_tag_is_replaced_by_the_composed_one() {
    let ledger = Ledger::new().await;
    ledger.commit("a", "a job").await.unwrap();
    ledger
        .execute("INSERT INTO job_tags (job_id, folded, tag) SELECT id, '\u{2126}', '\u{2126}' FROM jobs")
        .await;
    ledger.execute("INSERT INTO job_paths (job_id, path) SELECT id, '/cafe\u{301}' FROM jobs").await;
    ledger.execute("INSERT INTO job_paths (job_id, path) SELECT id, '/both-e\u{301}' FROM jobs").await;
    ledger.execute("INSERT INTO job_paths (job_id, path) SELECT id, '/both-\u{e9}' FROM jobs").await;
    ledger.normalize().await;
    let labels: Vec<String> = sqlx::query_scalar("SELECT label FROM listed_labels ORDER BY label")
        .fetch_all(&ledger.store.pool)
        .await
        .unwrap();
    assert_eq!(labels, ["/a", "/both-\u{e9}", "/caf\u{e9}", "\u{3a9}"]);
    for label in ["/cafe\u{301}", "/caf\u{e9}", "\u{2126}", "\u{3a9}"] {
        let filter = JobFilter { label: Some(label.to_owned()), ..JobFilter::default() };
        let listed = ledger.store.jobs(&permit().await, &ledger.project, &filter).await.unwrap();
        assert_eq!(listed.jobs.len(), 1, "{label}");
    }
}
