//! Carries flash messages from a plain form to the page that follows it. The message stays on the server; the browser keeps its id in a
//! cookie until that page.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum_login::tower_sessions::cookie::{Cookie, SameSite, time::Duration};
use leptos::server_fn::error::SERVER_FN_ERROR_HEADER;
use url::{Url, form_urlencoded};

use super::server_fns::error_in;
use crate::api::flash::FlashMessage;
use crate::server::config::PublicUrl;
use crate::server::flash::Done;
use crate::server::panel::Panel;

/// What is never kept of a form.
const SECRETS: [&str; 5] = ["password", "old", "new", "code", "token"];

const SECONDS: i64 = 300;

pub(super) async fn carry(State(panel): State<Panel>, request: Request, next: Next) -> Response {
    match *request.method() {
        Method::GET if is_navigation(request.headers()) => deliver(&panel, request, next).await,
        Method::POST if is_plain_form(&request) => collect(&panel, request, next).await,
        _ => next.run(request).await,
    }
}

/// Hands the message that waits for this browser to the page it asks for.
async fn deliver(panel: &Panel, mut request: Request, next: Next) -> Response {
    let Some(id) = id_in(request.headers(), &panel.public_url) else { return next.run(request).await };
    if let Some(message) = panel.flash.take(&id).await {
        request.extensions_mut().insert(message);
    }
    let mut response = next.run(request).await;
    set_cookie(&mut response, String::new(), 0, &panel.public_url);
    response
}

/// Keeps what came of a form, and leads to the page it was on.
async fn collect(panel: &Panel, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    // Whole already, and of a bounded size.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let done = Done::default();
    parts.extensions.insert(done.clone());
    let (form, came_from) = (parts.uri.path().to_owned(), page_of(&parts.headers));
    let mut response = next.run(Request::from_parts(parts, Body::from(body.clone()))).await;
    let (outcome, typed) = if response.headers().contains_key(SERVER_FN_ERROR_HEADER) {
        let (_, error) = error_in(response).await;
        let typed = form_urlencoded::parse(&body)
            .filter(|(name, _)| !SECRETS.contains(&name.as_ref()))
            .map(|(name, value)| (name.into_owned(), value.into_owned()));
        response = (StatusCode::SEE_OTHER, [(header::LOCATION, came_from)]).into_response();
        (Err(error), typed.collect())
    } else {
        let Some(said) = done.take() else { return response };
        (Ok(said), Vec::new())
    };
    let id = panel.flash.keep(FlashMessage { form, outcome, typed }).await;
    set_cookie(&mut response, id, SECONDS, &panel.public_url);
    response
}

/// Whether a person goes to a page. What a script fetches leaves the message for that.
fn is_navigation(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-mode").is_none_or(|mode| mode == "navigate")
}

fn is_plain_form(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    request.uri().path().starts_with("/api/") && accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Path and query of the page that the form was on; the origin check has made sure that it is ours.
fn page_of(headers: &HeaderMap) -> String {
    let referer = headers.get(header::REFERER).and_then(|referer| Url::parse(referer.to_str().ok()?).ok());
    let Some(referer) = referer else { return "/".to_owned() };
    let query = referer.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}{query}", referer.path())
}

fn id_in(headers: &HeaderMap, public_url: &PublicUrl) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(|line| Cookie::split_parse(line).filter_map(Result::ok));
    cookies.find(|cookie| cookie.name() == name(public_url)).map(|cookie| cookie.value().to_owned())
}

fn set_cookie(response: &mut Response, id: String, seconds: i64, public_url: &PublicUrl) {
    let cookie = Cookie::build((name(public_url), id))
        .path("/")
        .http_only(true)
        .secure(public_url.is_https())
        .same_site(SameSite::Lax)
        .max_age(Duration::seconds(seconds));
    if let Ok(cookie) = HeaderValue::from_str(&cookie.to_string()) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

/// A browser takes `__Host-` only over https.
fn name(public_url: &PublicUrl) -> &'static str {
    if public_url.is_https() { "__Host-docket-flash" } else { "docket-flash" }
}
