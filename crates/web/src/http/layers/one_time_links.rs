//! One-time links of the old form, with their token in the query: the browser is redirected at once to a URL without
//! it.

use axum::extract::{Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use url::form_urlencoded;

use crate::auth::step_cookie::{self, Purpose, link};
use crate::state::AppState;
use model::links;
use service::auth::one_time_link;

pub(super) async fn exchange(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let query = request.uri().query().unwrap_or_default();
    let mut fields = form_urlencoded::parse(query.as_bytes());
    let sent = fields.find(|(name, _)| name == "token").map(|(_, token)| token.into_owned());
    let Some(sent) = sent.filter(|_| reads && request.uri().path() == links::SET_UP) else {
        return next.run(request).await;
    };
    let cookie: HeaderValue = match one_time_link::token_in(&sent) {
        Some(token) => link::cookie(token, &state.public_url),
        None => step_cookie::set(Purpose::OneTimeLink, "", 0, &state.public_url),
    };
    ([(SET_COOKIE, cookie)], Redirect::to(links::SET_UP)).into_response()
}
