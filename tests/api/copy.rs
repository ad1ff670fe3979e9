//! `docket copy` between a file and a server, whatever database the other tests use.

mod contents;
mod refusals;

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use self::contents::{FILLING, assert_contents, contents};
use crate::analytics_pages::{NOON, at};
use crate::databases::TestDatabase;
use crate::helpers::{
    Archive, Browser, Finished, Installation, Ledger, TestApp, day, intent, json, remote_job, rows,
};
use crate::list::{list, prompts};
use crate::postgres::{OF_GUARDED, guarded, url};
use crate::stored_text::world::fill;

/// Letters of many scripts, characters with a meaning in SQL, and characters that reorder the text around them.
const ODD: &str = "Ünïcode Größe привет 概要 ภาษาไทย 😀 c++ \"q\" 'x' \\n $1 %_ odd";

/// The output of `docket copy`.
fn copy(from: &str, to: &str) -> Finished {
    Installation::new().run(&["copy", "--from", from, "--to", to])
}

/// A database owner who is not a superuser.
const OWNER: &str = "GRANT CREATE ON SCHEMA public TO guarded; CREATE EXTENSION IF NOT EXISTS pg_trgm";

fn id(job: &Value) -> &str {
    job["id"].as_str().unwrap()
}

/// An app on a file, with something in every table.
async fn filled() -> (TestApp, Browser) {
    let app = TestApp::in_file_with(at(NOON)).await;
    let ada = app.sign_in_with_password("ada").await;
    let receiver = MockServer::start().await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(200)).mount(&receiver).await;
    fill(&app, &ada, &receiver, ODD).await;
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    for word in ["first", "second", "third"] {
        let job = ada.created(&format!("The {word} of {ODD}\n\t\u{202E}\u{feff}end")).await;
        let more = remote_job(job["remote"]["id"].as_str().unwrap(), "active");
        app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(more)).await;
        ada.follow_up(&job, &format!("More of the {word}: glossary"), &intent()).await;
        let one = [("project", "docs"), ("jobs", id(&job))];
        ada.post_json("/api/jobs/tag", &[one[0], one[1], ("tag", "Größe")]).await;
        if word == "second" {
            ada.post_json("/api/jobs/archive", &one).await;
        }
    }
    ada.invite("ida", "viewer", "docs").await;
    for statement in FILLING {
        app.ledger().run(statement).await;
    }
    (app, ada)
}

/// The app's responses about its content.
async fn responses(person: &Browser) -> Vec<Value> {
    let mut listed = vec![
        list(person, &[]).await,
        list(person, &[("archived", "yes")]).await,
        list(person, &[("tag", "größe")]).await,
    ];
    for words in ["glossary", "c++", "概要", "ภาษาไทย", "прив", "\"the third\"", "grosse", "nothing of it"]
    {
        listed.push(list(person, &[("q", words)]).await);
    }
    let range = [("project", "docs"), ("from", "2026-11-02"), ("to", "2026-11-19")];
    listed.push(person.post_json("/api/analytics/pages", &range).await);
    for job in listed[0]["jobs"].as_array().unwrap().clone() {
        listed.push(person.job(&job).await);
    }
    let export = person.get("/p/docs/analytics/export.json?of=daily&from=2026-11-02&to=2026-11-19").await;
    assert_eq!(export.status, 200, "{}", export.text);
    listed.push(export.json());
    listed
}

