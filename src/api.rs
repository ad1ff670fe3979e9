//! Server functions: public endpoints, each guarded, each delegating at once.
//! Must not contain rules of its own; bodies may use `server::`, signatures only `model`, `error` and [`flash`].

pub mod account;
pub mod analytics;
pub mod annotations;
pub mod audit;
pub mod batches;
pub mod filing;
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
