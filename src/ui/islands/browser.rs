//! Wrappers of DOM APIs. On the server an island only renders its children: see [`IS_HERE`].

mod fetch;
mod present;

pub use fetch::*;
pub use present::*;

use crate::error::AppError;

/// Whether this is the WebAssembly build. Nothing else in this module may be called on the server.
pub const IS_HERE: bool = cfg!(feature = "hydrate");

/// The response of a server function.
pub struct Reply<T> {
    pub answer: Result<T, AppError>,
    /// The redirect that the response asks for.
    pub redirect: Option<String>,
    /// The project's revision, if it was asked for.
    pub revision: Option<i64>,
}

/// Url-encoded names and values, as a form posts them.
pub fn fields_of(fields: &[(&str, &str)]) -> String {
    let query = crate::model::address::with_query("", fields);
    query.trim_start_matches('?').to_owned()
}
