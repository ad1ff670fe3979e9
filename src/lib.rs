//! Docket: a web dashboard for teams whose documentation is kept by an AI agent.
//!
//! One crate, built twice: `ssr` is the server, `hydrate` the WebAssembly front end.
//! `docs/ARCHITECTURE.md` has the code map and the invariants.

pub mod api;
pub mod app;
pub mod error;
pub mod model;
#[cfg(feature = "ssr")]
pub mod server;
pub mod ui;

/// Makes the page that the server rendered interactive.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    wasm_bindgen_futures::spawn_local(async {
        let body = leptos::tachys::dom::body();
        leptos::mount::hydrate_from_async(body, app::App).await.forget();
        ui::state::become_interactive().await;
    });
}
