//! Captures everything that this process logs, at the finest level, and searches it for secrets.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, LazyLock, Mutex, Once};

use memchr::memmem;
use tracing_subscriber::EnvFilter;

use super::secrets::{api_tokens_in, secrets_in};

/// Everything that waits for the log waits for its lock. So nothing is searched or copied under the lock: a complete run logs a gigabyte.
#[derive(Default)]
struct Log {
    lines: Vec<Arc<str>>,
    /// The lines of each request, by its id.
    requests: HashMap<String, Vec<Arc<str>>>,
    leaks: Vec<String>,
}

static LOG: LazyLock<Mutex<Log>> = LazyLock::new(Mutex::default);
static CAPTURE: Once = Once::new();

const FILTER: &str = "info,docket=trace,axum=trace,axum_login=trace,hyper=trace,hyper_util=trace,reqwest=trace,\
                      sqlx=debug,tower=trace,tower_http=trace,tower_sessions=trace,tower_sessions_core=trace";

/// Starts capturing.
pub(super) fn capture() {
    CAPTURE.call_once(|| {
        tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(FILTER))
            .with_ansi(false)
            .with_writer(|| Writer)
            .init();
    });
}

/// The logged lines that contain `part`.
pub(crate) fn logged(part: &str) -> Vec<String> {
    let lines = LOG.lock().unwrap().lines.clone();
    lines.iter().filter(|line| line.contains(part)).map(|line| String::from(&**line)).collect()
}

/// The logged lines of the request with this id.
pub(crate) fn logged_of(request_id: &str) -> Vec<Arc<str>> {
    LOG.lock().unwrap().requests.get(request_id).cloned().unwrap_or_default()
}

/// How many statements were logged for the request with this id. A pool without a free connection opens another one and
/// prepares it within the request: those statements do not count, and neither do those that test a connection, or begin and end a write.
pub(crate) fn statements_of(request_id: &str) -> usize {
    logged_of(request_id)
        .iter()
        .filter(|line| line.contains("sqlx::query"))
        .filter(|line| {
            ![
                "PRAGMA ",
                "SELECT set_config(",
                "SELECT pg_is_in_recovery()",
                "SELECT COALESCE(current_setting('docket.route'",
                "SELECT 1 FROM pg_advisory_xact_lock(",
                "COMMIT",
            ]
            .iter()
            .any(|begin| line.contains(&format!("summary=\"{begin}")))
        })
        .count()
}

/// The lines that contained a secret.
pub(crate) fn leaks() -> Vec<String> {
    LOG.lock().unwrap().leaks.clone()
}

/// The id in the span of the request that logged this line.
fn request_of(line: &str) -> Option<&str> {
    let span = &line[memmem::find(line.as_bytes(), b"request{")?..];
    let (_, id) = span.split_once("id=\"")?;
    id.split('"').next()
}

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes).into_owned();
        let leaks = !secrets_in(&line).is_empty() || !api_tokens_in(&line).is_empty();
        let request = request_of(&line).map(str::to_owned);
        let shared: Arc<str> = line.as_str().into();
        let mut log = LOG.lock().unwrap();
        if let Some(request) = request {
            log.requests.entry(request).or_default().push(shared.clone());
        }
        log.lines.push(shared);
        if leaks {
            log.leaks.push(line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
