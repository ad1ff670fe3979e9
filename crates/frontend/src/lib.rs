//! The WebAssembly module that cargo-leptos builds: the islands of the crate `docket`, and where the browser starts them.

/// Prepares the page for its islands; Leptos's start script then hydrates them one by one.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    docket::hydrate_islands();
}
