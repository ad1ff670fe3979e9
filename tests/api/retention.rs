//! Retention: expired data is removed with everything that belongs to it, and nothing else is. `docket purge` gives the same counts
//! before and after.

mod failing;

use std::collections::BTreeMap;
use std::time::Duration;

use base::clock::Clock;
use base::config::RetentionConfig;
use model::time::Timestamp;
use serde_json::Value;
use store::maintenance::retention::Slice;
use wiremock::ResponseTemplate;

use crate::helpers::work::work;
use crate::helpers::{
    Archive, Browser, Installation, New, Settings, TestApp, day, days, detached_job, intent, job_with, json,
    remote_job, rows, until, views_answer,
};
use crate::list::list;

const NOON: &str = "2026-11-21T12:00:00Z";

pub(crate) fn with_retention(jobs_days: u32, history_days: u32) -> Settings {
    let clock = Clock::frozen(NOON.parse::<Timestamp>().unwrap());
    let retention = RetentionConfig { jobs_days, history_days };
    Settings { clock, retention, ..Settings::default() }
}

/// Removes all data whose retention has ended; returns the number of removed rows by table.
pub(crate) async fn remove(app: &TestApp) -> BTreeMap<String, u64> {
    app.ledger().trust_clock().await;
    let retention = &app.state().retention;
    let due = retention.due().await.unwrap();
    let removed = retention.remove().await.unwrap();
    assert_eq!(due, removed, "the dry run differs");
    app.ledger().is_sound().await;
    assert!(retention.due().await.unwrap().is_empty());
    removed
}

fn id(job: &Value) -> &str {
    job["id"].as_str().unwrap()
}

/// A job with a follow-up, pages, tags, a template and a delivered webhook event.
async fn job_with_everything(app: &TestApp, person: &Browser) -> Value {
    let remote = detached_job();
    let accepted = || ResponseTemplate::new(201).set_body_json(remote_job(&remote, "active"));
    let done = job_with(&remote, "completed", "prLink", json!("https://git.example/pull/7"));
    app.upstream.reset().await;
    app.upstream.on_create(accepted()).await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(done)).await;
    let template = New::template(&intent(), "Rewrite {{page}}").id(person).await;
    let job = New::job("Rewrite /guides/start").with("paths", "/guides/start, /faq");
    let job = job.with("template_id", &template).made(person).await;
    assert_eq!(person.follow_up(&job, "And the glossary", &intent()).await.status, 200);
    person.post_json("/api/jobs/tag", &[("project", "docs"), ("jobs", id(&job)), ("tag", "sdk")]).await;
    let job = person.job(&job).await;
    assert_eq!(job["state"], "completed", "{job}");
    // As after its next poll.
    app.ledger().run("UPDATE jobs SET next_poll_at = NULL").await;
    job
}

#[tokio::test]
async fn job_with_an_open_pull_request_is_not_removed() {
    let app = TestApp::with(with_retention(30, 0)).await;
    let operator = app.operator().await;
    job_with_everything(&app, &operator).await;
    app.clock().advance(Duration::from_secs(31 * 86_400));
    for state in ["open", "draft"] {
        app.ledger()
            .execute(format!(
                "DELETE FROM pull_requests;
                 INSERT INTO pull_requests (job_id, project, number, url, state, waiting_for, checked_at)
                 SELECT l.job_id, l.project, l.number, 'https://git.example/pull/1', '{state}', 'reviewer', {} FROM listed_jobs l",
                app.clock().now().plus_seconds(-86_400).as_millis()
            ))
            .await;
        assert_eq!(remove(&app).await.get("jobs"), None, "{state}");
    }
    // Its repository was deleted, for example.
    app.clock().advance(Duration::from_secs(31 * 86_400));
    assert_eq!(remove(&app).await.get("jobs"), Some(&1));
}

