//! Server functions: public endpoints, each guarded, each delegating at once.
//! Must not contain rules of its own; bodies may use `server::`, signatures only `model` and `error`.

pub mod analytics;
pub mod annotations;
pub mod call;
pub mod history;
pub mod jobs;
pub mod reading;
pub mod session;
pub mod upstream;
