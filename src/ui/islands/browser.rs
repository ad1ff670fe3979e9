//! What only a browser can do. On the server an island renders its children and does nothing else: see [`IS_HERE`].

mod fetch;
mod present;

pub use fetch::*;
pub use present::*;

use crate::error::AppError;

/// Whether this is the browser's half of the crate. Whatever else is in this module must not be called where it is not.
pub const IS_HERE: bool = cfg!(feature = "hydrate");

/// What came back from a server function.
pub struct Reply<T> {
    pub answer: Result<T, AppError>,
    /// Where the server function wants the browser to go.
    pub redirect: Option<String>,
}

/// Names and values as a form would post them: url-encoded.
pub fn fields_of(fields: &[(&str, &str)]) -> String {
    let query = crate::model::address::with_query("", fields);
    query.trim_start_matches('?').to_owned()
}