#[tokio::test]
async fn expired_job_is_removed_with_all_its_rows_only() {
    let app = TestApp::with(with_retention(30, 0)).await;
    let operator = app.operator().await;
    let old = job_with_everything(&app, &operator).await;
    app.clock().advance(Duration::from_secs(20 * 86_400));
    let operator = app.operator().await;
    let young = job_with_everything(&app, &operator).await;
    assert!(remove(&app).await.is_empty(), "nothing is 30 days old");
    app.clock().advance(Duration::from_secs(11 * 86_400));
    let operator = app.operator().await;
    let before = operator.job(&young).await;

    let removed = remove(&app).await;
    for (table, expected) in [("jobs", 1), ("messages", 2), ("job_tags", 1), ("job_templates", 1)] {
        assert_eq!(removed.get(table), Some(&expected), "{table}: {removed:?}");
    }
    assert!(removed["job_paths"] >= 2 && removed["job_events"] >= 4, "{removed:?}");
    let get = [("project", "docs"), ("job", id(&old))];
    operator.post("/api/jobs/get", &get).await.refused(404, "not_found");
    assert_eq!(operator.get(&format!("/p/docs/jobs/{}", id(&old))).await.status, 404);
    assert_eq!(operator.job(&young).await, before);
    let filters: [&[(&str, &str)]; 4] = [&[], &[("q", "rewrite")], &[("tag", "sdk")], &[("tag", "/faq")]];
    for filter in filters {
        let found = list(&operator, filter).await;
        let ids: Vec<_> = found["jobs"].as_array().unwrap().iter().map(id).collect();
        assert_eq!((ids, &found["total"]), (vec![id(&young)], &json!(1)), "{filter:?}");
    }
    let (ledger, one) = (app.ledger(), 1);
    for rest in [
        "SELECT COUNT(*) FROM listed_jobs",
        "SELECT COUNT(*) FROM job_words",
        "SELECT SUM(jobs) FROM job_counts",
    ] {
        assert_eq!(ledger.count(rest).await, one, "{rest}");
    }
    let labels = ledger.count("SELECT COUNT(*) FROM listed_labels").await;
    let own = ledger.count("SELECT (SELECT COUNT(*) FROM job_paths) + (SELECT COUNT(*) FROM job_tags)").await;
    assert_eq!(labels, own);
    // The template statistics count only the remaining jobs. The audit log still has the start, and records the removal.
    let templates = operator.post_json("/api/templates/list", &[("project", "docs")]).await;
    let runs: u64 =
        templates.as_array().unwrap().iter().map(|it| it["score"]["runs"].as_u64().unwrap()).sum();
    assert_eq!(runs, 1);
    let started = "SELECT COUNT(*) FROM audit WHERE action = 'job_start'";
    assert_eq!(ledger.count(started).await, 2);
    let recorded =
        "SELECT COUNT(*) FROM audit WHERE action = 'data_remove' AND detail LIKE '%jobs 1, messages 2%'";
    assert_eq!(ledger.count(recorded).await, 1);
    assert_eq!(app.state().store.verify_audit().await.unwrap().fault, None);
}

