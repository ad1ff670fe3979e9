//! Server functions: public endpoints, each guarded, each delegating at once.
//! Must not contain rules of its own; bodies may use `server::`, signatures only `model`, `error` and [`flash`].

pub mod account;
pub mod analytics;
pub mod annotations;
pub mod archive_and_tags;
pub mod audit;
pub mod batches;
pub mod flash;
pub mod history;
pub mod jobs;
pub mod queue;
pub mod saved_views;
pub mod second_factor;
pub mod session;
pub mod templates;
pub mod upstream;
pub mod users;
pub mod webhooks;

/// The header of what an open page asks for by itself. Such a request is no use of the session, spends no call upstream that it can do
/// without, and is told nothing that is told once.
pub const REFRESH_HEADER: &str = "docket-refresh";
