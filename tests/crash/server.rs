//! `docket serve` on one database, as one process or, on PostgreSQL, as several: started, killed and queried.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, SET_COOKIE};
use sqlx::{AnyConnection, Connection};
use tempfile::TempDir;
use tokio::sync::watch;

use super::databases::Network;
use super::databases::is_postgres;
use super::postgres::Postgres;

const PASSWORD: &str = "a crash of unrelated words";

/// How many processes share a PostgreSQL database.
const REPLICAS: usize = 3;

/// One reply to `COMMIT` in this many is lost on its way from the database server.
const LOST_COMMITS: u64 = 20;

/// The timeout for everything that does not depend on chance: longer than the detection of an ended process.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Server {
    folder: TempDir,
    /// `None`: the database is a file.
    postgres: Option<Postgres>,
    upstream: String,
    replicas: Vec<Replica>,
    /// The logs of all processes so far.
    outputs: Vec<Arc<Mutex<String>>>,
    /// The processes' addresses, and the session cookie of their only user.
    session: watch::Sender<Session>,
    turn: Arc<AtomicUsize>,
    http: Client,
}

struct Replica {
    network: Option<Network>,
    process: Option<Child>,
    output: Arc<Mutex<String>>,
}

#[derive(Clone, Default)]
pub(crate) struct Session {
    addresses: Vec<String>,
    cookie: String,
}

impl Server {
    pub(crate) async fn new(upstream: &str) -> Self {
        sqlx::any::install_default_drivers();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        let postgres = if is_postgres() { Some(Postgres::start().await) } else { None };
        let mut replicas = Vec::new();
        for _ in 0..if postgres.is_some() { REPLICAS } else { 1 } {
            let network = match &postgres {
                Some(postgres) => Some(Network::to(postgres.url()).await),
                None => None,
            };
            replicas.push(Replica { network, process: None, output: Arc::default() });
        }
        let addresses = vec![String::new(); replicas.len()];
        Self {
            folder: tempfile::tempdir().unwrap(),
            postgres,
            upstream: upstream.to_owned(),
            replicas,
            outputs: Vec::new(),
            session: watch::Sender::new(Session { addresses, cookie: String::new() }),
            turn: Arc::default(),
            http: http.timeout(Duration::from_secs(45)).build().unwrap(),
        }
    }

    pub(crate) fn replicas(&self) -> usize {
        self.replicas.len()
    }

    /// The database URL for clients other than Docket's processes.
    pub(crate) fn url(&self) -> String {
        match &self.postgres {
            Some(postgres) => postgres.url().to_owned(),
            None => format!("sqlite://{}", self.folder.path().join("docket.db").display()),
        }
    }

    fn command(&self, url: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_docket"));
        command.env_clear().current_dir(self.folder.path()).env("DOCKET_DATABASE_URL", url);
        command
    }

