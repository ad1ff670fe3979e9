//! A PostgreSQL server of the test's own, which it restarts.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use sqlx::{Connection, PgConnection};

/// How long the script may take for one response.
const PATIENCE: Duration = Duration::from_secs(120);

/// The script ends with this process, because it reads the other end of `commands`.
pub(crate) struct Postgres {
    _script: Child,
    commands: Mutex<ChildStdin>,
    responses: Mutex<mpsc::Receiver<String>>,
    /// The URL of the database, by the server's socket.
    url: String,
}

impl Postgres {
    pub(crate) async fn start() -> Self {
        let mut script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/postgres.sh"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/postgres.sh");
        let lines = BufReader::new(script.stdout.take().unwrap()).lines();
        let (sender, responses) = mpsc::channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let address = responses.recv_timeout(PATIENCE).expect("the address");
        let address = address.trim();
        let mut connection = PgConnection::connect(&format!("{address}postgres")).await.unwrap();
        sqlx::raw_sql("CREATE DATABASE crash").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        Self {
            commands: Mutex::new(script.stdin.take().unwrap()),
            responses: Mutex::new(responses),
            url: format!("{address}crash"),
            _script: script,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Kills the server without a shutdown, and starts it again.
    pub(crate) fn restart(&self) {
        writeln!(self.commands.lock().unwrap(), "restart").unwrap();
        let response = self.responses.lock().unwrap().recv_timeout(PATIENCE).expect("a response");
        assert_eq!(response.trim(), "restarted");
    }
}
