//! The panel as a whole: the real router on a real port, a temporary database, a scripted upstream. Each test says the
//! promise it keeps.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod helpers;

mod analytics_pages;
mod annotations;
mod assets;
mod attacks;
mod budget;
mod commands;
mod configuration;
mod connection;
mod create;
mod delivery;
mod drawn;
mod export;
mod faults;
mod fields;
mod follow_up;
mod forms;
mod gate;
mod headers;
mod history;
mod intents;
mod interruption;
mod key_file;
mod list;
mod movers;
mod origin;
mod page_report;
mod probes;
mod reading;
mod secrets;
mod serving;
mod session;
mod set_up;
mod trend;
mod views;
mod weather;
