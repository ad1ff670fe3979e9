//! Leptos as it is, except that what `#[island]` reads an island's properties with is the browser's own JSON reader: `serde_json`, which the
//! macro names as `::leptos::serde_json`, would be a tenth of the WebAssembly. On the server it is the real one.

pub use real::*;

#[cfg(feature = "hydrate")]
mod reader;

/// What the code of `#[island]` calls in the browser.
#[cfg(feature = "hydrate")]
pub mod serde_json {
    use serde::de::DeserializeOwned;

    pub use crate::reader::Unreadable;

    /// The `T` that is written in `text`.
    pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
        T::deserialize(crate::reader::Reader::of(text)?)
    }

    /// Only the server writes properties: what the macro does with them in the browser has no effect.
    pub fn to_string<T>(_: &T) -> Result<String, Unreadable> {
        Ok(String::new())
    }
}
