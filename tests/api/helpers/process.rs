//! Runs the binary in its own folder, with only the environment variables that a test sets.

use std::io::{BufRead, BufReader, PipeReader, Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::runtime::Builder;

use super::app::database;
use super::browser::Browser;
use super::ledger::Ledger;
use super::secrets::{KEY, PASSWORD, secrets_in};
use super::{DEADLINE, until};
use crate::databases::{TestDatabase, is_postgres};

const DOCKET: &str = env!("CARGO_BIN_EXE_docket");

/// A line of shell that runs a command with an output whose reader has left: the shell opens it again after its only reader closed it.
pub(crate) const WITHOUT_READER: &str =
    "rm -f left; mkfifo left; exec 3<>left 4>left 3>&-; exec \"$0\" \"$@\" >&4 4>&-";

/// The folder and the environment of a command.
pub(crate) struct Installation {
    folder: TempDir,
    /// The database, if it is not the default, which is a file in the folder.
    database: Option<TestDatabase>,
    environment: Vec<(String, String)>,
}

/// A finished command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A running command. It is killed when the test ends.
pub(crate) struct Served {
    child: Mutex<Child>,
    output: Arc<Mutex<String>>,
}

impl Installation {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: None, environment: Vec::new() }
    }

    /// With everything that `docket serve` requires.
    pub(crate) fn configured(upstream: &str) -> Self {
        let installation = Self::in_file(upstream);
        if !is_postgres() {
            return installation;
        }
        // Not every test with a database is asynchronous.
        let file = installation.path("docket.db");
        let made = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(database(&file))
        });
        let database = made.join().unwrap();
        let installation = installation.set("DOCKET_DATABASE_URL", database.url());
        Self { database: Some(database), ..installation }
    }

    /// As [`Installation::configured`], on a file, whatever database is under test: for features of files only.
    pub(crate) fn in_file(upstream: &str) -> Self {
        Self::new()
            .set("DOCKET_ADDR", "127.0.0.1:0")
            .set("DOCKET_DATABASE_URL", "sqlite://docket.db")
            .set("DOCKET_UPSTREAM_URL", upstream)
            .set("DOCKET_API_KEY", KEY)
            .set("DOCKET_PROJECTS", "docs=Docs,api=API reference")
            // The daily history makes no calls unless a test expects them.
            .set("DOCKET_ANALYTICS_RESERVE", "100")
    }

    /// As [`Installation::configured`], with an administrator from the start.
    pub(crate) fn with_administrator(upstream: &str) -> Self {
        Self::configured(upstream).set("DOCKET_ADMIN_PASSWORD", PASSWORD)
    }

    /// The database, accessed without the process.
    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::at(&self.database_url())
    }

    pub(crate) fn database_url(&self) -> String {
        match &self.database {
            Some(database) => database.url().to_owned(),
            None => format!("sqlite://{}", self.path("docket.db").display()),
        }
    }

    pub(crate) fn set(mut self, variable: &str, value: &str) -> Self {
        self.environment.push((variable.to_owned(), value.to_owned()));
        self
    }

    /// Removes a variable, which a configuration file can then set.
    pub(crate) fn unset(mut self, variable: &str) -> Self {
        self.environment.retain(|(name, _)| name != variable);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The names of the files in the folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Runs a command to completion.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        self.run_with_input(arguments, "")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Finished {
        self.finish(Command::new(DOCKET), arguments, input)
    }

    /// Runs a command to completion, started by a line of shell that contains the command as `"$0" "$@"`.
    pub(crate) fn run_by(&self, line: &str, arguments: &[&str]) -> Finished {
        self.run_with_input_by(line, arguments, "")
    }

    pub(crate) fn run_with_input_by(&self, line: &str, arguments: &[&str], input: &str) -> Finished {
        self.finish(shell(line), arguments, input)
    }

    /// As [`Installation::run_with_input`], with an output whose reader has left.
    pub(crate) fn run_without_reader(&self, arguments: &[&str], input: &str) -> Finished {
        self.run_with_input_by(WITHOUT_READER, arguments, input)
    }

    /// As [`Installation::run_with_input`], while the runtime of the test continues. For a command that needs an app of this test:
    /// some of the app's connections to PostgreSQL may belong to that runtime.
    pub(crate) async fn run_beside_app(&self, arguments: &[&str], input: &str) -> Finished {
        self.finish_beside_app(Command::new(DOCKET), arguments, input).await
    }

    /// As [`Installation::run_by`] and [`Installation::run_beside_app`].
    pub(crate) async fn run_by_beside_app(&self, line: &str, arguments: &[&str]) -> Finished {
        self.finish_beside_app(shell(line), arguments, "").await
    }

    async fn finish_beside_app(&self, command: Command, arguments: &[&str], input: &str) -> Finished {
        let (child, input) = (self.spawn(command, arguments), input.to_owned());
        tokio::task::spawn_blocking(move || finished(child, &input)).await.unwrap()
    }

    fn finish(&self, command: Command, arguments: &[&str], input: &str) -> Finished {
        finished(self.spawn(command, arguments), input)
    }

    fn spawn(&self, mut command: Command, arguments: &[&str]) -> Child {
        self.prepare(&mut command, arguments);
        command.stdin(Stdio::piped()).spawn().unwrap()
    }

    /// Starts a long-running command.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Served {
        self.start(Command::new(DOCKET), arguments)
    }

    /// As [`Installation::serve`], but a write beyond [`Served::may_write`] fails instead of killing the process.
    pub(crate) fn serve_within_limits(&self, arguments: &[&str]) -> Served {
        self.serve_by("trap '' XFSZ; exec \"$0\" \"$@\"", arguments)
    }

    /// As [`Installation::serve`], started by a line of shell that contains the command as `"$0" "$@"`.
    pub(crate) fn serve_by(&self, line: &str, arguments: &[&str]) -> Served {
        self.start(shell(line), arguments)
    }

    /// `docket serve` with sockets of the test, passed as systemd does: one for everything and perhaps one for metrics.
    pub(crate) fn serve_on(&self, main: &TcpListener, metrics: Option<&TcpListener>) -> Served {
        // The command writes nothing to standard output.
        let line = match metrics {
            None => "exec 3<&0 0</dev/null; export LISTEN_FDS=1 LISTEN_FDNAMES=docket",
            Some(_) => "exec 3<&0 4<&1 0</dev/null 1>&2; export LISTEN_FDS=2 LISTEN_FDNAMES=docket:metrics",
        };
        let mut command = shell(&format!("{line} LISTEN_PID=$$; exec \"$0\" \"$@\""));
        self.prepare(&mut command, &["serve"]);
        command.stdin(OwnedFd::from(main.try_clone().unwrap()));
        if let Some(metrics) = metrics {
            command.stdout(OwnedFd::from(metrics.try_clone().unwrap()));
        }
        served(command.spawn().unwrap())
    }

    /// As [`Installation::serve_on`], with a standard error that nobody reads until [`Served::read`].
    pub(crate) fn serve_unread(&self, main: &TcpListener) -> (Served, PipeReader) {
        let mut command = shell(
            "exec 3<&0 0</dev/null; export LISTEN_FDS=1 LISTEN_FDNAMES=docket LISTEN_PID=$$; exec \"$0\" \"$@\"",
        );
        self.prepare(&mut command, &["serve"]);
        let (reader, writer) = std::io::pipe().unwrap();
        command.stdin(OwnedFd::from(main.try_clone().unwrap())).stderr(writer);
        let served = served(command.spawn().unwrap());
        // The process alone has the other end.
        drop(command);
        (served, reader)
    }

    /// As [`Installation::serve`], on a machine whose clock is `ahead` seconds fast.
    pub(crate) fn serve_with_clock(&self, ahead: i32, arguments: &[&str]) -> Served {
        let shim = self.path("shifted_clock.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&shim)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/helpers/shifted_clock.c"))
            .status()
            .unwrap();
        assert!(compiled.success());
        let line = format!("LD_PRELOAD={} CLOCK_SHIFT={ahead} exec \"$0\" \"$@\"", shim.display());
        self.serve_by(&line, arguments)
    }

    fn start(&self, command: Command, arguments: &[&str]) -> Served {
        let mut command = command;
        self.prepare(&mut command, arguments);
        served(command.stdin(Stdio::null()).spawn().unwrap())
    }

    fn prepare(&self, command: &mut Command, arguments: &[&str]) {
        command
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .current_dir(self.folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
}

impl Served {
    /// The output so far.
    pub(crate) fn output(&self) -> String {
        self.output.lock().unwrap().clone()
    }

    /// From now on, what the process writes to `stream` is part of the output.
    pub(crate) fn read(&self, stream: PipeReader) {
        collect(stream, &self.output);
    }

    /// The output after `words`, up to a space or the end of the line.
    pub(crate) async fn output_after(&self, words: &str) -> String {
        until(&format!("“{words}” in the output"), async || {
            let ended = self.child.lock().unwrap().try_wait().unwrap();
            let output = self.output();
            assert!(ended.is_none() || output.contains(words), "ended with {ended:?}: {output}");
            let (_, rest) = output.split_once(words)?;
            let (line, _) = rest.split_once('\n')?;
            Some(line.split_whitespace().next().unwrap_or_default().to_owned())
        })
        .await
    }

    /// The address at which `docket serve` listens.
    pub(crate) async fn address(&self) -> String {
        format!("http://{}", self.output_after("listening address=").await)
    }

    /// The id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.lock().unwrap().id()
    }

    /// A browser signed in as its administrator.
    pub(crate) async fn signed_in(&self) -> Browser {
        let browser = Browser::at(&self.address().await);
        assert_eq!(browser.sign_in("admin", PASSWORD).await.status, 200);
        browser
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([&format!("-{name}"), &self.child.lock().unwrap().id().to_string()])
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Limits the size of files to `bytes`; `unlimited` removes the limit.
    pub(crate) fn may_write(&self, bytes: &str) {
        let process = self.child.lock().unwrap().id().to_string();
        let status =
            Command::new("prlimit").args(["--pid", &process, &format!("--fsize={bytes}:")]).status().unwrap();
        assert!(status.success());
    }

    pub(crate) async fn ended(&self) -> ExitStatus {
        let status = until("the process ends", async || self.child.lock().unwrap().try_wait().unwrap()).await;
        let output = self.output();
        assert!(secrets_in(&output).is_empty(), "a secret was printed: {output}");
        status
    }
}

impl Drop for Served {
    #[expect(clippy::print_stderr, reason = "the output explains the failure of a test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("The output of the process:\n{}", self.output());
        }
        // It may have exited already.
        let mut child = self.child.lock().unwrap();
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Gives the input to a command, and waits for its end.
fn finished(mut child: Child, input: &str) -> Finished {
    // A command that reads nothing may have exited already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let (stdout, stderr) = (whole(child.stdout.take().unwrap()), whole(child.stderr.take().unwrap()));
    let code = end_of(&mut child).code();
    let text = |output: mpsc::Receiver<Vec<u8>>| {
        String::from_utf8(output.recv_timeout(DEADLINE).expect("the output ends")).unwrap()
    };
    let finished = Finished { code, stdout: text(stdout), stderr: text(stderr) };
    assert!(secrets_in(&format!("{finished:?}")).is_empty(), "a secret was printed: {finished:?}");
    for words in ["this form", "reload the page", "Reload the page", "This form"] {
        assert!(!finished.stderr.contains(words), "no page is in front of the reader: {finished:?}");
    }
    finished
}

/// Waits for the end of a command, which is killed after [`DEADLINE`].
fn end_of(child: &mut Child) -> ExitStatus {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if started.elapsed() >= DEADLINE {
            child.kill().unwrap();
            panic!("a command did not end within {} s", DEADLINE.as_secs());
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Everything from a stream, once it has ended.
fn whole(stream: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        BufReader::new(stream).read_to_end(&mut bytes).unwrap();
        // The test may have failed already.
        let _ = sender.send(bytes);
    });
    receiver
}

fn served(mut child: Child) -> Served {
    let output = Arc::new(Mutex::new(String::new()));
    if let Some(stdout) = child.stdout.take() {
        collect(stdout, &output);
    }
    if let Some(stderr) = child.stderr.take() {
        collect(stderr, &output);
    }
    Served { child: Mutex::new(child), output }
}

fn shell(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", line, DOCKET]);
    shell
}

fn collect(stream: impl Read + Send + 'static, output: &Arc<Mutex<String>>) {
    let output = output.clone();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap() + "\n";
            output.lock().unwrap().push_str(&line);
        }
    });
}

/// Whether only the owner may read and write a file.
pub(crate) fn is_private(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).unwrap().permissions().mode() & 0o077 == 0
}
