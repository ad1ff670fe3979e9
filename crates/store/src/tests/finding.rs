//! Tests of the list: pages, filters and the search.

use super::work;
use super::*;
use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use crate::jobs::list::{Listed, PAGE_JOBS, PageStart, Sections, Sort, counts, positions};
use model::id::JobId;
use model::job::TimelineMark;
use model::script::is_unspaced;

impl Ledger {
    async fn listed(&self, filter: &JobFilter) -> Listed {
        self.store.jobs(&permit().await, &self.project, filter).await.unwrap()
    }

    async fn found(&self, text: &str) -> Vec<String> {
        let filter = JobFilter { text: Some(text.to_owned()), ..JobFilter::default() };
        let listed = self.listed(&filter).await;
        assert_eq!(listed.counts.values().sum::<u64>(), listed.jobs.len() as u64, "{text:?}");
        listed.jobs.into_iter().map(|job| job.prompt).collect()
    }

    /// Commits a job and finishes it.
    pub(super) async fn ended(&self, intent: &str, status: &str, pr_link: Option<&str>) -> JobId {
        let message = self.commit(intent, intent).await.unwrap();
        let claimed = self.claim(&message).await.unwrap();
        let end = RemoteJob { pr_link: pr_link.map(str::to_owned), ..remote(&format!("r-{intent}"), status) };
        self.store
            .record_outcome(&work(), &claimed, &DeliveryOutcome::Accepted(&end, NOON), NOON)
            .await
            .unwrap();
        claimed.job
    }

    /// SQLite's query plans of a page and of the counts, line by line.
    async fn plans(&self, filter: &JobFilter) -> Vec<String> {
        let mut lines = Vec::new();
        for statement in [
            positions(self.store.dialect, &self.project, filter, 0, PAGE_JOBS + 1),
            counts(self.store.dialect, &self.project, filter, 0, &JobState::ALL),
        ] {
            let rows = statement.explained().query().fetch_all(&self.store.pool).await.unwrap();
            lines.extend(rows.iter().map(|row| row.try_get::<String, _>("detail").unwrap()));
        }
        lines
    }

    async fn sql(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.store.pool).await.unwrap();
    }
}

fn prompts(listed: &Listed) -> Vec<&str> {
    listed.jobs.iter().map(|job| job.prompt.as_str()).collect()
}

#[tokio::test]
async fn search_matches_whole_words_and_a_prefix_at_the_end() {
    let ledger = Ledger::new().await;
    for (intent, prompt) in [
        ("a", "Raise the coverage to 100%"),
        ("b", "Use snake_case names"),
        ("c", "Über die Éditions françaises"),
        ("d", "Raise the glossary\nof names"),
    ] {
        ledger.commit(intent, prompt).await.unwrap();
    }
    for (text, count) in [
        ("raise", 2),
        ("RAISE the", 2),
        ("the raise", 2),
        ("rai", 2),
        ("rai the", 0),
        ("raise gloss", 1),
        ("100", 1),
        ("100%", 1),
        ("100!", 0),
        ("%", 1),
        ("snake_case", 1),
        ("snake-case", 0),
        ("edition", 1),
        ("FRANCAISES", 1),
        ("uber", 1),
        ("\"raise the glossary\"", 1),
        ("\"the raise\"", 0),
        ("\"glossary of\" names", 1),
        ("e", 1),
        ("", 4),
    ] {
        assert_eq!(ledger.found(text).await.len(), count, "{text:?}");
    }
}

#[tokio::test]
async fn a_part_of_a_text_without_spaces_is_found() {
    let ledger = Ledger::new().await;
    for (intent, prompt) in [
        ("a", "概要ページを更新してください"),
        ("b", "请更新快速入门指南"),
        ("c", "한국어문서를 SDK에 맞게"),
        ("d", "แก้ไขหน้าเริ่มต้น"),
        ("e", "Plain words"),
    ] {
        ledger.commit(intent, prompt).await.unwrap();
    }
    for (text, found) in [
        ("ページを更新", "概要ページを更新してください"),
        ("更新して", "概要ページを更新してください"),
        ("入门", "请更新快速入门指南"),
        ("速", "请更新快速入门指南"),
        ("문서", "한국어문서를 SDK에 맞게"),
        ("문서를 sdk", "한국어문서를 SDK에 맞게"),
        ("sdk에 한국어", "한국어문서를 SDK에 맞게"),
        ("หน้า", "แก้ไขหน้าเริ่มต้น"),
    ] {
        assert_eq!(ledger.found(text).await, [found], "{text}");
    }
    assert_eq!(ledger.found("更新").await.len(), 2);
    assert_eq!(ledger.found("更新 plain").await.len(), 0);
}

