//! Reads the answers of our own server functions, by the browser's own JSON reader: what `serde_json` brings for every type was a tenth of
//! the WebAssembly. Must not read what others than Docket wrote.

use serde::de::DeserializeOwned;

/// It is not JSON, or not that of a `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// The `T` that is written in `text`.
#[cfg(feature = "hydrate")]
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    let value = web_sys::js_sys::JSON::parse(text).map_err(|_| Unreadable)?;
    serde_wasm_bindgen::from_value(value).map_err(|_| Unreadable)
}

/// On the server there are no answers to read.
#[cfg(not(feature = "hydrate"))]
pub fn from_str<T: DeserializeOwned>(_text: &str) -> Result<T, Unreadable> {
    Err(Unreadable)
}
