//! A database for each test: a file or, with `TEST_DATABASE=postgres`, a database of its own on a PostgreSQL server. The tests
//! are the same. The library's tests and the crash tests also compile this module, so it uses nothing of Docket except its
//! arguments.
//!
//! The server is the one at `TEST_POSTGRES_URL`, or one that `scripts/postgres.sh` starts for this process and that ends with it.

#![allow(dead_code, reason = "not every kind of test needs all of it")]

mod network;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, mpsc};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, Connection};
use tokio::sync::OnceCell;

#[allow(unused_imports, reason = "not every kind of test needs it")]
pub(crate) use network::Network;

/// What the tests of this process made once, by name.
type Once<T> = LazyLock<Mutex<HashMap<String, Arc<OnceCell<T>>>>>;

/// How long the server may take to start.
const SERVER_STARTS_WITHIN: Duration = Duration::from_secs(120);

/// A database that is removed when this is dropped.
pub(crate) struct TestDatabase {
    url: String,
    /// The name of a database on a server.
    name: Option<String>,
}

impl TestDatabase {
    /// A copy of `template`, of the kind under test: in `file`, or on the server. The first copy makes the template: `fill` opens the database at a
    /// URL, writes what copies contain, and closes it.
    pub(crate) async fn copied(file: &Path, template: &str, fill: impl AsyncFn(String)) -> Self {
        if !is_postgres() {
            return Self::copied_file(file, template, fill).await;
        }
        static TEMPLATES: Once<()> = LazyLock::new(Mutex::default);
        let name = format!("template_{}_{template}", std::process::id());
        let made = TEMPLATES.lock().unwrap().entry(name.clone()).or_default().clone();
        made.get_or_init(|| make_template(&name, fill)).await;
        Self::of_server(&format!("TEMPLATE {name}")).await
    }

    /// As [`Self::copied`], in a file, whatever kind is under test.
    pub(crate) async fn copied_file(file: &Path, template: &str, fill: impl AsyncFn(String)) -> Self {
        static TEMPLATES: Once<Vec<u8>> = LazyLock::new(Mutex::default);
        let made = TEMPLATES.lock().unwrap().entry(template.to_owned()).or_default().clone();
        let content = made.get_or_init(|| file_template(fill)).await;
        // As Docket creates a file.
        let mut copy = File::options().write(true).create_new(true).mode(0o600).open(file).unwrap();
        copy.write_all(content).unwrap();
        Self::of_file(file)
    }

    /// A database of the kind under test, without any tables.
    pub(crate) async fn empty(file: &Path) -> Self {
        if is_postgres() { Self::of_server("").await } else { Self::of_file(file) }
    }

    /// A database on the server, whatever kind is under test.
    pub(crate) async fn of_server(like: &str) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}_{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed));
        let mut server = connect("postgres").await;
        run(&mut server, format!("CREATE DATABASE {name} {like}")).await;
        server.close().await.unwrap();
        Self { url: url_of(&name), name: Some(name) }
    }

    /// A file, whatever kind is under test: for features of files only.
    pub(crate) fn of_file(file: &Path) -> Self {
        Self { url: format!("sqlite://{}", file.display()), name: None }
    }

    /// The database at this URL, which stays when this is dropped.
    pub(crate) fn at(url: String) -> Self {
        Self { url, name: None }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            _ = REMOVAL.send(name);
        }
    }
}

/// Whether the tests run on PostgreSQL.
pub(crate) fn is_postgres() -> bool {
    match std::env::var("TEST_DATABASE").as_deref() {
        Err(_) | Ok("" | "sqlite") => false,
        Ok("postgres") => true,
        Ok(other) => panic!("TEST_DATABASE is sqlite or postgres, not {other}"),
    }
}

/// The server's URL, up to the name of a database.
static SERVER: LazyLock<String> =
    LazyLock::new(|| std::env::var("TEST_POSTGRES_URL").unwrap_or_else(|_| start(&[])));

/// Removes databases one after another, while the tests continue.
static REMOVAL: LazyLock<mpsc::Sender<String>> = LazyLock::new(|| {
    let (sender, names) = mpsc::channel::<String>();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for name in names {
            runtime.block_on(async {
                let mut server = connect("postgres").await;
                run(&mut server, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
                server.close().await.unwrap();
            });
        }
    });
    sender
});

/// Starts a server that ends when this process does, because the process has the other end of the script's standard input.
pub(crate) fn start(arguments: &[&str]) -> String {
    start_script("postgres.sh", arguments)
}

/// As [`start`], by this script.
pub(crate) fn start_script(name: &str, arguments: &[&str]) -> String {
    let mut server = Command::new(format!("{}scripts/{name}", env!("WORKSPACE")))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect(name);
    let stdout = server.stdout.take().unwrap();
    let (sender, first_line) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        sender.send(line)
    });
    let address = first_line.recv_timeout(SERVER_STARTS_WITHIN).expect(name);
    assert!(!address.is_empty(), "scripts/{name} started no server");
    std::mem::forget(server);
    address.trim().to_owned()
}

/// The content of a database file that `fill` wrote.
async fn file_template(fill: impl AsyncFn(String)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("template.db");
    fill(format!("sqlite://{}", file.display())).await;
    // The last connection writes the log into the file, and removes it.
    assert!(!folder.path().join("template.db-wal").exists(), "a connection to the template is still open");
    std::fs::read(file).unwrap()
}

/// Makes a template on the server.
async fn make_template(name: &str, fill: impl AsyncFn(String)) {
    let mut server = connect("postgres").await;
    run(&mut server, format!("CREATE DATABASE {name}")).await;
    fill(url_of(name)).await;
    // A database with connections cannot be copied.
    let rest =
        format!("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'");
    run(&mut server, rest).await;
    server.close().await.unwrap();
}

fn url_of(name: &str) -> String {
    format!("{}{name}", *SERVER)
}

async fn connect(database: &str) -> PgConnection {
    let options: PgConnectOptions = url_of(database).parse().unwrap();
    PgConnection::connect_with(&options).await.unwrap()
}

async fn run(server: &mut PgConnection, statement: String) {
    sqlx::raw_sql(AssertSqlSafe(statement)).execute(server).await.unwrap();
}
