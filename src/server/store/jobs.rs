//! Jobs: prompts and their delivery, the queue, the list and its search, tags, templates and batches.

pub mod archive_and_tags;
pub mod batches;
pub mod drafts;
pub(crate) mod filter;
pub(crate) mod held;
pub mod imports;
pub mod intents;
pub mod job;
pub(crate) mod lifecycle;
pub mod list;
pub(crate) mod listed_job;
pub mod looked_at;
pub(crate) mod messages;
pub(crate) mod names;
pub mod pages;
pub mod polls;
pub mod queue;
pub mod saved_views;
pub(crate) mod search;
pub mod similar;
pub mod templates;
pub mod unresolved;
