//! Reads the answers of our own server functions, by the browser's own JSON reader as the properties of islands are: what `serde_json`
//! brings for every type was a tenth of the WebAssembly. Must not read what others than Docket wrote.

use serde::de::DeserializeOwned;

/// It is not JSON, or not that of a `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// The `T` that is written in `text`.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    leptos::serde_json::from_str(text).map_err(|_| Unreadable)
}