/// Searches and the jobs that they find, in every database.
#[tokio::test]
async fn same_searches_find_the_same_jobs_in_every_database() {
    let ledger = Ledger::new().await;
    for (name, prompt) in [
        ("latin", "Überarbeite die Einführung, e-mail: docs@example.com (v2.10)"),
        ("cyrillic", "Обнови Руководство по Ёлкам и йогурту"),
        ("greek", "Ενημέρωσε τον οδηγό ΤΗΣ Αθήνας"),
        ("chinese", "请更新快速入门指南 and the SDK"),
        ("thai", "แก้ไขหน้าเริ่มต้นให้ชัดเจน"),
        ("symbols", "Explain c++ and c# to 50% of the team 🚀🚀"),
        ("code", "Rename `get_user_name` to getUserName in /api/v2/users?id=1&x=y"),
        ("quotes", "Say \"it's ready\" & don't <b>shout</b> AND NOT whisper | or : * ! \\ mumble"),
    ] {
        ledger.commit(name, prompt).await.unwrap();
    }
    let names = ["quotes", "code", "symbols", "thai", "chinese", "greek", "cyrillic", "latin"];
    let prompts: Vec<String> = ledger.found("").await;
    let mut wrong = Vec::new();
    let table: &[(&str, &[&str])] = &[
        ("uberarbeite", &["latin"]),
        ("ÜBERARBEITE einf", &["latin"]),
        ("einfuhrung", &["latin"]),
        ("einführung e-mail", &["latin"]),
        ("docs@example.com", &["latin"]),
        ("example docs", &["latin"]),
        ("\"docs example\"", &["latin"]),
        ("\"example docs\"", &[]),
        ("v2.10", &["latin"]),
        ("v2.1", &["latin"]),
        ("v2 1", &["code", "latin"]),
        ("руководство", &["cyrillic"]),
        ("ОБНОВИ руко", &["cyrillic"]),
        ("ёлкам", &["cyrillic"]),
        ("елкам", &[]),
        ("йогурту", &["cyrillic"]),
        ("иогурту", &[]),
        ("οδηγό της", &["greek"]),
        ("αθήνας", &["greek"]),
        ("ΑΘΉΝΑΣ", &["greek"]),
        ("入门", &["chinese"]),
        ("快速入门", &["chinese"]),
        ("门入", &[]),
        ("快速入门 sdk", &["chinese"]),
        ("sdk", &["chinese"]),
        ("เริ่มต้น", &["thai"]),
        ("แก้ไข ชัดเจน", &["thai"]),
        ("หน้าชัด", &[]),
        ("c++", &["symbols"]),
        ("C++", &["symbols"]),
        ("c#", &["symbols"]),
        ("c", &["symbols", "latin"]),
        ("50%", &["symbols"]),
        ("5%", &[]),
        ("🚀", &["symbols"]),
        ("🚀🚀", &["symbols"]),
        ("🚀🚀🚀", &[]),
        ("🚀 explain", &["symbols"]),
        ("get_user_name", &["code"]),
        ("getuser", &["code"]),
        ("user name", &["code"]),
        ("/api/v2/users", &["code"]),
        ("/api/v2", &["code"]),
        ("?id=1", &["code"]),
        ("it's", &["quotes"]),
        ("its", &[]),
        ("\"it's ready\"", &["quotes"]),
        ("\"ready it's\"", &[]),
        ("don't shout", &["quotes"]),
        ("AND", &["quotes", "symbols", "chinese"]),
        ("NOT whisper", &["quotes"]),
        ("whisper | mumble", &["quotes"]),
        ("whisper & mumble", &["quotes"]),
        ("!whisper", &[]),
        ("mum:*", &[]),
        ("mum*", &[]),
        ("mum", &["quotes"]),
        ("\\", &["quotes"]),
        ("<b>", &["quotes"]),
        ("<c>", &[]),
    ];
    for (search, expected) in table {
        let found = ledger.found(search).await;
        let found: Vec<&str> = found
            .iter()
            .map(|prompt| names[prompts.iter().position(|known| known == prompt).unwrap()])
            .collect();
        if found != *expected {
            wrong.push((*search, found));
        }
    }
    assert_eq!(wrong, []);
}

