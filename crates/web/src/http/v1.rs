//! `/api/v1` and `/mcp`: the JSON API for scripts, which send an API token. Its routes have their own layers: no session, no cookies,
//! no flash messages, and each error is a `Problem`.

mod batches;
mod budgets;
mod changed_job;
mod decision;
mod described;
mod errors;
mod input;
mod job_body;
mod jobs;
mod long_list;
mod mcp;
mod page_views;
mod pull_requests;
mod sending;
mod templates;
mod values;
mod version;

use std::sync::LazyLock;

use axum::extract::{Extension, Request};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use axum::routing::{any, get, post_service};
use axum::{Json, Router};
use futures::FutureExt;
use futures::future;
use serde::Serialize;
use tower::Layer;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{OpenApi as _, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::errors::ReadErrors;
use super::layers::outage::{self, Pulse};
use super::layers::{addresses, forwarding, host, large_responses, panics};
use crate::auth::bearer::{Gate, TokenCaller, TokenLimits, authenticate};
use crate::auth::client_ip;
use crate::http::api_reference;
use crate::request::problem::{self, Problem, ProblemBody};
use crate::state::AppState;
use model::api_reference::Reference;
use model::api_token::Scope;
use model::error::{AppError, CodeRow, ErrorCode, Retry};
use model::id::{ApiTokenId, ProjectId};
use model::time::Timestamp;
use store::accounts::api_tokens::StoredApiToken;

/// Where clients of MCP look for a server of OAuth and register with it, and what is beside `/mcp`. Nothing is there: a redirect to the sign-in page
/// would be taken for an answer.
const NOWHERE: [&str; 8] = [
    "/.well-known",
    "/.well-known/",
    "/.well-known/{*rest}",
    "/register",
    "/authorize",
    "/token",
    "/mcp/",
    "/mcp/{*rest}",
];

pub(super) fn routes(state: &AppState) -> Router<AppState> {
    let (endpoints, _) = endpoints().split_for_parts();
    let open = Router::new().route("/api/v1/openapi.json", get(described::get_description));
    let open = NOWHERE.iter().fold(open, |router, path| router.route(path, any(no_such_endpoint)));
    let with_token = endpoints
        .route("/mcp", post_service(from_fn(mcp::json_rpc::check).layer(mcp::service(state))))
        .route("/api/v1", any(no_such_endpoint))
        .route("/api/v1/", any(no_such_endpoint))
        .route("/api/v1/{*rest}", any(no_such_endpoint))
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn(described::as_described))
        .layer(from_fn(large_responses::limit))
        // Each route above has both layers: the token is checked before the body is read, and again when it is complete.
        .layer(from_fn_with_state(state.clone(), input::whole_body))
        .layer(from_fn_with_state(gate(state), authenticate));
    open.merge(with_token)
        .layer(from_fn_with_state(forwarding(state), client_ip::identify))
        .layer(from_fn_with_state((state.clone(), Pulse::default()), outage::explain))
        .layer(from_fn(addresses::unambiguous))
        .layer(from_fn_with_state(state.public_url.clone(), host::ours_only))
        .layer(CatchPanicLayer::custom(panics::explain))
        .layer(from_fn(problem::complete))
}

fn gate(state: &AppState) -> Gate {
    let over_limit = |request: Request, problem: Problem| match request.uri().path() {
        "/mcp" => mcp::json_rpc::over_limit(request, problem).boxed(),
        _ => future::ready(problem.into_response()).boxed(),
    };
    Gate { state: state.clone(), limits: TokenLimits::default(), over_limit }
}

/// The endpoints that need a token, with their description.
fn endpoints() -> OpenApiRouter<AppState> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(get_token))
        .routes(routes!(list_projects))
        .routes(routes!(jobs::list_jobs, jobs::start_job))
        .routes(routes!(jobs::get_job))
        .routes(routes!(jobs::send_follow_up))
        .routes(routes!(jobs::archive_job))
        .routes(routes!(jobs::restore_job))
        .routes(routes!(jobs::cancel_job))
        .routes(routes!(decision::resolve_job))
        .routes(routes!(batches::start_batch))
        .routes(routes!(batches::get_batch))
        .routes(routes!(batches::cancel_batch))
        .routes(routes!(page_views::list_page_views))
        .routes(routes!(page_views::list_daily_page_views))
        .routes(routes!(templates::list_templates))
        .routes(routes!(pull_requests::list_pull_requests))
        .routes(routes!(budgets::list_budgets))
}

