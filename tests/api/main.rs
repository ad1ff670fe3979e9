//! The panel as a whole: the real router on a real port, a temporary database, a scripted upstream. Each test says the
//! promise it keeps.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod helpers;

mod adopt;
mod analytics_pages;
mod annotations;
mod archive;
mod assets;
mod batch;
mod budget;
mod bulk;
mod clock_jumps;
mod commands;
mod configuration;
mod connection;
mod create;
mod cross_site;
mod delivery;
mod double;
mod drafts;
mod drawn;
mod export;
mod faults;
mod fields;
mod file_modes;
mod follow_up;
mod following;
mod forms;
mod gate;
mod history;
mod intents;
mod interruption;
mod key_file;
mod kill;
mod limits;
mod list;
mod movers;
mod page_report;
mod paths;
mod policy;
mod probes;
mod prompt_max;
mod queue;
mod reading;
mod redirects;
mod resolve;
mod saved_views;
mod search;
mod secrets;
mod serving;
mod session;
mod set_up;
mod similar;
mod storage;
mod stored_text;
mod templates;
mod threat_model;
mod trend;
mod views;
mod weather;
mod webhooks;