/// The trigger selects the texts for the index of characters, and `is_unspaced` the words that are searched there.
#[tokio::test]
async fn trigger_and_search_agree_on_scripts_without_spaces() {
    let ledger = Ledger::new().await;
    let characters: Vec<char> = ('\u{1}'..=char::MAX).collect();
    let edges = characters.windows(2).filter(|pair| is_unspaced(pair[0]) != is_unspaced(pair[1]));
    let edges: Vec<char> = edges.flatten().copied().collect();
    assert_eq!(edges.len(), 32, "the ends of eight ranges and their neighbors");
    for edge in edges {
        let text = edge.to_string();
        let code = format!("{:04x}", u32::from(edge));
        ledger.commit(&code, &text).await.unwrap();
        // Some of them are not in the normal form that prompts have.
        sqlx::query("UPDATE messages SET prompt = $1 WHERE intent = $2 AND prompt <> $1")
            .bind(&text)
            .bind(&code)
            .execute(&ledger.store.pool)
            .await
            .unwrap();
        let unspaced: i64 = sqlx::query_scalar(
            "SELECT unspaced FROM listed_jobs l JOIN messages m ON m.job_id = l.job_id WHERE m.prompt = $1",
        )
        .bind(&text)
        .fetch_one(&ledger.store.pool)
        .await
        .unwrap();
        assert_eq!(unspaced == 1, is_unspaced(edge), "U+{code}");
    }
}

#[tokio::test]
async fn search_accepts_any_text() {
    let ledger = Ledger::new().await;
    ledger.commit("a", "Only a job").await.unwrap();
    let mut odd: Vec<String> = [
        "\"",
        "\"\"",
        "\"\"\"",
        "'",
        "*",
        "a*",
        "* *",
        "^a",
        "a^",
        "-a",
        "NOT",
        "NOT a",
        "a AND",
        "OR OR",
        "NEAR(a b, 2)",
        "NEAR",
        "text:a",
        "{text} : a",
        "a + b",
        "(",
        ")",
        "((a)",
        "a\0b",
        "\0",
        "\"a\0",
        "🚀",
        "🚀 a",
        "\u{301}",
        "\u{feff}",
        "\u{202e}job",
        "Ⓐ",
        "!",
        "!%_",
        "\\",
        "; DROP TABLE jobs",
        "$1",
        "?1",
        "a\nb\tc",
        "「",
        "」",
        "ー",
        "﷽",
    ]
    .map(str::to_owned)
    .to_vec();
    for unit in ["x", "x ", "\"", "(", "概", "概 ", "🚀", "\0", "a\" \""] {
        // Eight times the longest search that a page sends.
        odd.push(unit.repeat(4_096 / unit.chars().count()));
    }
    for text in odd {
        let filter = JobFilter { text: Some(text.clone()), ..JobFilter::default() };
        let listed = ledger.store.jobs(&permit().await, &ledger.project, &filter).await;
        assert!(listed.is_ok(), "{:?}: {listed:?}", text.chars().take(20).collect::<String>());
    }
}

#[tokio::test]
async fn setting_texts_of_a_listed_job_indexes_its_messages_again() {
    let ledger = Ledger::new().await;
    ledger.commit("a", "Kept since the first version").await.unwrap();
    ledger.sql("DELETE FROM job_words").await;
    assert_eq!(ledger.found("kept").await.len(), 0);
    ledger.sql("UPDATE listed_jobs SET texts = 1, state = state").await;
    assert_eq!(ledger.found("kept").await.len(), 1);
}