#[tokio::test]
async fn database_copied_to_postgres_and_back_is_identical() {
    let (mut app, ada) = filled().await;
    let known = responses(&ada).await;
    let found = |words: usize| prompts(&known[words]).len();
    assert_eq!((found(3), found(5) > 0, found(10)), (2, true, 0), "{known:#?}");
    let file = app.database_url().to_owned();
    app.stop().await;
    let before = contents(&file).await;
    let empty: Vec<&String> =
        before.iter().filter(|(_, rows)| rows.is_empty()).map(|(table, _)| table).collect();
    assert!(empty.is_empty(), "nothing to copy in {empty:?}: fill them in copy/contents.rs");

    let server = guarded(OWNER).await;
    let there = copy(&file, &url(&server, OF_GUARDED));
    assert_eq!(there.code, Some(0), "{there:?}");
    assert_contents(server.url(), &before).await;
    if let Some(folder) = std::env::var_os("KEEP_SCHEMA") {
        store_schemas(Path::new(&folder), &file, server.url());
    }
    let back = tempfile::tempdir().unwrap();
    let back = TestDatabase::of_file(&back.path().join("back.db"));
    let again = copy(&url(&server, OF_GUARDED), back.url());
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_contents(back.url(), &before).await;
    let proofs = |finished: &Finished| {
        finished
            .stdout
            .lines()
            .filter(|line| line.starts_with("equal"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(proofs(&there), proofs(&again));
    assert_eq!(proofs(&there).len(), before.len() - 2, "{there:?}");
    let leases = "SELECT COUNT(*) FROM history_lease";
    let of_processes = [file.as_str(), server.url()].map(Ledger::at);
    assert_eq!([of_processes[0].count(leases).await, of_processes[1].count(leases).await], [1, 0]);

    for database in [server, back] {
        let url = database.url().to_owned();
        app.move_to(database).await;
        let ada = ada.twin(&app);
        assert_eq!(responses(&ada).await, known, "{url}");
        let audit = app.state().store.verify_audit().await.unwrap();
        assert!(audit.fault.is_none() && audit.last.number > 10, "{audit:?}");
        app.ledger().is_sound().await;
        check_writes(&app, &ada).await;
        app.stop().await;
    }
}

/// Stores both databases, for `scripts/keep-schema.sh`.
fn store_schemas(folder: &Path, file: &str, server: &str) {
    std::fs::copy(file.trim_start_matches("sqlite://"), folder.join("sqlite")).unwrap();
    let dumped = Command::new(std::env::var("PG_DUMP").unwrap())
        .args(["--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", "--file"])
        .arg(folder.join("postgres.sql"))
        .arg(server)
        .status();
    assert!(dumped.unwrap().success());
}

/// Writes to a copy: sequences continue, and triggers work.
async fn check_writes(app: &TestApp, ada: &Browser) {
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    let job = ada.created("Written to the copy: zeppelin").await;
    assert_eq!(prompts(&list(ada, &[("q", "zeppel")]).await), ["Written to the copy: zeppelin"]);
    assert_eq!(id(&list(ada, &[]).await["jobs"][0]), id(&job));
    let paths = app.ledger().count("SELECT COUNT(*) FROM page_paths").await;
    Archive::of(app).await.write(day("2026-11-20"), rows(&[("/only-in-the-copy", 1, 2)])).await;
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM page_paths").await, paths + 1);
    let changes = "SELECT revision FROM project_changes WHERE project = 'docs'";
    let before = app.ledger().count(changes).await;
    ada.post_json("/api/jobs/tag", &[("project", "docs"), ("jobs", id(&job)), ("tag", "new")]).await;
    assert!(app.ledger().count(changes).await > before);
    let counted = "SELECT SUM(jobs) FROM job_counts";
    let listed = app.ledger().count("SELECT COUNT(*) FROM listed_jobs").await;
    assert_eq!(app.ledger().count(counted).await, listed);
}

#[tokio::test]
async fn copy_prints_progress_checks_and_next_steps() {
    let installation = Installation::new();
    let (from, to) = ("sqlite://from.db", "sqlite://to.db");
    let installation = installation.set("DOCKET_DATABASE_URL", from);
    installation.run_with_input(&["user", "add", "olga", "--role", "operator"], "amber lantern fjord\n");
    let finished = installation.run(&["copy", "--from", from, "--to", to]);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished:?}");
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(lines[0], format!("from {from} to {to}"));
    assert!(lines.contains(&"copied  users: 1 of 1 rows"), "{finished:?}");
    assert!(lines.iter().any(|line| line.starts_with("equal   users: 1 rows, SHA-256 ")), "{finished:?}");
    let last = lines.last().unwrap();
    for words in
        ["which are equal on both sides", "DOCKET_DATABASE_URL", "--to", &format!("Never serve {from} again")]
    {
        assert!(last.contains(words), "{last}");
    }
    let installation = installation.set("DOCKET_DATABASE_URL", to);
    assert!(installation.run(&["user", "list"]).stdout.starts_with("olga"), "{finished:?}");
}

#[tokio::test]
async fn failed_copy_leaves_nothing_and_can_be_repeated() {
    let (mut app, _) = filled().await;
    let file = app.database_url().to_owned();
    app.stop().await;
    let folder = tempfile::tempdir().unwrap();
    for target in [TestDatabase::of_server("").await, TestDatabase::of_file(&folder.path().join("target.db"))]
    {
        let of_target = Ledger::at(target.url());
        store::Store::open(target.url()).await.unwrap().close().await;
        let fresh = contents(target.url()).await;
        // A row that cannot be written, one that changes after it was written, and an index that stays empty.
        of_target.run("CREATE UNIQUE INDEX in_the_way ON job_events (state)").await;
        refused_half_way(&file, &target, &fresh, "job_events could not be copied").await;
        of_target.run("DROP INDEX in_the_way").await;
        contents::meddle(&target).await;
        refused_half_way(&file, &target, &fresh, "templates is not the same in source and target").await;
        contents::stop_meddling(&target).await;
        of_target.drop_trigger("index_texts", "listed_jobs").await;
        refused_half_way(&file, &target, &fresh, "the search of the target lacks").await;
    }
    let target = TestDatabase::of_server("").await;
    assert_eq!(copy(&file, target.url()).code, Some(0));
    assert_contents(target.url(), &contents(&file).await).await;
}

async fn refused_half_way(
    from: &str,
    to: &TestDatabase,
    fresh: &std::collections::BTreeMap<String, Vec<String>>,
    why: &str,
) {
    let finished = copy(from, to.url());
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains(why) && finished.stderr.contains("left empty"), "{finished:?}");
    assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished:?}");
    assert_contents(to.url(), fresh).await;
}

#[tokio::test]
async fn zero_byte_is_reported_before_the_copy_writes() {
    let mut app = TestApp::in_file().await;
    app.ledger()
        .run("INSERT INTO templates VALUES ('t-1', 'docs', 'name', 'a' || char(0) || 'b', 1, 1)")
        .await;
    app.stop().await;
    let server = TestDatabase::of_server("").await;
    let finished = copy(app.database_url(), server.url());
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished.stderr.contains("templates.text") && finished.stderr.contains("id \"t-1\""),
        "{finished:?}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = TestDatabase::of_file(&folder.path().join("copy.db"));
    assert_eq!(copy(app.database_url(), file.url()).code, Some(0));
    assert_contents(file.url(), &contents(app.database_url()).await).await;
}

#[test]
fn both_options_are_required() {
    for arguments in [&["copy"][..], &["copy", "--from", "sqlite://a.db"], &["copy", "--to", "sqlite://a.db"]]
    {
        let finished = Installation::new().run(arguments);
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{finished:?}");
    }
    let help = Installation::new().run(&["copy", "--help"]).stdout;
    assert!(help.contains("never serve the source again"), "{help}");
    assert_eq!(json!(help.contains("--from <URL>")), json!(true));
}
