//! Sign-in steps that are not server functions: separate server-rendered pages, and the redirects to the single sign-on
//! provider and back.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use leptos::server_fn::ServerFn;
use serde::Deserialize;

use super::pages::theme_of;
use crate::ui::pages::sign_in_step::{self, Document};
use api::passkeys::UsePasskey;
use api::session::EnterCode;
use base::instruments::SignInMeans;
use model::audit::{Action, Actor, AuditEvent};
use model::error::{AppError, ErrorCode};
use model::flash::PendingFlash;
use model::links::{ACCOUNT, PASSWORD};
use model::passkey::StepPasskey;
use service::auth::single_sign_on::{AuthorizationResponse, CALLBACK, PENDING_SIGN_IN_SECONDS};
use web::auth::client_ip;
use web::auth::sign_in::{self, CODE_PAGE};
use web::auth::step_cookie::{self, Purpose};
use web::request::error_response::{ErrorResponse, status_of};
use web::state::AppState;

/// These pages have no scripts.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The page for the second factor of people with passkeys has one script, which calls server functions.
const POLICY_WITH_SCRIPT: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Where password managers look for the page on which people change their password.
const CHANGE_PASSWORD: &str = "/.well-known/change-password";

/// The path that redirects to the provider.
const SETTING_OUT: &str = "/login/sso";

pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(CODE_PAGE, get(code_page))
        .route(CHANGE_PASSWORD, get(async || Redirect::to(&format!("{ACCOUNT}#{PASSWORD}"))))
        .route(SETTING_OUT, get(start_sign_in))
        .route(CALLBACK, get(finish_sign_in))
}

/// The fields of a query string; repeated fields make it invalid.
type Fields<T> = Result<Query<T>, QueryRejection>;

async fn code_page(
    State(state): State<AppState>,
    headers: HeaderMap,
    pending: Option<Extension<PendingFlash>>,
) -> Result<Response, ErrorResponse> {
    let token = step_cookie::get(Purpose::SecondFactor, &headers, &state.public_url);
    let Some(accepted) = state.passkeys.accepted_in_step(&token.unwrap_or_default()).await? else {
        return Ok(Redirect::to("/login").into_response());
    };
    let forms = [EnterCode::PATH, UsePasskey::PATH];
    let message =
        pending.and_then(|Extension(pending)| forms.into_iter().find_map(|form| pending.for_form(form)));
    let refused = message.and_then(|message| message.problem().map(|error| error.message.clone()));
    let policy = match accepted.passkey {
        StepPasskey::Usable => POLICY_WITH_SCRIPT,
        StepPasskey::None | StepPasskey::Unusable => POLICY,
    };
    let page = sign_in_step::code(&document(&state, &headers), accepted, refused);
    Ok(shown(StatusCode::OK, policy, page))
}

#[derive(Default, Deserialize)]
struct NextPage {
    next: Option<String>,
}

async fn start_sign_in(
    State(state): State<AppState>,
    headers: HeaderMap,
    next_page: Fields<NextPage>,
) -> Response {
    let Query(next_page) = next_page.unwrap_or_default();
    let redirect = match &state.single_sign_on {
        Some(single_sign_on) => single_sign_on.begin(next_page.next.as_deref()).await,
        None => Err(AppError::not_found("Single sign-on is not configured.")),
    };
    match redirect {
        Ok(redirect) => {
            let cookie = step_cookie::set(
                Purpose::SingleSignOn,
                &redirect.cookie,
                PENDING_SIGN_IN_SECONDS,
                &state.public_url,
            );
            (AppendHeaders([(SET_COOKIE, cookie)]), Redirect::to(&redirect.address)).into_response()
        }
        Err(error) => refused(&state, &headers, &error),
    }
}

/// The redirect back from the provider. It ends this sign-in attempt in any case.
async fn finish_sign_in(
    State(state): State<AppState>,
    parts: Parts,
    response: Fields<AuthorizationResponse>,
) -> Response {
    let Query(response) = response.unwrap_or_default();
    let outcome = signed_in(&state, &parts, response).await;
    state.instruments.sign_in(SignInMeans::SingleSignOn, outcome.as_ref().err());
    let response = match outcome {
        Ok(next) => Redirect::to(&next).into_response(),
        Err(error) => {
            note_refusal(&state, &parts, &error).await;
            refused(&state, &parts.headers, &error)
        }
    };
    let forgotten = step_cookie::set(Purpose::SingleSignOn, "", 0, &state.public_url);
    (AppendHeaders([(SET_COOKIE, forgotten)]), response).into_response()
}

async fn signed_in(
    state: &AppState,
    parts: &Parts,
    response: AuthorizationResponse,
) -> Result<String, AppError> {
    let single_sign_on = state.single_sign_on.as_ref();
    let single_sign_on =
        single_sign_on.ok_or_else(|| AppError::not_found("Single sign-on is not configured."))?;
    let cookie = step_cookie::get(Purpose::SingleSignOn, &parts.headers, &state.public_url);
    let (user, next) =
        single_sign_on.finish(cookie.as_deref(), response, client_ip::of(&parts.extensions)).await?;
    sign_in::open_for(state, parts, &user).await?;
    Ok(next)
}

/// Records that the provider authenticated a person who is not admitted. Forged requests end in other errors.
async fn note_refusal(state: &AppState, parts: &Parts, error: &AppError) {
    if error.code != ErrorCode::Forbidden {
        return;
    }
    let by = Actor::unknown(&client_ip::of(&parts.extensions).to_string());
    let event = AuditEvent::new(Action::SignIn).refused().with_detail("single sign-on");
    state.refusals.note(&by, &event).await;
}

fn refused(state: &AppState, headers: &HeaderMap, error: &AppError) -> Response {
    let status = status_of(error.code);
    shown(status, POLICY, sign_in_step::refused(&document(state, headers), &error.message))
}

fn document<'a>(state: &'a AppState, headers: &HeaderMap) -> Document<'a> {
    Document { options: state.leptos(), theme: theme_of(headers) }
}

fn shown(status: StatusCode, policy: &'static str, html: String) -> Response {
    (status, [(CONTENT_SECURITY_POLICY, policy)], Html(html)).into_response()
}