/// The reference of the JSON API.
pub fn reference() -> &'static Reference {
    static REFERENCE: LazyLock<Reference> =
        LazyLock::new(|| api_reference::of(described::description(), codes()));
    &REFERENCE
}

/// The table of error codes, as Markdown.
pub fn codes() -> String {
    let again = |code: ErrorCode| match code.row().retry {
        Retry::Never => "no",
        Retry::After(_) => "after `Retry-After`",
    };
    let row = |code: ErrorCode| {
        let CodeRow { status, meaning, .. } = code.row();
        format!("| {status} | `{}` | {} | {meaning} |\n", code.as_str(), again(code))
    };
    let rows: String = ErrorCode::of_api().map(row).collect();
    format!("| status | code | the same request again | cause |\n|---|---|---|---|\n{rows}")
}

#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Docket", description = "Jobs of a documentation agent, and page views. Send an API token of /account/tokens in the header `Authorization: Bearer dkt_…`. Errors are `application/problem+json` (RFC 9457); `code` has one cause each, and `errors` names the parts of the request that are not valid. Fields that an endpoint does not have are refused, in the address and in the body. Each token can send 60 requests a minute, and 30 at once. Fields and values of responses are only added: ignore fields that you do not know, and treat a value of an enumeration that you do not know as `other`. What is removed is announced by the headers `Deprecation` and `Sunset` for at least 180 days."),
    servers((url = "/")),
    components(schemas(ProblemBody)),
    tags((name = "Jobs"), (name = "Batches"), (name = "Page views"), (name = "Pull requests"), (name = "Templates"), (name = "Projects"), (name = "Budgets"), (name = "Token")),
    security(("token" = [])),
    modifiers(&BearerTokens)
)]
struct Description;

/// Adds the security scheme `token`.
struct BearerTokens;

impl utoipa::Modify for BearerTokens {
    fn modify(&self, description: &mut OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("dkt_…").build();
        let components = description.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The projects of a token.
#[derive(Serialize, ToSchema)]
struct ProjectList {
    projects: Vec<TokenProject>,
}

/// A project of the token.
#[derive(Serialize, ToSchema)]
#[schema(as = Project)]
struct TokenProject {
    #[schema(value_type = String)]
    id: ProjectId,
    name: String,
    /// The scopes of the token that the role of its owner permits.
    #[schema(inline)]
    scopes: Vec<Scope>,
}

/// The token of the request.
#[derive(Serialize, ToSchema)]
struct Token {
    #[schema(value_type = String)]
    id: ApiTokenId,
    name: String,
    /// The name of its owner.
    owner: String,
    /// Its scopes that the role of its owner permits.
    #[schema(inline)]
    scopes: Vec<Scope>,
    /// The ids of its projects that its owner may see.
    #[schema(value_type = Vec<String>)]
    projects: Vec<ProjectId>,
    created_at: Timestamp,
    expires_at: Timestamp,
}

/// The token of the request: what it may do, and until when. Needs no scope.
///
/// From 14 days before it expires, every response to a request with the token has the header `Docket-Token-Expires`.
#[utoipa::path(get, path = "/api/v1/token", tag = "Token",
    responses((status = OK, body = Token, description = "The token."), ReadErrors))]
async fn get_token(Extension(caller): Extension<TokenCaller>) -> Json<Token> {
    let StoredApiToken { id, name, created_at, expires_at, .. } = caller.token().clone();
    let projects = caller.projects().into_iter().map(|project| project.id).collect();
    let owner = caller.caller().user.name.clone();
    Json(Token { id, name, owner, scopes: caller.scopes(), projects, created_at, expires_at })
}

/// The projects of the token, in the configured order.
#[utoipa::path(get, path = "/api/v1/projects", tag = "Projects",
    responses((status = OK, body = ProjectList, description = "The projects."), ReadErrors))]
async fn list_projects(Extension(caller): Extension<TokenCaller>) -> Json<ProjectList> {
    Json(projects_of(&caller))
}

fn projects_of(caller: &TokenCaller) -> ProjectList {
    let scopes = caller.scopes();
    let projects = caller.projects().into_iter();
    let projects =
        projects.map(|project| TokenProject { id: project.id, name: project.name, scopes: scopes.clone() });
    ProjectList { projects: projects.collect() }
}

async fn no_such_endpoint() -> Problem {
    AppError::not_found("There is no such endpoint.").into()
}

async fn wrong_method() -> Problem {
    Problem::new(
        ErrorCode::MethodNotAllowed,
        "That method is not allowed here. The header Allow has those that are.",
    )
}
