//! Everything that runs only on the server, behind the feature `ssr`.

pub mod analytics;
pub mod audit;
pub mod auth;
pub mod caller;
pub mod command_line;
pub mod commands;
pub mod history;
pub mod http;
pub mod jobs;
pub mod people;
pub mod process;
pub mod pull_requests;
pub mod response_size;
pub mod saved_views;
pub mod state;
pub mod telemetry;
pub mod webhooks;