#[tokio::test]
async fn unfinished_jobs_and_those_needing_attention_are_not_removed() {
    let app = TestApp::with(with_retention(30, 0)).await;
    let mut archive = Archive::of(&app).await;
    let then = "2026-09-01T12:00:00Z";
    let mut jobs = BTreeMap::new();
    for state in ["completed", "archived", "failed", "rejected", "unknown", "cancelled", "active", "queued"] {
        jobs.insert(state, archive.job("docs", state, &["/a"], state, then).await);
    }
    drop(archive);
    // One has a pull request, one a draft of a follow-up, one a waiting event, and one a follow-up.
    let file = app.ledger();
    file.run("UPDATE jobs SET pr_link = 'https://git.example/7', changed_at = 1 WHERE state IN ('completed', 'archived')").await;
    let mut archive = Archive::of(&app).await;
    let drafted = archive.job("docs", "drafted", &[], "cancelled", then).await;
    archive.job("docs", "reported", &[], "cancelled", then).await;
    archive.job("docs", "queued again", &[], "cancelled", then).await;
    drop(archive);
    file.run("UPDATE listed_jobs SET attention = 1 WHERE state IN ('failed', 'rejected', 'unknown')").await;
    file.run(
        "INSERT INTO drafts (user_id, project, subject, text, updated_at)
         SELECT author_id, 'docs', job_id, 'More', 1795000000000 FROM messages WHERE prompt = 'drafted';
         INSERT INTO webhooks (id, project, kind, url, secret, created_at) VALUES ('w', 'docs', 'json', 'https://a', '', 0);
         INSERT INTO webhook_deliveries (id, webhook_id, event, at, job_id, title, author, job_state, outcome, attempts, next_try_at)
         SELECT 'e', 'w', 'job.failed', 0, job_id, '', 'olga', 'failed', 'waiting', 0, 1795266000000 FROM messages WHERE prompt = 'reported';
         INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
         SELECT 'm', job_id, 1, author_id, 'm', 'more', 'queued', 0, 1795266000000 FROM messages WHERE prompt = 'queued again'",
    )
    .await;
    let left = async || {
        let all = "SELECT m.prompt FROM messages m WHERE position = 0 ORDER BY prompt";
        let mut connection = app.ledger().connection().await;
        sqlx::query_scalar::<_, String>(all).fetch_all(&mut connection).await.unwrap().join(",")
    };
    assert_eq!(remove(&app).await["jobs"], 3);
    let expected = "active,drafted,failed,queued,queued again,rejected,reported,unknown";
    assert_eq!(left().await, expected);

    // Jobs that needed attention are removed once that is dismissed or archived, even with an unknown delivery.
    let operator = app.operator().await;
    for (verb, state) in [("dismiss", "failed"), ("dismiss", "rejected"), ("archive", "unknown")] {
        let pairs = [("project", "docs"), ("jobs", jobs[state].as_str())];
        operator.post_json(&format!("/api/jobs/{verb}"), &pairs).await;
    }
    file.run("UPDATE jobs SET changed_at = 1 WHERE state IN ('failed', 'rejected', 'unknown')").await;
    file.run("DELETE FROM drafts; UPDATE webhook_deliveries SET next_try_at = NULL").await;
    let removed = remove(&app).await;
    assert_eq!((removed["jobs"], removed["webhook_deliveries"]), (5, 1), "{removed:?}");
    assert_eq!(left().await, "active,queued,queued again");
    let get = [("project", "docs"), ("job", drafted.as_str())];
    operator.post("/api/jobs/get", &get).await.refused(404, "not_found");
}

#[tokio::test]
async fn resubmitted_form_of_a_removed_job_starts_nothing() {
    let app = TestApp::with(with_retention(30, 0)).await;
    app.upstream.accepts_jobs().await;
    let sent = intent();
    let job = app.operator().await.create("Fix typos", &sent).await.json();
    app.ledger().run("UPDATE jobs SET state = 'cancelled', next_poll_at = NULL").await;
    app.clock().advance(Duration::from_secs(31 * 86_400));
    assert_eq!(remove(&app).await["jobs"], 1);
    let operator = app.operator().await;
    for prompt in ["Fix typos", "Something else"] {
        let message = operator.create(prompt, &sent).await.refused(422, "intent_reused");
        assert!(message.contains("sent long ago"), "{message}");
        // The text is not lost.
        assert_eq!(operator.draft(None).await, prompt);
    }
    assert_eq!(app.upstream.posts().await.len(), 1);
    assert_eq!(operator.create("Fix typos", &intent()).await.status, 200);
    assert_ne!(list(&operator, &[]).await["jobs"][0]["id"], job["id"]);
}

#[tokio::test]
async fn batch_is_removed_with_its_last_job() {
    let app = TestApp::with(with_retention(30, 0)).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let batch = New::batch("Do {{a}}", "1\n2").id(&operator).await;
    let batch = [("project", "docs"), ("batch", batch.as_str())];
    operator.post_json("/api/batches/start", &batch).await;
    let file = app.ledger();
    until("all are sent", async || (file.without_outcome().await == 0).then_some(())).await;
    // One is finished, the other one needs attention.
    file.run(
        "UPDATE jobs SET next_poll_at = NULL, state = CASE id WHEN (SELECT MIN(id) FROM jobs) THEN 'cancelled' ELSE 'failed' END;
         UPDATE listed_jobs SET attention = 1 WHERE state = 'failed'",
    )
    .await;
    app.clock().advance(Duration::from_secs(40 * 86_400));
    let removed = remove(&app).await;
    assert_eq!((removed["jobs"], removed.get("batches")), (1, None));
    let operator = app.operator().await;
    assert!(operator.post_json("/api/batches/get", &batch).await["started_at"].is_string());
    file.run("UPDATE jobs SET state = 'cancelled', changed_at = 1; UPDATE listed_jobs SET attention = 0")
        .await;
    let removed = remove(&app).await;
    assert_eq!((removed["jobs"], removed["batches"]), (1, 1));
    operator.post("/api/batches/get", &batch).await.refused(404, "not_found");
}

