//! Requests with `fetch`: a POST of url-encoded fields, as a form sends them, and a GET of a page.

use std::cell::Cell;

use leptos::prelude::{document, window};
use leptos::server_fn::ServerFn;
use leptos::server_fn::redirect::REDIRECT_HEADER;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::js_sys::{Date, Function, Reflect};
use leptos::web_sys::{Document, DomParser, Headers, RequestInit, Response, SupportedType};
use serde::de::DeserializeOwned;
use wasm_bindgen_futures::JsFuture;

use super::{Reply, find, now};
use crate::ui::islands::json;
use api::session::Logout;
use model::error::{AppError, ErrorCode};
use model::headers::{
    OPENED_HEADER, PERSON_FIELD, PERSON_HEADER, REFRESH_HEADER, REVISION_HEADER, UNREAD_HEADER,
};
use model::time::Timestamp;

/// Limit of the body of a `keepalive` request, in bytes.
const LAST_BYTES: usize = 60_000;

/// How long a request may take, in milliseconds. Without a limit, one that hangs after the computer slept would stop all polls.
const DEADLINE: u32 = 60_000;

/// The smallest difference of two clocks that counts, in milliseconds.
const CLOCK_TOLERANCE: i64 = 5_000;

thread_local! {
    static IS_SIGNING_OUT: Cell<bool> = const { Cell::new(false) };
    /// Whether the page has made no request since it was opened.
    static IS_OPENED: Cell<bool> = const { Cell::new(true) };
    /// How far the server's clock is ahead of the browser's, in milliseconds.
    static AHEAD: Cell<i64> = const { Cell::new(0) };
}

/// The next request counts as use of the session: the page came back by the Back button, without a request of its own.
pub fn count_as_opened() {
    IS_OPENED.set(true);
}

/// The time by the server's clock, as far as responses have told it: the browser's may be wrong.
pub fn server_now() -> Timestamp {
    Timestamp::from_millis(now().as_millis() + AHEAD.get())
}

/// Reads the server's clock. Its header has whole seconds, and the response was on its way: a small difference is none.
fn read_clock(response: &Headers) {
    let date = response.get("Date").ok().flatten().map_or(f64::NAN, |date| Date::parse(&date));
    let ahead = date as i64 - now().as_millis();
    if date.is_finite() && (ahead - AHEAD.get()).abs() > CLOCK_TOLERANCE {
        AHEAD.set(ahead);
    }
}

/// Posts url-encoded `fields` to the server function at `path` and decodes the response.
pub async fn post<T: DeserializeOwned>(path: &str, fields: &str) -> Reply<T> {
    let Reply { result, redirect, revision, unread } = post_raw(path, fields).await;
    let result = result.and_then(|text| json::from_str(&text).map_err(|_| AppError::internal()));
    Reply { result, redirect, revision, unread }
}

/// As [`post`], but returns the response as JSON text.
pub async fn post_raw(path: &str, fields: &str) -> Reply<String> {
    exchange(path, fields).await.unwrap_or_else(|_| Reply {
        result: Err(AppError::unreachable()),
        redirect: None,
        revision: None,
        unread: None,
    })
}

/// Whether the page signs out. Without a session other requests would fail, so there are none.
pub fn set_signing_out(signs_out: bool) {
    IS_SIGNING_OUT.set(signs_out);
}

pub fn is_signing_out() -> bool {
    IS_SIGNING_OUT.get()
}

/// Fetches and parses the page at `url` in the background.
pub async fn fetch_page(url: &str) -> Result<Document, AppError> {
    page(url, true).await
}

/// As [`fetch_page`], for a page that the user requested.
pub async fn visit_page(url: &str) -> Result<Document, AppError> {
    page(url, false).await
}

async fn exchange(path: &str, fields: &str) -> Result<Reply<String>, JsValue> {
    let headers = Headers::new()?;
    headers.set("Content-Type", "application/x-www-form-urlencoded")?;
    headers.set("Accept", "application/json")?;
    name_person(&headers)?;
    if IS_OPENED.get() {
        headers.set(OPENED_HEADER, "1")?;
    }
    let request = RequestInit::new();
    request.set_method("POST");
    request.set_headers(&headers);
    request.set_body(&fields.into());
    // Without `keepalive` the browser cancels the request when the page unloads.
    if document().hidden() && fields.len() < LAST_BYTES {
        Reflect::set(&request, &"keepalive".into(), &true.into())?;
    }
    let (response, text) = fetched(path, &request).await?;
    IS_OPENED.set(false);
    let result = match response.ok() {
        true => Ok(text),
        // A proxy may respond too, without our error format.
        false => Err(json::from_str(&text).unwrap_or_else(|_| AppError::internal())),
    };
    let headers = response.headers();
    let redirect = if headers.has(REDIRECT_HEADER)? { headers.get("Location")? } else { None };
    let revision = headers.get(REVISION_HEADER)?.and_then(|revision| revision.parse().ok());
    let unread = headers.get(UNREAD_HEADER)?.and_then(|unread| unread.parse().ok());
    Ok(Reply { result, redirect, revision, unread })
}

async fn page(url: &str, is_refresh: bool) -> Result<Document, AppError> {
    let (response, text) = page_response(url, is_refresh).await.map_err(|_| AppError::unreachable())?;
    if response.redirected() {
        return Err(AppError::new(ErrorCode::Unauthenticated, ""));
    }
    if matches!(response.headers().has(PERSON_HEADER), Ok(true)) {
        return Err(AppError::new(ErrorCode::Conflict, text));
    }
    if !response.ok() {
        return Err(AppError::internal());
    }
    let parsed = DomParser::new().and_then(|parser| parser.parse_from_string(&text, SupportedType::TextHtml));
    parsed.map_err(|_| AppError::unreachable())
}

async fn page_response(url: &str, is_refresh: bool) -> Result<(Response, String), JsValue> {
    let headers = Headers::new()?;
    headers.set("Accept", "text/html")?;
    name_person(&headers)?;
    // A background refresh must not extend the session or consume flash messages.
    if is_refresh {
        headers.set(REFRESH_HEADER, "1")?;
    }
    let request = RequestInit::new();
    request.set_headers(&headers);
    fetched(url, &request).await
}

/// Names the person that the page was made for, whom its forms name, too: the server refuses a request of the page of another one.
fn name_person(headers: &Headers) -> Result<(), JsValue> {
    let field = find(&["input[name=", PERSON_FIELD, "]"].concat());
    match field.and_then(|field| field.get_attribute("value")) {
        Some(person) => headers.set(PERSON_HEADER, &person),
        None => Ok(()),
    }
}

async fn fetched(url: &str, request: &RequestInit) -> Result<(Response, String), JsValue> {
    if is_signing_out() && url != Logout::PATH {
        return Err(JsValue::NULL);
    }
    // Not in every browser.
    if let Ok(signal) = deadline() {
        Reflect::set(request, &"signal".into(), &signal)?;
    }
    let response = JsFuture::from(window().fetch_with_str_and_init(url, request)).await?;
    let response: Response = response.unchecked_into();
    read_clock(&response.headers());
    let text = JsFuture::from(response.text()?).await?.as_string().unwrap_or_default();
    Ok((response, text))
}

/// `AbortSignal.timeout(DEADLINE)`: ends the request, also while its body arrives.
fn deadline() -> Result<JsValue, JsValue> {
    let signals = Reflect::get(&window(), &"AbortSignal".into())?;
    let timeout: Function = Reflect::get(&signals, &"timeout".into())?.dyn_into()?;
    timeout.call1(&signals, &DEADLINE.into())
}