    /// Starts a process without waiting.
    pub(crate) fn spawn(&mut self, replica: usize) {
        let url = self.replicas[replica].network.as_ref().map_or_else(|| self.url(), Network::url);
        let mut command = self.command(&url);
        command.arg("serve");
        for (variable, value) in [
            ("DOCKET_ADDR", "127.0.0.1:0"),
            ("DOCKET_UPSTREAM_URL", self.upstream.as_str()),
            ("DOCKET_API_KEY", key(replica).as_str()),
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
        let replica = &mut self.replicas[replica];
        replica.output = Arc::default();
        self.outputs.push(replica.output.clone());
        collect(child.stderr.take().unwrap(), &replica.output);
        assert!(replica.process.replace(child).is_none(), "one process at a time");
    }

    /// Starts a process, and waits until it responds.
    pub(crate) async fn start(&mut self, replica: usize) {
        self.spawn(replica);
        let began = Instant::now();
        let address = loop {
            let of = &mut self.replicas[replica];
            let output = of.output.lock().unwrap().clone();
            if let Some((_, rest)) = output.split_once("listening address=")
                && let Some((address, _)) = rest.split_once(char::is_whitespace)
            {
                break address.to_owned();
            }
            assert!(began.elapsed() < PATIENCE, "it does not start: {output}");
            if of.process.as_mut().unwrap().try_wait().unwrap().is_some() {
                // A start fails if a reply to a commit is lost. A service manager repeats it.
                assert!(of.network.as_ref().is_some_and(Network::loses_commits), "it ended: {output}");
                of.process = None;
                self.spawn(replica);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        self.session.send_modify(|session| session.addresses[replica] = format!("http://{address}"));
    }

    pub(crate) fn kill(&mut self, replica: usize) {
        let mut process = self.replicas[replica].process.take().unwrap();
        // SIGKILL: nothing of it runs after this.
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Stops a process as a deployment does, and waits for its end.
    pub(crate) async fn end(&mut self, replica: usize) {
        let mut process = self.replicas[replica].process.take().unwrap();
        if let Some(status) = process.try_wait().unwrap() {
            // A start fails if the database does not respond in time. A service manager repeats it.
            let output = self.replicas[replica].output.lock().unwrap();
            assert!(output.contains("recording what an earlier run left behind"), "{status}: {output}");
            return;
        }
        let sent = Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let began = Instant::now();
        loop {
            if let Some(status) = process.try_wait().unwrap() {
                let output = self.replicas[replica].output.lock().unwrap();
                assert!(status.success(), "it ended with {status}: {output}");
                return;
            }
            assert!(began.elapsed() < PATIENCE, "it does not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The process with this admin key.
    pub(crate) fn replica_with_key(&self, authorization: &str) -> usize {
        let is_its = |replica: &usize| authorization.ends_with(&key(*replica));
        (0..self.replicas()).find(is_its).unwrap()
    }

    /// Restarts the database's server as a crash does.
    pub(crate) fn restart_database(&self) {
        self.postgres.as_ref().unwrap().restart();
    }

    pub(crate) fn stall_network(&self, replica: usize, stalls: bool) {
        self.replicas[replica].network.as_ref().unwrap().stall(stalls);
    }

    /// From now on, replies to `COMMIT` are lost.
    pub(crate) fn lose_commits(&self) {
        self.replicas.iter().filter_map(|replica| replica.network.as_ref()).for_each(|network| {
            network.lose_commits(LOST_COMMITS);
        });
    }

    /// How many replies to `COMMIT` were lost; `None` for a file.
    pub(crate) fn lost_commits(&self) -> Option<u64> {
        self.postgres.as_ref()?;
        let networks = self.replicas.iter().filter_map(|replica| replica.network.as_ref());
        Some(networks.map(Network::lost_commits).sum())
    }

    pub(crate) fn stop(&mut self) {
        for replica in 0..self.replicas() {
            self.kill(replica);
        }
    }

    pub(crate) async fn sign_in(&self) {
        let pairs = [("username", "admin"), ("password", PASSWORD)];
        let response = self.visitor().call("/api/session/login", &pairs).await.unwrap();
        let cookie = response.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        self.session.send_modify(|session| session.cookie = cookie);
    }

    /// Waits until no prompt is queued or being sent.
    pub(crate) async fn until_idle(&self) {
        let began = Instant::now();
        while self.without_outcome().await > 0 && began.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn without_outcome(&self) -> i64 {
        let mut ledger = self.ledger().await;
        let count = "SELECT COUNT(*) FROM messages WHERE state IN ('queued', 'sending')";
        sqlx::query_scalar(count).fetch_one(&mut ledger).await.unwrap()
    }

    /// The faults in the audit log according to `docket audit verify`.
    pub(crate) fn audit_faults(&self) -> Option<String> {
        let verified = self.command(&self.url()).args(["audit", "verify"]).output().unwrap();
        (!verified.status.success()).then(|| String::from_utf8_lossy(&verified.stderr).into_owned())
    }

    /// The errors in the logs of all processes, including ended ones.
    pub(crate) fn errors(&self) -> Vec<String> {
        let all: String = self.outputs.iter().map(|output| output.lock().unwrap().clone()).collect();
        all.lines().filter(|line| line.contains("ERROR")).map(str::to_owned).collect()
    }

    /// The database, opened directly.
    pub(crate) async fn ledger(&self) -> AnyConnection {
        AnyConnection::connect(&self.url()).await.unwrap()
    }

    pub(crate) fn visitor(&self) -> Visitor {
        Visitor { session: self.session.subscribe(), turn: self.turn.clone(), http: self.http.clone() }
    }
}

/// A client that alternates between the processes, each at its current address.
#[derive(Clone)]
pub(crate) struct Visitor {
    session: watch::Receiver<Session>,
    turn: Arc<AtomicUsize>,
    http: Client,
}

impl Visitor {
    /// Posts fields; `None` without a response.
    pub(crate) async fn call(&self, endpoint: &str, pairs: &[(&str, &str)]) -> Option<reqwest::Response> {
        let session = self.session.borrow().clone();
        let address = &session.addresses[self.turn.fetch_add(1, Ordering::Relaxed) % session.addresses.len()];
        let body: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let request = self
            .http
            .post(format!("{address}{endpoint}"))
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

/// The admin key of a process, by which the upstream identifies it.
fn key(replica: usize) -> String {
    format!("mint_crash_test_{replica}")
}
