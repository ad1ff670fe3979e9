//! Jobs: prompts and their delivery, the queue, the list and its search, tags, templates and batches.

pub mod archive_and_tags;
pub mod batches;
pub mod changes;
pub mod details;
mod direct_projects;
pub mod drafts;
pub(crate) mod filter;
pub mod imports;
pub mod intents;
pub mod job;
pub(crate) mod lifecycle;
pub mod list;
pub(crate) mod listed_job;
pub(crate) mod messages;
pub(crate) mod names;
pub(crate) mod on_hold;
pub mod pages;
pub mod polls;
pub mod queue;
pub(crate) mod run_times;
pub mod saved_views;
pub(crate) mod search;
pub mod seen;
pub mod similar;
pub(crate) mod states;
pub mod templates;
pub mod unresolved;
