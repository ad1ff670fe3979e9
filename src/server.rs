//! Everything that runs only on the server, behind the feature `ssr`.

pub mod assets;
pub mod auth;
pub mod command_line;
pub mod commands;
pub mod http;
pub mod process;
pub mod request;
pub mod state;
pub mod telemetry;
