//! Docket: a web dashboard for teams whose documentation is maintained by an AI agent.
//!
//! This crate is built twice: with `ssr` as the server, which renders every page, and with `hydrate` as the islands of those pages, from
//! which `crates/frontend` makes the WebAssembly module. `docs/ARCHITECTURE.md` has the code map and the invariants.

#![recursion_limit = "256"]

#[cfg(feature = "ssr")]
pub mod app;
#[cfg(feature = "ssr")]
pub mod server;
pub mod ui;

#[cfg(feature = "hydrate")]
pub use leptos::mount::hydrate_islands;
