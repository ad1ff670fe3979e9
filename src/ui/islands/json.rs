//! Decodes responses of our server functions with the browser's `JSON.parse`, as for the props of islands: `serde_json` for
//! every type was a tenth of the WebAssembly. Must decode only text that Docket's server wrote.

use serde::de::DeserializeOwned;

/// The text is not JSON, or not that of a `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// Decodes a `T`.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    leptos::serde_json::from_str(text).map_err(|_| Unreadable)
}