#[tokio::test]
async fn search_index_follows_changes_of_texts() {
    let ledger = Ledger::new().await;
    ledger.commit("a", "First words").await.unwrap();
    ledger.sql("UPDATE messages SET prompt = 'Second thoughts 概要説明'").await;
    assert_eq!((ledger.found("first").await.len(), ledger.found("thoughts").await.len()), (0, 1));
    assert_eq!(ledger.found("要説明").await.len(), 1);
    ledger.sql("DELETE FROM job_events").await;
    ledger.sql("DELETE FROM job_paths").await;
    ledger.sql("DELETE FROM messages").await;
    ledger.sql("DELETE FROM jobs").await;
    assert_eq!(ledger.found("thoughts").await.len(), 0);
    for left in [
        "job_words",
        "job_characters",
        "follow_up_words",
        "follow_up_characters",
        "listed_jobs",
        "listed_labels",
    ] {
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT COUNT(*) FROM {left}")))
            .fetch_one(&ledger.store.pool)
            .await
            .unwrap();
        assert_eq!(count, 0, "{left}");
    }
}

#[tokio::test]
async fn job_needs_attention_until_it_is_archived() {
    let ledger = Ledger::new().await;
    for (intent, status, pr_link) in [
        ("ready", "completed", Some("https://git.example/1")),
        ("no-changes", "completed", None),
        ("failed", "failed", None),
        ("running", "active", None),
        ("paused", "paused", None),
        ("lost", "not found", None),
        ("endless", "no end", None),
    ] {
        ledger.ended(intent, status, pr_link).await;
    }
    let needing = JobFilter { needs_attention: true, archived: Some(false), ..JobFilter::default() };
    let listed = ledger.listed(&needing).await;
    assert_eq!(prompts(&listed), ["endless", "lost", "failed", "no-changes"]);
    assert_eq!(listed.attention, 4);
    let ids: Vec<_> = listed.jobs.iter().map(|job| job.id.clone()).collect();
    ledger
        .store
        .mark(Authority::Test(&ledger.author, NOON), TimelineMark::Archived, &ledger.project, &ids[..2])
        .await
        .unwrap();
    assert_eq!(prompts(&ledger.listed(&needing).await), ["failed", "no-changes"]);
    let all = JobFilter { archived: Some(true), ..JobFilter::default() };
    assert_eq!(ledger.listed(&all).await.attention, 0);
}

#[tokio::test]
async fn paging_lists_each_job_once_while_others_arrive() {
    for sort in [Sort::Newest, Sort::Oldest, Sort::Changed] {
        let ledger = Ledger::new().await;
        for n in 0..160 {
            ledger.commit(&format!("i-{n}"), &format!("job {n}")).await.unwrap();
        }
        // Several jobs changed at the same time.
        ledger
            .sql(
                "UPDATE jobs SET changed_at = changed_at +
                     1000 * (SELECT l.number % 7 FROM listed_jobs l WHERE l.job_id = jobs.id)",
            )
            .await;
        let mut filter = JobFilter { sort, ..JobFilter::default() };
        let (mut forward, mut cursors) = (Vec::new(), Vec::new());
        for late in 0.. {
            let listed = ledger.listed(&filter).await;
            assert_eq!(listed.counts.get(&JobState::Queued), Some(&160), "{sort:?}");
            assert_eq!(listed.before, forward.len() as u64, "{sort:?}");
            forward.extend(listed.jobs.iter().map(|job| job.prompt.clone()));
            ledger.commit(&format!("late-{late}"), "too late").await.unwrap();
            let Some(next) = listed.next else { break };
            cursors.push(listed.previous);
            filter.page_start = PageStart::At(next);
        }
        let mut sorted = forward.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!((forward.len(), sorted.len()), (160, 160), "{sort:?}");
        assert!(!sorted.contains(&"too late".to_owned()));

        // Going back visits the same pages.
        let mut backward = ledger.listed(&filter).await;
        let mut pages = vec![prompts(&backward).join("|")];
        while let Some(previous) = backward.previous {
            filter.page_start = PageStart::At(previous);
            backward = ledger.listed(&filter).await;
            pages.insert(0, prompts(&backward).join("|"));
        }
        assert_eq!((pages.join("|"), backward.before), (forward.join("|"), 0), "{sort:?}");
    }
}

