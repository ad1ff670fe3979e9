//! Captures everything that this process logs, at the finest level, and searches it for secrets.

use std::io;
use std::sync::{LazyLock, Mutex, Once};

use tracing_subscriber::EnvFilter;

use super::secrets::{api_tokens_in, secrets_in};

#[derive(Default)]
struct Log {
    lines: Vec<String>,
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
    LOG.lock().unwrap().lines.iter().filter(|line| line.contains(part)).cloned().collect()
}

/// How many statements were logged for the request with this id. A pool without a free connection opens another one and
/// prepares it within the request: those statements do not count, and neither do those that begin and end a write.
pub(crate) fn statements_of(request_id: &str) -> usize {
    logged(&format!("id=\"{request_id}\""))
        .iter()
        .filter(|line| line.contains("sqlx::query"))
        .filter(|line| {
            !["PRAGMA ", "SELECT set_config(", "SELECT 1 FROM pg_advisory_xact_lock(", "COMMIT"]
                .iter()
                .any(|begin| line.contains(&format!("summary=\"{begin}")))
        })
        .count()
}

/// The lines that contained a secret.
pub(crate) fn leaks() -> Vec<String> {
    LOG.lock().unwrap().leaks.clone()
}

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes).into_owned();
        let leaks = !secrets_in(&line).is_empty() || !api_tokens_in(&line).is_empty();
        let mut log = LOG.lock().unwrap();
        if leaks {
            log.leaks.push(line.clone());
        }
        log.lines.push(line);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
