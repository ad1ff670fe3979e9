//! Where a plain form leads after it was posted. A page with scripts stays where it is and shows the answer: going to its
//! own address would scroll it, and add a step to the way back.

use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use leptos::prelude::use_context;

/// Sends a browser without scripts to `path`, which must be one of ours.
pub fn lead_to(path: &str) {
    let accepts = use_context::<Parts>()
        .and_then(|parts| parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).map(str::to_owned));
    if accepts.is_some_and(|accepts| accepts.contains("text/html")) {
        leptos_axum::redirect(path);
    }
}