#[tokio::test]
async fn indexes_serve_order_and_counts_for_every_filter() {
    let ledger = Ledger::in_file().await;
    for sort in [Sort::Newest, Sort::Oldest, Sort::Changed] {
        for filter in [
            JobFilter::default(),
            JobFilter { state: Some(JobState::Active), ..JobFilter::default() },
            JobFilter { author: Some("ada".to_owned()), ..JobFilter::default() },
            JobFilter { has_pull_request: Some(true), ..JobFilter::default() },
            JobFilter { needs_attention: true, ..JobFilter::default() },
        ] {
            let filter = JobFilter { sort, archived: Some(false), ..filter };
            let ordered = match (sort, filter.needs_attention) {
                (Sort::Changed, _) => "listed_by_change",
                // Among the few jobs that need attention.
                (_, true) => "listed_needing",
                (_, false) => "listed_in_order",
            };
            let plans = ledger.plans(&filter).await;
            let of_jobs: Vec<_> =
                plans.iter().filter(|plan| !plan.contains("SUBQUERY") && !plan.contains("users")).collect();
            let [positions, counts] = of_jobs[..] else { panic!("{filter:?}: {plans:?}") };
            assert!(positions.contains(ordered), "{filter:?}: {positions}");
            let counted = if filter.needs_attention { "listed_needing" } else { "listed_by_state" };
            let counted = format!("COVERING INDEX {counted} (project=? AND archived=?)");
            assert!(counts.contains(&counted), "{filter:?}: {counts}");
        }
    }
}

#[tokio::test]
async fn order_by_change_scans_its_index_and_checks_sets() {
    let ledger = Ledger::in_file().await;
    for (text, label) in [
        (Some("guide"), None),
        (Some("guide 概要説明"), None),
        (None, Some("sdk")),
        (Some("guide"), Some("sdk")),
    ] {
        let filter = JobFilter {
            sort: Sort::Changed,
            text: text.map(str::to_owned),
            label: label.map(str::to_owned),
            archived: Some(false),
            ..JobFilter::default()
        };
        let plans = ledger.plans(&filter).await;
        assert!(plans[0].contains("listed_by_change (project=? AND archived=?)"), "{filter:?}: {plans:?}");
        assert!(!plans.iter().any(|plan| plan.contains("FOR ORDER BY")), "{filter:?}: {plans:?}");
    }
}

#[tokio::test]
async fn set_of_numbers_is_scanned_before_jobs_are_looked_up() {
    let ledger = Ledger::in_file().await;
    let (words, both, characters) = (Some("guide"), Some("guide 概要説明"), Some("概要説明"));
    for (text, label) in [
        (words, None),
        (both, None),
        (characters, None),
        (None, Some("sdk")),
        (words, Some("sdk")),
        (characters, Some("sdk")),
    ] {
        let filter = JobFilter {
            text: text.map(str::to_owned),
            label: label.map(str::to_owned),
            state: Some(JobState::Active),
            archived: Some(false),
            ..JobFilter::default()
        };
        let plans = ledger.plans(&filter).await;
        let by_number = plans.iter().filter(|plan| *plan == "SEARCH l USING INTEGER PRIMARY KEY (rowid=?)");
        // The words of prompts, those of follow-ups, and names.
        let parts = if text.is_some() { 3 } else { 1 };
        assert_eq!(by_number.count(), 2 * parts, "{filter:?}: {plans:?}");
        // Sorts the newest jobs of all parts, and those found by follow-ups or names.
        let sorted = plans.iter().filter(|plan| plan.contains("FOR ORDER BY")).count();
        assert!(sorted <= 3 * (parts - 1), "{filter:?}: {plans:?}");
        for plan in &plans {
            // A set that is looked up by number would be searched once per number.
            let is_result = ["SCAN part", "SCAN s", "SCAN l", "SCAN named"].contains(&plan.as_str());
            // There are few accounts, and an index found the numbers of the jobs with a name.
            let is_small = ["SCAN u", "SCAN t"].contains(&plan.as_str());
            let scan = plan.starts_with("SCAN") && !plan.contains("VIRTUAL TABLE") && !is_result && !is_small;
            let looked_up = plan.contains("VIRTUAL TABLE INDEX") && plan.contains('=');
            assert!(!scan && !looked_up, "{filter:?}: {plan}");
        }
    }
}

