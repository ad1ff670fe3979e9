//! The database itself: other processes on it, copies, upgrades, retention, and clocks that were set back.

pub mod clock_rollback;
pub mod clock_state;
pub mod copy;
pub mod figures;
pub mod instances;
pub(crate) mod normalization;
pub mod restored;
pub mod retention;
pub mod upgrade;
