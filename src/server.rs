//! Everything that runs only on the server, behind the feature `ssr`.

pub mod analytics;
pub mod audit;
pub mod auth;
pub mod caller;
pub mod code_host;
pub mod command_line;
pub mod commands;
pub mod current_key;
pub mod history;
pub mod http;
pub mod jobs;
pub mod people;
pub mod process;
pub mod response_size;
pub mod saved_views;
pub mod state;
pub mod telemetry;
pub mod upstream;
pub mod webhooks;
