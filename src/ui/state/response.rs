//! The HTTP status of a page that could not show what was asked for. Nothing happens in the browser.

use crate::error::ErrorCode;

#[cfg(feature = "ssr")]
pub fn set_status(code: ErrorCode) {
    let response = leptos::prelude::use_context::<leptos_axum::ResponseOptions>();
    if let (Some(response), Ok(status)) = (response, axum::http::StatusCode::from_u16(code.status())) {
        response.set_status(status);
    }
}

#[cfg(not(feature = "ssr"))]
pub fn set_status(_code: ErrorCode) {}
