//! Test fixtures: [`TestApp`] runs the app, [`Browser`] uses it, the upstream is scripted, and logs are searched for
//! secrets.

mod app;
mod archive;
mod authenticator;
mod bomb;
mod browser;
pub(crate) mod code_host;
mod emulator;
mod ledger;
mod logs;
mod markup;
mod objects;
mod paused_upstream;
mod people;
mod process;
mod provider;
mod raw;
mod secrets;
mod session;
mod snapshots;
pub(crate) mod sources;
mod tls;
mod upstream;
pub(crate) mod work;

use std::time::{Duration, Instant};

pub(crate) use app::{Settings, TestApp, password_hash};
pub(crate) use archive::{Archive, Rows, Written, counts, day, days, rows};
pub(crate) use authenticator::Authenticator;
pub(crate) use bomb::gzip_bomb;
pub(crate) use browser::{Browser, TestResponse, fields};
pub(crate) use emulator::EmulatedUpstream;
pub(crate) use ledger::Ledger;
pub(crate) use logs::{leaks, logged, logged_of, statements_of};
pub(crate) use markup::{content_tags, figures, paragraphs, table_rows, tags};
pub(crate) use objects::{New, with_batch};
pub(crate) use paused_upstream::PausedUpstream;
pub(crate) use people::token;
pub(crate) use process::{Finished, Installation, Served, WITHOUT_READER, is_private};
pub(crate) use provider::{Provider, config as single_sign_on};
pub(crate) use raw::{Act, RawUpstream, black_hole, read_request, refusing_address};
pub(crate) use secrets::{CLIENT_SECRET, KEY, METRICS_TOKEN, NEW_KEY, PASSWORD, api_tokens_in, secrets_in};
pub(crate) use snapshots::{picked, steady, steady_text};
pub(crate) use tls::{Proxy, TlsUpstream, certificate};
pub(crate) use upstream::{detached_job, job_with, json, remote_job, views_answer};

/// How long a condition may take to become true. Long, so that only failures reach it, on a busy machine, too.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long one operation may take: a request, a command, the start or the stop of an app. It is longer than every timeout of the
/// app, and long enough for a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(150);

/// Waits until `probe` returns something, and returns that.
pub(crate) async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A client for plain http that uses no proxy and follows no redirect; it does not read the system's certificates. reqwest uses
/// the cryptography provider of its process, which is otherwise installed only if a test runs the app in its own process.
pub(crate) fn http_client() -> reqwest::ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .tls_certs_only([])
        .timeout(DEADLINE)
        // The server closes connections without requests after 30 s.
        .pool_idle_timeout(Duration::from_secs(10))
}

/// The result of an operation, which must end within [`DEADLINE`].
pub(crate) async fn within_deadline<T>(what: &str, operation: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(DEADLINE, operation).await;
    ended.unwrap_or_else(|_| panic!("no end within {} s: {what}", DEADLINE.as_secs()))
}

/// A new intent, as in a rendered form.
pub(crate) fn intent() -> String {
    uuid::Uuid::new_v4().to_string()
}
