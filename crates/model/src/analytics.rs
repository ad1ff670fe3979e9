//! Queries and reports of page views. Pure. Days are UTC days; ranges are inclusive at both ends.

pub mod agreement;
pub mod ai;
pub mod choice;
pub mod days;
pub mod effect;
pub mod pages;
pub mod query;
pub mod report;
pub mod trend;
