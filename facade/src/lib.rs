//! Leptos with another `serde_json`. `#[island]` decodes props with `leptos::serde_json`; in the browser this one uses `JSON.parse`. It saves 27 KB
//! of each page's 176 KB (brotli). Remove this crate if it ever saves less than 10 KB: `leptos = "0.8"` in Cargo.toml replaces it. The server has the
//! real `serde_json`.

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
