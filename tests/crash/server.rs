//! `docket serve` as a process on one database: started, killed and queried.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, SET_COOKIE};
use sqlx::{AnyConnection, Connection};
use tempfile::TempDir;
use tokio::sync::watch;

use super::databases::TestDatabase;

const PASSWORD: &str = "a crash of unrelated words";

/// The timeout for everything that does not depend on chance.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    folder: TempDir,
    database: TestDatabase,
    upstream: String,
    process: Option<Child>,
    output: Arc<Mutex<String>>,
    /// Its address, and the session cookie of its one person.
    session: watch::Sender<Session>,
    http: Client,
}

#[derive(Clone, Default)]
pub(crate) struct Session {
    pub(crate) address: String,
    pub(crate) cookie: String,
}

impl Server {
    pub(crate) async fn new(upstream: &str) -> Self {
        sqlx::any::install_default_drivers();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let folder = tempfile::tempdir().unwrap();
        Self {
            database: TestDatabase::empty(&folder.path().join("docket.db")).await,
            folder,
            upstream: upstream.to_owned(),
            process: None,
            output: Arc::default(),
            session: watch::Sender::default(),
            http: http.timeout(Duration::from_secs(45)).build().unwrap(),
        }
    }

    /// Starts a process without waiting.
    pub(crate) fn spawn(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docket"));
        command.arg("serve").env_clear().current_dir(self.folder.path());
        for (variable, value) in [
            ("DOCKET_ADDR", "127.0.0.1:0"),
            ("DOCKET_UPSTREAM_URL", self.upstream.as_str()),
            ("DOCKET_DATABASE_URL", self.database.url()),
            ("DOCKET_API_KEY", "mint_crash"),
            ("DOCKET_PROJECTS", "docs=Docs"),
            ("DOCKET_ADMIN_PASSWORD", PASSWORD),
            // The budget is not part of this test.
            ("DOCKET_AGENT_PER_HOUR", "1000000"),
            ("DOCKET_POLL_SECONDS", "1"),
        ] {
            command.env(variable, value);
        }
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        self.output = Arc::default();
        collect(child.stderr.take().unwrap(), &self.output);
        assert!(self.process.replace(child).is_none(), "one process at a time");
    }

    /// Starts a process, and waits until it responds.
    pub(crate) async fn start(&mut self) {
        self.spawn();
        let began = Instant::now();
        let address = loop {
            let output = self.output.lock().unwrap().clone();
            if let Some((_, rest)) = output.split_once("listening address=")
                && let Some((address, _)) = rest.split_once(char::is_whitespace)
            {
                break address.to_owned();
            }
            let ended = self.process.as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none() && began.elapsed() < PATIENCE, "it does not start: {output}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        self.session.send_modify(|session| session.address = format!("http://{address}"));
    }

    pub(crate) async fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        // SIGKILL: nothing of it runs after this.
        process.kill().unwrap();
        process.wait().unwrap();
    }

    pub(crate) fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    pub(crate) async fn sign_in(&self) {
        let pairs = [("username", "admin"), ("password", PASSWORD)];
        let answer = self.visitor().call("/api/session/login", &pairs).await.unwrap();
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        self.session.send_modify(|session| session.cookie = cookie);
    }

    /// Waits until no prompt is queued or being sent.
    pub(crate) async fn settled(&self) {
        let began = Instant::now();
        while self.unsettled().await > 0 && began.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn unsettled(&self) -> i64 {
        let mut ledger = self.ledger().await;
        let count = "SELECT COUNT(*) FROM messages WHERE state IN ('queued', 'sending')";
        sqlx::query_scalar(count).fetch_one(&mut ledger).await.unwrap()
    }

    /// The database, opened directly.
    pub(crate) async fn ledger(&self) -> AnyConnection {
        AnyConnection::connect(self.database.url()).await.unwrap()
    }

    pub(crate) fn visitor(&self) -> Visitor {
        Visitor { session: self.session.subscribe(), http: self.http.clone() }
    }
}

/// A client that finds the server at its current address.
#[derive(Clone)]
pub(crate) struct Visitor {
    session: watch::Receiver<Session>,
    http: Client,
}

impl Visitor {
    /// Posts fields; `None` without a response.
    pub(crate) async fn call(&self, endpoint: &str, pairs: &[(&str, &str)]) -> Option<reqwest::Response> {
        let session = self.session.borrow().clone();
        let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let request = self
            .http
            .post(format!("{}{endpoint}", session.address))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json")
            .header("sec-fetch-site", "same-origin")
            .header(COOKIE, session.cookie)
            .body(body);
        request.send().await.ok()
    }
}

fn collect(stream: impl Read + Send + 'static, output: &Arc<Mutex<String>>) {
    let output = output.clone();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut output = output.lock().unwrap();
            output.push_str(&line);
            output.push('\n');
        }
    });
}
