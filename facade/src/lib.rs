//! Re-exports Leptos with another `serde_json`, which `#[island]` uses to decode props: in the browser it is backed by `JSON.parse`, because
//! `serde_json` itself would be a tenth of the WebAssembly. On the server it is the real one.

pub use real::*;

#[cfg(feature = "hydrate")]
mod reader;

/// The functions that the code of `#[island]` calls in the browser.
#[cfg(feature = "hydrate")]
pub mod serde_json {
    use serde::de::DeserializeOwned;

    pub use crate::reader::Unreadable;

    /// Decodes a `T`.
    pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
        T::deserialize(crate::reader::Reader::of(text)?)
    }

    /// Only the server encodes props; in the browser the macro's result is not used.
    pub fn to_string<T>(_: &T) -> Result<String, Unreadable> {
        Ok(String::new())
    }
}
