//! Page views by day: days and their rows, rollups, and the queries on them.

pub mod annotations;
pub mod history;
pub mod known_pages;
pub mod queries;
