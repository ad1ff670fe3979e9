//! The server's log, metrics and traces.

pub mod figures;
pub mod log_lines;
pub mod metrics;
pub mod panics;
pub mod trace_export;
mod trace_statements;
