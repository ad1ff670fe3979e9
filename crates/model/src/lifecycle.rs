//! The states of deliveries and jobs, the steps between them, and the records of each step. `store::jobs::lifecycle`
//! applies the two tables; nothing else changes a state. Pure.

mod attention;
mod delivery;
mod job;

pub use attention::{Attention, Standing};
pub use delivery::{DeliveryRow, DeliveryStep, Text};
pub use job::JobStep;

#[cfg(test)]
mod tests;
