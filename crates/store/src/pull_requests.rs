//! The pull requests of jobs. Triggers of the schema add a row for each link; only this module writes what code hosts report.

mod checks;
mod filter;
mod hosts;
mod open;
mod reviews;
mod row;
mod stale;

pub use checks::{CheckResult, DueCheck, Window};
pub(crate) use filter::{by_filter, condition, counts};
pub use hosts::{HostMemory, HostStatus, PAUSE_MAX as HOST_PAUSE_MAX};
pub(crate) use row::{StoredPullRequest, pull_request_of, state_of};
