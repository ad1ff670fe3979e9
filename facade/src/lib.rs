//! Leptos as it is, except that what `#[island]` reads an island's properties with is the browser's own JSON reader: `serde_json`, which the
//! macro names as `::leptos::serde_json`, would be a tenth of the WebAssembly. On the server it is the real one.

pub use real::*;

/// What the code of `#[island]` calls in the browser.
#[cfg(feature = "hydrate")]
pub mod serde_json {
    use serde::de::DeserializeOwned;

    /// It is not JSON, or not that of the type that was asked for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Error;

    /// The `T` that is written in `text`.
    pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
        let value = real::web_sys::js_sys::JSON::parse(text).map_err(|_| Error)?;
        serde_wasm_bindgen::from_value(value).map_err(|_| Error)
    }

    /// Only the server writes properties.
    pub fn to_string<T>(_: &T) -> Result<String, Error> {
        Err(Error)
    }
}
