//! A short description of the browser of a session. The header `User-Agent` is much longer and may contain anything.

use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use leptos::prelude::use_context;

/// The browser of the current request.
pub fn of_request() -> String {
    use_context().map(|parts| of(&parts)).unwrap_or_default()
}

/// The browser of a request.
pub(super) fn of(parts: &Parts) -> String {
    browser_on_system(parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default())
}

/// `Firefox on Linux`, from the header `User-Agent`.
fn browser_on_system(user_agent: &str) -> String {
    let named = |names: &[(&str, &'static str)]| {
        names.iter().find(|(sign, _)| user_agent.contains(sign)).map(|(_, name)| *name)
    };
    match (named(BROWSERS), named(SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => "Unknown program".to_owned(),
    }
}

/// The first match wins: browsers also list the ones they descend from.
const BROWSERS: &[(&str, &str)] = &[
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];

const SYSTEMS: &[(&str, &str)] = &[
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agent_becomes_a_short_description() {
        for (user_agent, expected) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1",
                "Safari on iPhone",
            ),
            ("curl/8.5.0", "curl"),
            ("<script>alert(1)</script>", "Unknown program"),
            ("", "Unknown program"),
        ] {
            assert_eq!(browser_on_system(user_agent), expected);
        }
    }
}