#[tokio::test]
async fn overview_sections_equal_the_filtered_lists() {
    let ledger = Ledger::new().await;
    let long = "x".repeat(400);
    ledger.ended("a", "completed", Some("https://git.example/1")).await;
    ledger.ended("b", "failed", None).await;
    ledger.ended("c", "completed", Some("https://git.example/3")).await;
    ledger.commit("d", &long).await.unwrap();
    let list = |state| JobFilter { state, ..JobFilter::default() };
    let (completed, all) = (list(Some(JobState::Completed)), list(None));
    let attention = JobFilter { needs_attention: true, ..JobFilter::default() };

    let sections = [(&completed, 1), (&attention, 8), (&all, 8)];
    let Sections { jobs: found, counts, attention: needing, no_changes, revision } =
        ledger.store.sections(&permit().await, &ledger.project, sections).await.unwrap();
    let reader = Reader { user_id: String::new(), everyone: true };
    let (now, _) = ledger.store.revision(&ledger.project, &reader, NOON).await.unwrap();
    assert_eq!((no_changes, revision), (0, now));
    let everything = ledger.listed(&all).await;
    assert_eq!(found[0], ledger.listed(&completed).await.jobs[..1]);
    assert_eq!(found[1], ledger.listed(&attention).await.jobs);
    assert_eq!(found[2], everything.jobs);
    assert_eq!((counts, needing), (everything.counts, everything.attention));
    let excerpt = &found[2][0].prompt;
    assert_eq!(excerpt.trim_end_matches('…').chars().count(), model::job::EXCERPT_CHARS);
    assert!(excerpt.ends_with('…'), "{excerpt}");
}

/// A job of the platform with every kind of name.
fn named_remote(id: &str, branch: &str, pr_link: Option<&str>) -> RemoteJob {
    let pr_link = pr_link.map(str::to_owned);
    RemoteJob { git_ref: Some(branch.to_owned()), pr_link, ..remote(id, "completed") }
}

#[tokio::test]
async fn search_finds_a_job_by_each_of_its_names() {
    let ledger = Ledger::new().await;
    let mut tx = ledger.store.write(&work()).begin().await.unwrap().tx;
    users::insert(&mut tx, "Jane Doe", Role::Operator, &GivenProjects::All, "hash", NOON).await.unwrap();
    tx.commit().await.unwrap();
    let jane = ledger.store.user_by_name("Jane Doe").await.unwrap().unwrap().actor("192.0.2.7");
    let jobs = [
        (
            "first clock",
            named_remote(
                "job_3fA2b91c",
                "docket/agent-3fa2b9",
                Some("https://git.example/acme/docs/pull/256"),
            ),
        ),
        (
            "second clock",
            named_remote("job_77", "Fix/Links", Some("https://git.example/acme/docs/-/merge_requests/25/")),
        ),
        ("third 256", named_remote("job_78", "main", Some("https://git.example/x/2256"))),
        ("fourth", named_remote("job_79", "main", None)),
    ];
    let mut ids = Vec::new();
    for (prompt, end) in jobs {
        let author = if prompt == "fourth" { &jane } else { &ledger.author };
        let new = ledger.new_job(&prompt.replace(' ', "-"), prompt);
        let (by, scheduling) = (Authority::Test(author, NOON), Scheduling::Immediate);
        let message = ledger.store.insert_intent(by, author, &new, scheduling, u32::MAX).await;
        let message = message.unwrap().unwrap();
        let claimed = ledger.claim(&message).await.unwrap();
        ledger
            .store
            .record_outcome(&work(), &claimed, &DeliveryOutcome::Accepted(&end, NOON), NOON)
            .await
            .unwrap();
        ids.push(claimed.job);
    }
    ledger
        .store
        .tag(
            Authority::Test(&ledger.author, NOON),
            &ledger.project,
            &ids[1..2],
            &"Release 1.2".parse().unwrap(),
        )
        .await
        .unwrap();
    let mut wrong = Vec::new();
    let table: &[(&str, &[&str])] = &[
        ("#256", &["first clock"]),
        ("256", &["third 256", "first clock"]),
        ("25", &["third 256", "second clock"]),
        ("#25", &["second clock"]),
        ("#2", &[]),
        ("2256", &["third 256"]),
        ("job_3fA2b91c", &["first clock"]),
        ("job_3fA2", &["first clock"]),
        ("job_3fA", &[]),
        ("docket/agent-3fa2b9", &["first clock"]),
        ("DOCKET/agent-3f", &["first clock"]),
        ("docket/", &[]),
        ("fix/links", &["second clock"]),
        ("main", &["fourth", "third 256"]),
        ("mai", &[]),
        ("ada", &["third 256", "second clock", "first clock"]),
        ("ADA", &["third 256", "second clock", "first clock"]),
        ("ad", &[]),
        ("jane doe", &["fourth"]),
        ("\"Jane Doe\"", &["fourth"]),
        ("jane d", &["fourth"]),
        ("doe", &[]),
        ("release 1.2", &["second clock"]),
        ("rel", &["second clock"]),
        // Each word is in a text or a name.
        ("ada clock", &["second clock", "first clock"]),
        ("clock ada", &["second clock", "first clock"]),
        ("clock #256", &["first clock"]),
        ("#256 fix/links", &[]),
        ("main fourth", &["fourth"]),
        ("jane clock", &[]),
        ("ada 概要", &[]),
    ];
    for (text, expected) in table {
        let found = ledger.found(text).await;
        if found != *expected {
            wrong.push((*text, found));
        }
    }
    assert_eq!(wrong, []);
    for (name, expected) in [("256", 1), ("25", 1), ("third", 0), ("ada", 3), ("main", 2), ("job_3fA2", 0)] {
        let filter = JobFilter { named: Some(name.to_owned()), ..JobFilter::default() };
        assert_eq!(ledger.listed(&filter).await.jobs.len(), expected, "{name}");
    }
    let other = "other".parse().unwrap();
    let filter = JobFilter { text: Some("#256".to_owned()), ..JobFilter::default() };
    assert_eq!(ledger.store.jobs(&permit().await, &other, &filter).await.unwrap().jobs, []);
}

