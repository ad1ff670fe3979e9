//! Everything that runs only on the server, behind the feature `ssr`.

pub mod analytics;
pub mod audit;
pub mod auth;
pub mod code_host;
pub mod command_line;
pub mod commands;
pub mod config;
pub mod current_key;
pub mod history;
pub mod http;
pub mod http_client;
pub mod jobs;
pub mod nfc;
pub mod people;
pub mod process;
pub mod query_permits;
pub mod response_size;
pub mod saved_views;
pub mod settings;
pub mod state;
pub mod store;
pub mod telemetry;
pub mod upstream;
pub mod waits;
pub mod webhooks;
pub mod work;
