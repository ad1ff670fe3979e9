//! Responses to forms, and their additional headers. A page with scripts remains open and shows the response: a
//! navigation to the same URL would scroll it and add a history entry.

use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use leptos::prelude::use_context;
use serde::Serialize;

use model::error::AppError;
use service::response_size::Room;

/// The header of a response with a part of a list: the `cursor` of the rest.
const NEXT_HEADER: &str = "docket-next";

/// The header of a response to a repeated request: an earlier one with the same idempotency key did what it asks for.
pub const REPLAYED_HEADER: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Redirects a plain form to `path`, which must be a path of this server.
pub fn redirect_to(path: &str) {
    if is_plain() {
        leptos_axum::redirect(path);
    }
}

/// Adds a header with a number to the response.
pub fn respond_with_header(header: &'static str, number: i64) {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.insert_header(HeaderName::from_static(header), HeaderValue::from(number));
    }
}

/// Marks the response as that to an earlier request, with [`REPLAYED_HEADER`].
pub fn respond_as_replay() {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.insert_header(REPLAYED_HEADER, HeaderValue::from_static("true"));
    }
}

/// The part of a list at `cursor`; the response has the cursor of the rest in [`NEXT_HEADER`].
pub fn respond_with_part<T: Serialize>(items: Vec<T>, cursor: Option<&str>) -> Result<Vec<T>, AppError> {
    respond_within(Room::of_function(), items, cursor)
}

/// The first part of a list, after a change of it.
pub fn respond_with_first_part<T: Serialize>(items: Vec<T>) -> Result<Vec<T>, AppError> {
    respond_within(Room::of_change(), items, None)
}

fn respond_within<T: Serialize>(
    mut room: Room,
    items: Vec<T>,
    cursor: Option<&str>,
) -> Result<Vec<T>, AppError> {
    let part = room.part(items, cursor)?;
    if let Some(next) = part.next.and_then(|next| next.parse().ok()) {
        respond_with_header(NEXT_HEADER, next);
    }
    Ok(part.items)
}

/// Whether the browser itself posts the form, and follows the redirect.
pub fn is_plain() -> bool {
    use_context::<Parts>().is_some_and(|parts| accepts_html(&parts.headers))
}

/// Whether the client accepts HTML.
pub fn accepts_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Whether a browser prefetches a page.
pub fn is_prefetch(headers: &HeaderMap) -> bool {
    let purpose = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    ["sec-purpose", "purpose", "x-moz"].into_iter().filter_map(purpose).any(|why| why.contains("prefetch"))
}