#[tokio::test]
async fn unused_drafts_and_invites_are_removed_after_90_days() {
    let app = TestApp::with(with_retention(0, 0)).await;
    let (admin, operator) = (app.sign_in("ada").await, app.operator().await);
    let draft = [("project", "docs"), ("text", "Half a thought")];
    operator.post_json("/api/jobs/draft", &draft).await;
    for name in ["ina", "ivan"] {
        admin.invite(name, "viewer", "").await;
    }
    // One user came by single sign-on before the link was used.
    app.ledger()
        .run("INSERT INTO identities (issuer, subject, user_id) SELECT 'i', 's', id FROM users WHERE name = 'ivan'")
        .await;
    app.clock().advance(Duration::from_secs(90 * 86_400));
    assert!(remove(&app).await.is_empty());
    assert_eq!(app.operator().await.draft(None).await, "Half a thought");
    // The links expire after two days.
    for (seconds, expected) in
        [(1, &[("drafts", 1)][..]), (2 * 86_400 - 1, &[][..]), (1, &[("invitations", 2), ("users", 1)][..])]
    {
        app.clock().advance(Duration::from_secs(seconds));
        let expected = expected.iter().map(|(table, rows)| ((*table).to_owned(), *rows));
        assert_eq!(remove(&app).await, expected.collect::<BTreeMap<String, u64>>());
    }
    let users = app.state().store.users().await.unwrap();
    let mut names: Vec<_> = users.iter().map(|user| user.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["ada", "ivan", "olga", "otto", "vera"]);
    let withdrawn =
        "SELECT COUNT(*) FROM audit WHERE action = 'user_withdraw' AND subject = 'ina' AND actor = 'Docket'";
    assert_eq!(app.ledger().count(withdrawn).await, 1);
}

#[tokio::test]
async fn expired_days_are_removed_and_not_fetched_again() {
    let mut settings = with_retention(0, 10);
    settings.budget.history_days = 10;
    let app = TestApp::with(settings).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let mut archive = Archive::of(&app).await;
    for (n, day) in days("2026-11-01", "2026-11-21").into_iter().enumerate() {
        let rows = if n < 5 { rows(&[("/a", 1, 2), ("/old", 3, 4)]) } else { rows(&[("/a", 1, 2)]) };
        archive.write(day, rows).await;
    }
    drop(archive);
    let file = app.ledger();
    file.run("UPDATE page_paths SET seen_on = CASE path WHEN '/old' THEN '2026-11-05' ELSE '2026-11-21' END")
        .await;
    file.run("UPDATE history_days SET final_at = 1").await;
    let operator = app.operator().await;
    for day in ["2026-11-03", "2026-11-20"] {
        New::note(day, "Note").made(&operator).await;
    }
    let pairs = [("project", "docs"), ("from", "2026-11-12"), ("to", "2026-11-21")];
    let before = operator.post_json("/api/analytics/pages", &pairs).await;

    let removed = remove(&app).await;
    let expected = [
        ("annotations", 1),
        ("page_views", 16),
        ("day_rollups", 11),
        ("history_days", 11),
        ("page_paths", 1),
    ];
    assert_eq!(removed, BTreeMap::from(expected.map(|(table, rows)| (table.to_owned(), rows))));
    let after = operator.post_json("/api/analytics/pages", &pairs).await;
    // There is no previous period left to compare with.
    assert!(before["comparison"].is_object() && after["comparison"].is_null());
    // The other page was viewed only in that period.
    for (report, number) in [(&before, 2), (&after, 1)] {
        let rows = report["rows"].as_array().unwrap();
        assert_eq!((rows.len(), &rows[0]["total"]), (number, &json!(30)));
    }
    let calls = app.upstream.requests().await.len();
    let missing = operator
        .post_json(
            "/api/history/missing",
            &[("project", "docs"), ("from", "2026-11-01"), ("to", "2026-11-21")],
        )
        .await;
    assert_eq!(missing["days"], 0, "{missing}");
    let wanted = [("project", "docs"), ("from", "2026-11-01"), ("to", "2026-11-11")];
    operator.post_json("/api/history/fetch", &wanted).await;
    file.run("INSERT INTO requested_days (project, day, requested_at) VALUES ('docs', '2026-11-04', 0)")
        .await;
    while !matches!(app.state().history.step().await.unwrap(), service::history::Step::Wait(_)) {}
    let fetched = app.upstream.requests().await.split_off(calls);
    assert!(!fetched.is_empty());
    for request in fetched {
        let (_, day) = request.url.query_pairs().find(|(name, _)| name == "dateFrom").unwrap();
        assert!(*day >= *"2026-11-12", "{day} is not stored");
    }
    assert_eq!(remove(&app).await, BTreeMap::from([("requested_days".to_owned(), 1)]));
}

