//! Requests from the browser: one POST of url-encoded fields, as a plain form would send it, and the page anew.

use leptos::prelude::{document, window};
use leptos::server_fn::redirect::REDIRECT_HEADER;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::js_sys::Reflect;
use leptos::web_sys::{Document, DomParser, Headers, RequestInit, Response, SupportedType};
use serde::de::DeserializeOwned;
use wasm_bindgen_futures::JsFuture;

use super::Reply;
use crate::api::REFRESH_HEADER;
use crate::error::{AppError, ErrorCode};
use crate::ui::islands::json;

/// How many bytes a page that goes away can leave behind to be sent.
const LAST_BYTES: usize = 60_000;

/// Posts url-encoded `fields` to the server function at `path`, and reads what it answers.
pub async fn post<T: DeserializeOwned>(path: &str, fields: &str) -> Reply<T> {
    let Reply { answer, redirect } = post_raw(path, fields).await;
    let answer = answer.and_then(|text| json::from_str(&text).map_err(|_| AppError::internal()));
    Reply { answer, redirect }
}

/// As [`post`], with the answer as the JSON text it came as.
pub async fn post_raw(path: &str, fields: &str) -> Reply<String> {
    exchange(path, fields)
        .await
        .unwrap_or_else(|_| Reply { answer: Err(AppError::unreachable()), redirect: None })
}

/// The page at `address` as the server renders it now.
pub async fn fetch_page(address: &str) -> Result<Document, AppError> {
    page(address).await.unwrap_or_else(|_| Err(AppError::unreachable()))
}

async fn exchange(path: &str, fields: &str) -> Result<Reply<String>, JsValue> {
    let headers = Headers::new()?;
    headers.set("Content-Type", "application/x-www-form-urlencoded")?;
    headers.set("Accept", "application/json")?;
    let request = RequestInit::new();
    request.set_method("POST");
    request.set_headers(&headers);
    request.set_body(&fields.into());
    // A page that is being left would take the request with it.
    if document().hidden() && fields.len() < LAST_BYTES {
        Reflect::set(&request, &"keepalive".into(), &true.into())?;
    }
    let (response, text) = fetched(path, &request).await?;
    let answer = match response.ok() {
        true => Ok(text),
        // Something between us and Docket may answer too, and not in our words.
        false => Err(json::from_str(&text).unwrap_or_else(|_| AppError::internal())),
    };
    let headers = response.headers();
    let redirect = if headers.has(REDIRECT_HEADER)? { headers.get("Location")? } else { None };
    Ok(Reply { answer, redirect })
}

async fn page(address: &str) -> Result<Result<Document, AppError>, JsValue> {
    let headers = Headers::new()?;
    headers.set("Accept", "text/html")?;
    // No person goes to the page: the session is not used by it, and what waits to be told once is not for it.
    headers.set(REFRESH_HEADER, "1")?;
    let request = RequestInit::new();
    request.set_headers(&headers);
    let (response, text) = fetched(address, &request).await?;
    if response.redirected() {
        return Ok(Err(AppError::new(ErrorCode::Unauthenticated, "")));
    }
    if !response.ok() {
        return Ok(Err(AppError::internal()));
    }
    Ok(Ok(DomParser::new()?.parse_from_string(&text, SupportedType::TextHtml)?))
}

async fn fetched(address: &str, request: &RequestInit) -> Result<(Response, String), JsValue> {
    let response = JsFuture::from(window().fetch_with_str_and_init(address, request)).await?;
    let response: Response = response.unchecked_into();
    let text = JsFuture::from(response.text()?).await?.as_string().unwrap_or_default();
    Ok((response, text))
}
