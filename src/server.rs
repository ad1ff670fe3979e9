//! Everything that runs only on the server, behind the feature `ssr`.

pub mod assets;
pub mod command_line;
pub mod commands;
pub mod http;
