//! One POST of url-encoded fields from the browser: what a plain form would send.

use leptos::prelude::{document, window};
use leptos::server_fn::redirect::REDIRECT_HEADER;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::Reflect;
use web_sys::{Headers, RequestInit, Response};

use super::{Answer, json};
use crate::error::AppError;

/// How many bytes a page that goes away can leave behind to be sent.
const LAST_BYTES: usize = 60_000;

/// What came back.
pub struct Reply {
    pub answer: Answer,
    /// Where the server function wants the browser to go.
    pub redirect: Option<String>,
}

/// Posts url-encoded `fields` to the server function at `path`.
pub async fn post(path: &str, fields: &str) -> Reply {
    match exchange(path, fields).await {
        Ok(reply) => reply,
        Err(_) => Reply { answer: Err(AppError::unreachable()), redirect: None },
    }
}

async fn exchange(path: &str, fields: &str) -> Result<Reply, JsValue> {
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

    let response = JsFuture::from(window().fetch_with_str_and_init(path, &request)).await?;
    let response: Response = response.unchecked_into();
    let text = JsFuture::from(response.text()?).await?.as_string().unwrap_or_default();
    let answer = match response.ok() {
        true => Ok(text),
        // Something between us and Docket may answer too, and not in our words.
        false => Err(json::from_str(&text).unwrap_or_else(|_| AppError::internal())),
    };
    let headers = response.headers();
    let redirect = if headers.has(REDIRECT_HEADER)? { headers.get("Location")? } else { None };
    Ok(Reply { answer, redirect })
}
