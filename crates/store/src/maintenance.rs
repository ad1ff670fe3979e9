//! Maintenance of the database: other processes on it, copies, upgrades, retention, and clock rollbacks.

pub mod clock_rollback;
pub mod clock_state;
pub mod copy;
pub mod figures;
pub mod instances;
pub mod restored;
pub mod retention;
pub mod upgrade;
