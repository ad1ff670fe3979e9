//! Server functions: public endpoints, each guarded, each delegating at once.
//! Must not contain rules of its own; bodies may use `server::`, signatures only `model` and `error`.

pub mod account;
pub mod analytics;
pub mod annotations;
pub mod batches;
pub mod call;
pub mod filing;
pub mod history;
pub mod jobs;
pub mod queue;
pub mod reading;
pub mod saved_views;
pub mod second_factor;
pub mod session;
pub mod settings;
pub mod templates;
pub mod upstream;
pub mod users;
pub mod webhooks;
