//! Server functions: public endpoints that check the caller and delegate. Must not contain rules of their own; bodies
//! may use `web` and `service`, signatures only `model` and `error`.

pub mod account;
pub mod analytics;
pub mod annotations;
pub mod api_tokens;
pub mod archive_and_tags;
pub mod audit;
pub mod batches;
pub mod checklist;
pub mod history;
pub mod job_pages;
pub mod jobs;
pub mod notifications;
pub mod palette;
pub mod passkeys;
pub mod pull_requests;
pub mod queue;
pub mod saved_views;
pub mod second_factor;
pub mod session;
pub mod templates;
pub mod upstream;
pub mod users;
pub mod webhooks;
