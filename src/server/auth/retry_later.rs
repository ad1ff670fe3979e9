//! The error of somebody who has to wait before the next attempt. Must not count attempts.

use std::time::Duration;

use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use crate::error::{AppError, ErrorCode};

/// Tells the browser when it may try again.
pub(super) fn retry_after(seconds: u64) {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.insert_header(RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// The error for somebody who has to wait before the next attempt.
pub(super) fn too_often(wait: Duration) -> AppError {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    retry_after(seconds);
    AppError::new(
        ErrorCode::TooManyAttempts,
        format!("Too many tries. Wait {seconds} seconds, then try again."),
    )
}