#[tokio::test]
async fn interrupted_removal_of_a_day_is_completed_and_recorded() {
    let app = TestApp::with(with_retention(0, 100)).await;
    let mut archive = Archive::of(&app).await;
    let many: Vec<(String, u64, u64)> = (0..1_200).map(|n| (format!("/p{n}"), 1, 1)).collect();
    let many: Vec<_> = many.iter().map(|(path, human, ai)| (path.as_str(), *human, *ai)).collect();
    for written in ["2026-01-01", "2026-01-02"] {
        archive.write(day(written), rows(&many)).await;
    }
    drop(archive);
    let (store, first) = (&app.state().store, day("2026-08-14"));
    assert_eq!(store.remove_days(&work(), first, Slice::default()).await.unwrap(), 2);
    // No step removes more rows than this, so that none locks the database for long.
    assert_eq!(store.remove_views(&work(), "docs", first, Slice::default()).await.unwrap(), 500);
    // The process ended here. The record of the next run includes the removed rows.
    let removed = app.state().retention.remove().await.unwrap();
    assert_eq!((removed["history_days"], removed["page_views"]), (2, 2_400), "{removed:?}");
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM page_views").await, 0);
    app.ledger().is_sound().await;
}

#[tokio::test]
async fn purge_command_lists_rows_before_removing_them() {
    let installation = Installation::configured("http://127.0.0.1:9");
    let new = installation
        .run_with_input(&["user", "add", "olga", "--role", "operator"], "a few unrelated words\n");
    assert_eq!(new.code, Some(0), "{new:?}");
    let file = installation.ledger();
    file.run(
        "INSERT INTO jobs (id, project, state, created_at, changed_at) VALUES ('j', 'docs', 'cancelled', 1, 1);
         INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
         SELECT 'm', 'j', 0, id, 'i', 'Old', 'cancelled', 1, 1 FROM users",
    )
    .await;
    let nothing = installation.run(&["purge", "--dry-run"]);
    assert_eq!((nothing.code, nothing.stdout.trim()), (Some(0), "Nothing would be removed."), "{nothing:?}");
    let installation = installation.set("DOCKET_JOBS_DAYS", "30");
    let dry = installation.run(&["purge", "--dry-run"]);
    let lines: Vec<_> = dry.stdout.lines().map(str::trim).collect();
    assert_eq!(lines, ["1  jobs", "1  messages", "2  rows would be removed"], "{dry:?}");
    assert_eq!(file.count("SELECT COUNT(*) FROM jobs").await, 1);
    let done = installation.run(&["purge"]);
    assert_eq!(done.stdout, dry.stdout.replace("would be removed", "removed"), "{done:?}");
    assert_eq!(file.count("SELECT COUNT(*) FROM jobs").await, 0);
    let recorded = "SELECT COUNT(*) FROM audit WHERE action = 'data_remove' AND actor = 'command line'";
    assert_eq!(file.count(recorded).await, 1);
    assert_eq!(installation.run(&["purge"]).stdout.trim(), "Nothing removed.");
    assert_eq!(installation.run(&["audit", "verify"]).code, Some(0));

    let installation = installation.set("DOCKET_HISTORY_KEEP_DAYS", "89");
    let wrong = installation.run(&["purge"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("DOCKET_HISTORY_KEEP_DAYS (89) is less than"), "{wrong:?}");
}
