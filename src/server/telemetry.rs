//! The server's metrics and traces.

pub mod figures;
pub mod instruments;
pub mod metrics;
pub mod traces;
