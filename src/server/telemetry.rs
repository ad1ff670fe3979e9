//! The server's log, metrics and traces.

pub mod figures;
pub mod instruments;
pub mod log_lines;
pub mod metrics;
pub mod panics;
pub mod traces;
