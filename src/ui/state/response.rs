//! What a page says beside its content: the HTTP status where it could not show what was asked for, and what its browser needs.
//! Nothing happens in the browser.

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

/// Has the browser fetch a piece of the WebAssembly as soon as it has the head of the page.
#[cfg(feature = "ssr")]
pub fn fetch_with_it(piece: &'static str) {
    leptos::prefetch_lazy_fn_on_server(piece);
}

#[cfg(not(feature = "ssr"))]
pub fn fetch_with_it(_piece: &'static str) {}
