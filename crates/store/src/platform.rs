//! Calls of the platform: the hourly budget and the circuit breakers.

pub mod budget;
pub mod circuits;
