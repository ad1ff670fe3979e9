//! The server without its pages: the command line, requests and their checks, the JSON API and MCP, the application state, metrics and traces,
//! and the process.

pub mod auth;
pub mod command_line;
pub mod commands;
pub mod http;
pub mod process;
pub mod request;
pub mod state;
pub mod telemetry;