#[tokio::test]
async fn names_of_jobs_are_found_by_indexes() {
    let ledger = Ledger::in_file().await;
    for text in ["#256", "docket/agent-3fa2", "\"Jane Doe\"", "clock ada"] {
        let filter = JobFilter { text: Some(text.to_owned()), archived: Some(false), ..JobFilter::default() };
        let plans = ledger.plans(&filter).await;
        for index in [
            "jobs_by_branch (project=? AND <expr>",
            "listed_by_author (project=? AND author_id=?",
            "jobs_by_remote_id (project=? AND remote_id",
        ] {
            assert!(plans.iter().any(|plan| plan.contains(index)), "{text}: {index}: {plans:?}");
        }
    }
    let filter = JobFilter { text: Some("#256".to_owned()), ..JobFilter::default() };
    let plans = ledger.plans(&filter).await;
    assert!(
        plans.iter().any(|plan| plan.contains("jobs_by_pull_request (project=? AND <expr>=?)")),
        "{plans:?}"
    );
}

#[tokio::test]
async fn completed_jobs_without_changes_are_a_status_of_their_own() {
    let ledger = Ledger::new().await;
    ledger.ended("changed", "completed", Some("https://git.example/1")).await;
    ledger.ended("unchanged", "completed", None).await;
    ledger.ended("failed", "failed", None).await;
    let filter = JobFilter { state: Some(JobState::Completed), no_changes: true, ..JobFilter::default() };
    let listed = ledger.listed(&filter).await;
    assert_eq!((prompts(&listed), listed.no_changes), (vec!["unchanged"], 1));
    // The counts ignore the status.
    assert_eq!(listed.counts, BTreeMap::from([(JobState::Completed, 2), (JobState::Failed, 1)]));
    let found = JobFilter { text: Some("unchanged".to_owned()), ..filter };
    assert_eq!(prompts(&ledger.listed(&found).await), ["unchanged"]);
    let none = JobFilter { text: Some("failed".to_owned()), ..found };
    let listed = ledger.listed(&none).await;
    assert_eq!((prompts(&listed), listed.no_changes), (vec![], 0));
}
