//! Calls of the platform: the hourly budget, the circuit breakers, and what administrators are told about them.

pub mod budget;
pub mod circuits;
pub(crate) mod direct_projects;
pub mod notices;
