//! PgBouncer in front of PostgreSQL, whatever database the other tests use. Its connections to the server are few, and other clients share them.

use futures::future::join_all;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use crate::databases::{TestDatabase, start_script};
use crate::helpers::{Installation, TestApp, intent};

const POOL: usize = 5;
const IGNORED: &str = "ignore_startup_parameters = extra_float_digits";
const IGNORED_OPTIONS: &str = "ignore_startup_parameters = extra_float_digits, options";

/// The URL of the database through PgBouncer with this configuration.
fn through(database: &TestDatabase, mode: &str, lines: &[&str]) -> String {
    let server: PgConnectOptions = database.url().parse().unwrap();
    let host =
        server.get_socket().map_or(server.get_host().to_owned(), |socket| socket.display().to_string());
    let (server_line, mode) =
        (format!("host={host} port={}", server.get_port()), format!("pool_mode = {mode}"));
    let size = format!("default_pool_size = {POOL}");
    let url = start_script("pgbouncer.sh", &[&[server_line.as_str(), &mode, &size], lines].concat());
    format!("{url}{}", server.get_database().unwrap())
}

/// What each of the connections to the server has in its session, as another client of the pooler sees it.
async fn sessions(url: &str) -> Vec<String> {
    let mut clients = Vec::new();
    for _ in 0..POOL {
        let mut client = PgConnection::connect(url).await.unwrap();
        // In a transaction, so that the next client gets another connection.
        sqlx::raw_sql("BEGIN").execute(&mut client).await.unwrap();
        clients.push(client);
    }
    let names = [
        "default_transaction_read_only",
        "statement_timeout",
        "lock_timeout",
        "idle_in_transaction_session_timeout",
        "client_connection_check_interval",
        "work_mem",
        "jit",
        "enable_hashjoin",
    ];
    let shown = names.map(|name| format!("current_setting('{name}')")).join(" || ' ' || ");
    let mut found = Vec::new();
    for client in &mut clients {
        let row =
            sqlx::raw_sql(AssertSqlSafe(format!("SELECT {shown}"))).fetch_one(&mut *client).await.unwrap();
        found.push(row.get::<String, _>(0));
    }
    found.sort();
    found.dedup();
    found
}

#[tokio::test]
async fn prompts_through_a_transaction_pooler_are_accepted_without_leaked_settings() {
    for (ignored, prompts) in [(IGNORED, 100), (IGNORED_OPTIONS, 10)] {
        let database = TestDatabase::of_server("").await;
        let untouched = sessions(database.url()).await;
        let url = through(&database, "transaction", &[ignored]);
        assert_eq!(sessions(&url).await, untouched);
        let mut app = TestApp::at(url.clone()).await;
        app.upstream.accepts_jobs().await;
        let operator = app.operator().await;
        let intents: Vec<String> = (0..prompts).map(|_| intent()).collect();
        let starts = join_all(intents.iter().map(|sent| operator.create("Fix typos", sent)));
        let lists = join_all((0..20).map(|_| operator.get("/p/docs/jobs?q=typos")));
        let (starts, lists) = futures::join!(starts, lists);
        let statuses: Vec<u16> = starts.iter().map(|response| response.status).collect();
        assert_eq!(statuses, vec![200; prompts], "{ignored}");
        assert!(lists.iter().all(|page| page.status == 200), "{ignored}");
        // While it runs: the settings end with each transaction.
        assert_eq!(sessions(&url).await, untouched, "{ignored}");
        app.stop().await;
        let mut client = PgConnection::connect(database.url()).await.unwrap();
        let stored: i64 =
            sqlx::query_scalar("SELECT COUNT(*) FROM messages").fetch_one(&mut client).await.unwrap();
        assert_eq!(usize::try_from(stored).unwrap(), prompts);
    }
}

fn installation(url: &str) -> Installation {
    Installation::in_file("http://127.0.0.1:9")
        .set("DOCKET_DATABASE_URL", url)
        .set("DOCKET_DATABASE_WAIT_SECONDS", "1")
}

#[tokio::test]
async fn what_a_pooler_cannot_do_is_refused_by_name() {
    let database = TestDatabase::of_server("").await;
    let server = "ALTER ROLE … SET";
    for (mode, line, options, words) in [
        ("transaction", "verbose = 0", "", ["extra_float_digits", "ignore_startup_parameters"]),
        ("statement", IGNORED, "", ["no transactions", "pool_mode = transaction"]),
        ("transaction", IGNORED_OPTIONS, "?options=-csearch_path%3Ddocket", ["connection pooler", server]),
        ("transaction", IGNORED, "?options[search_path]=docket", ["options", "connection pooler"]),
    ] {
        let docket = installation(&format!("{}{options}", through(&database, mode, &[line])));
        for command in [&["serve"][..], &["user", "list"]] {
            let finished = docket.run(command);
            assert_eq!(finished.code, Some(2), "{mode} {options}: {finished:?}");
            assert!(words.iter().all(|word| finished.stderr.contains(word)), "{finished:?}");
        }
        let checked = docket.run(&["check"]);
        assert!(words.iter().all(|word| checked.stdout.contains(word)), "{checked:?}");
        assert_ne!(checked.code, Some(0), "{checked:?}");
    }
}

#[tokio::test]
async fn pooler_in_session_mode_works_too() {
    let database = TestDatabase::of_server("").await;
    let url = through(&database, "session", &[IGNORED]);
    assert_eq!(installation(&format!("{url}?application_name=docket")).run(&["user", "list"]).code, Some(0));
}
