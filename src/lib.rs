//! Docket: a web dashboard for teams whose documentation is kept by an AI agent.
//!
//! One crate, built twice: `ssr` is the server, which renders every page; `hydrate` the WebAssembly with the islands of those pages.
//! `docs/ARCHITECTURE.md` has the code map and the invariants.

#![recursion_limit = "256"]

pub mod api;
#[cfg(feature = "ssr")]
pub mod app;
pub mod error;
pub mod model;
#[cfg(feature = "ssr")]
pub mod server;
pub mod ui;

/// Prepares the page for its islands; Leptos's start script then hydrates one after the other.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
