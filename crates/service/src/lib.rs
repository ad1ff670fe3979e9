//! What Docket does: jobs, page views, people, authentication, the audit log, pull requests and webhooks. It knows neither the router nor the
//! pages.

pub mod analytics;
pub mod audit;
pub mod auth;
pub mod caller;
pub mod clock_check;
pub mod heartbeat;
pub mod history;
pub mod jobs;
pub mod people;
pub mod pull_requests;
pub mod response_size;
pub mod retention;
pub mod saved_views;
pub mod sheet;
pub mod webhooks;
