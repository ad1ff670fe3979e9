//! The life of deliveries and jobs: every state, every step from one to another, and what a step records. Two tables, which
//! `server::store::jobs::lifecycle` applies; nothing else changes a state. Pure.

mod attention;
mod delivery;
mod job;

pub use attention::{Attention, Standing};
pub use delivery::{DeliveryRow, DeliveryStep, Text};
pub use job::JobStep;

#[cfg(test)]
mod tests;
