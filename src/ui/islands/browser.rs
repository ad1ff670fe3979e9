//! Wrappers of DOM APIs. On the server an island only renders its children: see [`IS_HERE`].

mod fetch;
mod keys;
mod local;
mod present;
mod typing;

pub use fetch::*;
pub use keys::*;
pub use local::*;
pub use present::*;
pub use typing::*;

use model::error::AppError;

/// Whether this is the WebAssembly build. The server must not call anything else in this module.
pub const IS_HERE: bool = cfg!(feature = "hydrate");

/// The response of a server function.
pub struct Reply<T> {
    pub result: Result<T, AppError>,
    /// The redirect in the response.
    pub redirect: Option<String>,
    /// The project's revision, if it was requested.
    pub revision: Option<i64>,
    /// The number of this person's unread jobs, if it was requested.
    pub unread: Option<u32>,
}

/// A choice for this browser as a cookie for a year. Over https the cookie is never sent unencrypted.
pub fn choice_cookie(name: &str, value: &str, protocol: &str) -> String {
    let secure = if protocol == "https:" { "; Secure" } else { "" };
    [name, "=", value, "; Path=/; SameSite=Lax; Max-Age=31536000", secure].concat()
}

/// Url-encoded names and values, as a form posts them.
pub fn fields_of(fields: &[(&str, &str)]) -> String {
    let query = model::url_encoding::with_query("", fields);
    query.trim_start_matches('?').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_cookie_is_secure_over_https() {
        assert!(choice_cookie("theme", "dark", "https:").starts_with("theme=dark; Path=/;"));
        assert!(choice_cookie("theme", "dark", "https:").ends_with("; Secure"));
        assert!(!choice_cookie("theme", "dark", "http:").contains("Secure"));
    }
}
