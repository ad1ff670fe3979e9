//! What the server reports about itself: metrics and traces.

pub mod figures;
pub mod instruments;
pub mod metrics;
pub mod traces;
