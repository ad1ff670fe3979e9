//! Everything that runs only on the server, behind the feature `ssr`.
//! Only `router` may use `app` and `ui`.

pub mod account;
pub mod analytics;
pub mod assets;
pub mod audit;
pub mod auth;
pub mod backups;
pub mod blocking;
pub mod clock;
pub mod commands;
pub mod config;
pub mod cookie;
pub mod emulator;
pub mod error_response;
pub mod figures;
pub mod flash;
pub mod forms;
pub mod heartbeat;
pub mod history;
pub mod http_client;
pub mod instruments;
pub mod jobs;
pub mod listen;
pub mod metrics;
pub mod people;
pub mod retention;
pub mod router;
pub mod saved_views;
pub mod service_manager;
pub mod sheet;
pub mod state;
pub mod store;
pub mod tasks;
pub mod turns;
pub mod upstream;
pub mod webhooks;
