//! The error for a person who has to wait before the next attempt.

use std::time::Duration;

use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use model::error::{AppError, ErrorCode};

/// Sets the header `Retry-After` of the response.
pub(super) fn retry_after(seconds: u64) {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.insert_header(RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// The error for a person who has to wait before the next attempt.
pub(super) fn too_often(wait: Duration) -> AppError {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    retry_after(seconds);
    AppError::new(
        ErrorCode::TooManyAttempts,
        format!("Too many tries. Wait {seconds} seconds, then try again."),
    )
}
