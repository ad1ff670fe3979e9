//! What only a browser can do, and what stands in for it on the server. Nothing else in `ui::islands` is compiled conditionally,
//! except how answers are read (`json`).

#[cfg(not(feature = "hydrate"))]
mod absent;
#[cfg(feature = "hydrate")]
mod fetch;
#[cfg(feature = "hydrate")]
mod present;

#[cfg(not(feature = "hydrate"))]
pub use absent::*;
#[cfg(feature = "hydrate")]
pub use fetch::*;
#[cfg(feature = "hydrate")]
pub use present::*;

use crate::error::AppError;

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
