//! A PostgreSQL server of the test's own, which it restarts, and the networks between it and each process, which stall.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use sqlx::{Connection, PgConnection};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;

/// Ends with this process: it reads the other end of `commands`.
pub(crate) struct Postgres {
    _script: Child,
    commands: Mutex<ChildStdin>,
    answers: Mutex<BufReader<ChildStdout>>,
    socket: PathBuf,
    /// Of the database, by the server's socket.
    url: String,
}

/// The way of one process to the server.
pub(crate) struct Network {
    port: u16,
    flows: watch::Sender<bool>,
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
        let folder =
            address.trim_start_matches("postgres://docket@").trim_end_matches('/').replace("%2F", "/");
        let mut connection = PgConnection::connect(&format!("{address}postgres")).await.unwrap();
        sqlx::raw_sql("CREATE DATABASE crash").execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        Self {
            commands: Mutex::new(script.stdin.take().unwrap()),
            answers: Mutex::new(answers),
            socket: PathBuf::from(folder).join(".s.PGSQL.5432"),
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

    pub(crate) async fn network(&self) -> Network {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (flows, flowing) = watch::channel(true);
        let socket = self.socket.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (socket, flowing) = (socket.clone(), flowing.clone());
                tokio::spawn(async move {
                    let Ok(server) = UnixStream::connect(socket).await else { return };
                    let ((from_client, to_client), (from_server, to_server)) =
                        (client.into_split(), server.into_split());
                    tokio::select! {
                        () = carry(from_client, to_server, flowing.clone()) => {}
                        () = carry(from_server, to_client, flowing) => {}
                    }
                });
            }
        });
        Network { port, flows }
    }
}

impl Network {
    pub(crate) fn url(&self) -> String {
        format!("postgres://docket@127.0.0.1:{}/crash?sslmode=disable", self.port)
    }

    /// Lets nothing through, without an error, or everything again.
    pub(crate) fn stall(&self, stalls: bool) {
        self.flows.send_replace(!stalls);
    }
}

async fn carry(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut flows: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let Ok(count @ 1..) = from.read(&mut bytes).await else { return };
        if flows.wait_for(|flows| *flows).await.is_err() || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
