//! A PostgreSQL server of the test's own, which it restarts.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use sqlx::{Connection, PgConnection};

/// Ends with this process: it reads the other end of `commands`.
pub(crate) struct Postgres {
    _script: Child,
    commands: Mutex<ChildStdin>,
    answers: Mutex<BufReader<ChildStdout>>,
    /// Of the database, by the server's socket.
    url: String,
}

impl Postgres {
    pub(crate) async fn start() -> Self {
        let mut script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/postgres.sh"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/postgres.sh");
        let mut answers = BufReader::new(script.stdout.take().unwrap());
        let mut address = String::new();
        answers.read_line(&mut address).unwrap();
        let address = address.trim();
        let mut connection = PgConnection::connect(&format!("{address}postgres")).await.unwrap();
        sqlx::raw_sql("CREATE DATABASE crash").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        Self {
            commands: Mutex::new(script.stdin.take().unwrap()),
            answers: Mutex::new(answers),
            url: format!("{address}crash"),
            _script: script,
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Ends the server without letting it finish anything, and starts it again.
    pub(crate) fn restart(&self) {
        writeln!(self.commands.lock().unwrap(), "restart").unwrap();
        let mut answer = String::new();
        self.answers.lock().unwrap().read_line(&mut answer).unwrap();
        assert_eq!(answer.trim(), "restarted");
    }
}
