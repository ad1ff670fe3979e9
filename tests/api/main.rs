//! The panel as a whole: the real router on a real port, a temporary database, a scripted upstream. Each test says the
//! promise it keeps.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod helpers;

mod adopt;
mod analytics_pages;
mod annotations;
mod archive;
mod assets;
mod attacks;
mod audit;
mod batch;
mod budget;
mod bulk;
mod clock_jumps;
mod commands;
mod configuration;
mod connection;
mod create;
mod delivery;
mod double;
mod drafts;
mod drawn;
mod export;
mod faults;
mod fields;
mod follow_up;
mod following;
mod forms;
mod gate;
mod headers;
mod history;
mod intents;
mod interruption;
mod key_file;
mod kill;
mod list;
mod movers;
mod origin;
mod page_report;
mod paths;
mod probes;
mod prompt_max;
mod queue;
mod reading;
mod resolve;
mod roles;
mod saved_views;
mod search;
mod secrets;
mod serving;
mod session;
mod set_up;
mod similar;
mod storage;
mod templates;
mod trend;
mod views;
mod weather;
mod webhooks;
