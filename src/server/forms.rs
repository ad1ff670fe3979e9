//! Where a plain form leads after it was posted. A page with scripts stays where it is and shows the answer: going to its
//! own address would scroll it, and add a step to the way back.

use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use leptos::prelude::use_context;

/// Sends a browser without scripts to `path`, which must be one of ours.
pub fn lead_to(path: &str) {
    if is_plain() {
        leptos_axum::redirect(path);
    }
}

/// Whether the browser itself posts a form, and shows what it is led to.
pub fn is_plain() -> bool {
    let accepts = use_context::<Parts>()
        .and_then(|parts| parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).map(str::to_owned));
    accepts.is_some_and(|accepts| accepts.contains("text/html"))
}
