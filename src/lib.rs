//! Docket: a web dashboard for teams whose documentation is maintained by an AI agent.
//!
//! One crate, built twice: with `ssr` as the server, which renders every page, and with `hydrate` as the WebAssembly
//! module with the islands of those pages. `docs/ARCHITECTURE.md` has the code map and the invariants.

#![recursion_limit = "256"]

pub mod api;
#[cfg(feature = "ssr")]
pub mod app;
pub mod error;
pub mod model;
#[cfg(feature = "ssr")]
pub mod server;
pub mod ui;

/// Prepares the page for its islands; Leptos's start script then hydrates them one by one.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
