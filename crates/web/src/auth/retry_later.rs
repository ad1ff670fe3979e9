//! The header `Retry-After` of the current request's response.

use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

/// Sets the header.
pub fn retry_after(seconds: u64) {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.insert_header(RETRY_AFTER, HeaderValue::from(seconds));
    }
}
