//! The pages: Leptos's routes, rendered with the application state, a CSP nonce and the person's theme.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Request;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, any};
use leptos::nonce::use_nonce;
use leptos::prelude::{IntoView, provide_context, use_context};
use leptos_axum::{AxumRouteListing, LeptosRoutes, ResponseOptions, generate_route_list};

use super::last_project;
use crate::app::{App, shell};
use crate::ui::clock::RequestTime;
use crate::ui::components::form::PersonId;
use crate::ui::look::Look;
use crate::ui::pages::api_reference::ApiReferenceText;

use crate::ui::pages::frame::HasReviews;
use crate::ui::pages::login::{AcceptsPasskeys, Provider};
use crate::ui::pages::request::Refresh;
use crate::ui::pages::set_up::StoredLink;
use model::flash::PendingFlash;
use model::headers::REFRESH_HEADER;
use model::links;
use service::auth::single_sign_on::SingleSignOn;
use service::caller::Caller;
use web::auth::step_cookie::link;
use web::request::cookie;
use web::state::AppState;

/// Every page of the app. Generated once per process: while Leptos generates the list, no resource loads anywhere. A
/// page rendered at the same time would never finish.
static PAGES: LazyLock<Vec<AxumRouteListing>> = LazyLock::new(|| generate_route_list(App));

pub(super) fn routes(state: &AppState) -> Router<AppState> {
    let document = document(state);
    Router::new().leptos_routes_with_context(state, PAGES.clone(), context(state), document)
}

/// The route of each page.
pub fn paths() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(AxumRouteListing::path)
}

/// All other paths: the app's not-found page, with status 404.
pub(super) fn not_found(state: &AppState) -> MethodRouter<AppState> {
    let render = leptos_axum::render_app_async_with_context(context(state), document(state));
    any(async move |request: Request| {
        let mut response = render(request).await.into_response();
        *response.status_mut() = StatusCode::NOT_FOUND;
        response
    })
}

fn document(state: &AppState) -> impl Fn() -> leptos::prelude::AnyView + Clone + Send + Sync + 'static {
    let options = state.leptos().clone();
    move || leptos::prelude::IntoAny::into_any(shell(options.clone(), chosen_look()).into_view())
}

/// The context of every page and server function.
pub(super) fn context(state: &AppState) -> impl Fn() + Clone + Send + Sync + 'static {
    let state = state.clone();
    move || {
        provide_context(state.clone());
        provide_context(RequestTime(state.clock.now()));
        if let Some(parts) = use_context::<Parts>() {
            if let Some(caller) = parts.extensions.get::<Caller>() {
                let session = caller.session();
                provide_context(last_project::of(&parts, &state.public_url, &session.projects));
                provide_context(session);
                provide_context(PersonId(caller.user.id.clone()));
            }
            if parts.uri.path() == links::SET_UP {
                provide_context(StoredLink(link::stored_token(&parts.headers, &state.public_url).is_some()));
            }
            if parts.uri.path() == links::API_REFERENCE {
                let origin = state.public_url.origin().to_owned();
                provide_context(ApiReferenceText { reference: web::http::reference(), origin });
            }
            if parts.headers.contains_key(REFRESH_HEADER) {
                provide_context(Refresh);
            }
            if let Some(pending) = parts.extensions.get::<PendingFlash>() {
                provide_context(pending.clone());
            }
        }
        if let Some(Ok(name)) = state.single_sign_on.as_ref().map(SingleSignOn::name) {
            provide_context(Provider(name));
        }
        if state.code_hosts.are_connected() {
            provide_context(HasReviews);
        }
        if state.passkeys.are_possible() {
            provide_context(AcceptsPasskeys);
        }
        if let (Some(nonce), Some(response)) = (use_nonce(), use_context::<ResponseOptions>()) {
            let policy = format!(
                "default-src 'self'; script-src 'nonce-{nonce}' 'wasm-unsafe-eval' 'strict-dynamic'; style-src 'self'; \
                 img-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
            );
            if let Ok(policy) = HeaderValue::from_str(&policy) {
                response.insert_header(CONTENT_SECURITY_POLICY, policy);
            }
        }
    }
}

/// The display settings in the person's cookies, for the first paint.
fn chosen_look() -> Look {
    let Some(parts) = use_context::<Parts>() else { return Look::default() };
    let density = cookie::get(&parts.headers, "density").filter(|density| density == "comfortable");
    let no_shortcuts = cookie::get(&parts.headers, "shortcuts").is_some_and(|shortcuts| shortcuts == "off");
    Look { theme: theme_of(&parts.headers), density: density.map(|_| "comfortable"), no_shortcuts }
}

pub(super) fn theme_of(headers: &HeaderMap) -> Option<&'static str> {
    let theme = cookie::get(headers, "theme")?;
    ["light", "dark"].into_iter().find(|known| *known == theme)
}
