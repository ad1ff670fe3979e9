//! The panel as a whole: the real router on a real port, a temporary database, a scripted upstream. Each test says the
//! promise it keeps.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod helpers;

mod archive;
mod assets;
mod attacks;
mod budget;
mod bulk;
mod commands;
mod configuration;
mod connection;
mod create;
mod delivery;
mod faults;
mod fields;
mod follow_up;
mod forms;
mod gate;
mod headers;
mod intents;
mod interruption;
mod key_file;
mod list;
mod origin;
mod probes;
mod reading;
mod saved_views;
mod search;
mod secrets;
mod serving;
mod session;
mod set_up;
mod views;
mod weather;
