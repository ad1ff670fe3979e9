//! Wrappers of DOM APIs. On the server an island only renders its children: see [`IS_HERE`].

mod fetch;
mod local;
mod present;

pub use fetch::*;
pub use local::*;
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
    /// How many jobs are news to this person, if that was asked for.
    pub unread: Option<u32>,
}

/// A choice for this browser as a cookie for a year; over https it is never sent in the clear.
pub fn choice_cookie(name: &str, value: &str, protocol: &str) -> String {
    let secure = if protocol == "https:" { "; Secure" } else { "" };
    [name, "=", value, "; Path=/; SameSite=Lax; Max-Age=31536000", secure].concat()
}

/// Url-encoded names and values, as a form posts them.
pub fn fields_of(fields: &[(&str, &str)]) -> String {
    let query = crate::model::address::with_query("", fields);
    query.trim_start_matches('?').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_https_a_choice_is_never_sent_in_the_clear() {
        assert!(choice_cookie("theme", "dark", "https:").starts_with("theme=dark; Path=/;"));
        assert!(choice_cookie("theme", "dark", "https:").ends_with("; Secure"));
        assert!(!choice_cookie("theme", "dark", "http:").contains("Secure"));
    }
}
