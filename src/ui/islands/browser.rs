//! Wrappers of DOM APIs. On the server an island only renders its children: see [`IS_HERE`].

mod fetch;
mod history;
mod keys;
mod local;
mod look;
mod notifications;
pub mod on_demand;
mod present;
mod storage;
mod typing;

pub use fetch::*;
pub use history::*;
pub use keys::*;
pub use local::*;
pub use look::*;
pub use notifications::*;
pub use present::*;
pub use storage::*;
pub use typing::*;

use leptos::prelude::Effect;

use model::error::AppError;

/// Whether this is the WebAssembly build. The server must not call anything else in this module.
pub const IS_HERE: bool = cfg!(feature = "hydrate");

/// The attribute of the document if the person has switched off the shortcuts of a single key.
pub const NO_SHORTCUTS: &str = "data-no-shortcuts";

/// An event handler for a view. The server compiles it to nothing.
pub fn handler<E>(action: impl Fn(E) + 'static) -> impl Fn(E) + 'static {
    move |event| {
        if IS_HERE {
            action(event);
        }
    }
}

/// Runs `action` now and after each change of a signal that it reads. One function for all of them: each `Effect::new` is 0.4 KB.
pub fn effect(action: impl Fn() + 'static) {
    run(Box::new(action));
}

fn run(action: Box<dyn Fn()>) {
    Effect::new(action);
}

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
