//! API tokens: the caller's own, and everyone's for administrators. Plain forms return to the page of the list. `scopes` are
//! comma-separated: `jobs:read`, `jobs:write`, `jobs:resolve`, `analytics:read`.

use leptos::prelude::*;

use model::api_token::{ApiToken, OwnTokens};
use model::error::AppError;
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links::{ALL_TOKENS, TOKENS};
#[cfg(feature = "ssr")]
use service::people::ProjectFields;
#[cfg(feature = "ssr")]
use service::people::api_tokens::TokenFields;
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::{flash, forms};

/// The caller's tokens, valid ones first, and what a new one may do.
#[server(name = GetOwnTokens, prefix = "/api", endpoint = "tokens/list")]
pub async fn own_tokens() -> Result<OwnTokens, AppError> {
    let (caller, state) = guard::of::<GetOwnTokens>()?;
    state.api_tokens.own(&caller).await
}

/// Everyone's tokens, valid ones first; at most 1,000. `cursor`: the header `docket-next` of an earlier part.
#[server(name = GetAllTokens, prefix = "/api", endpoint = "tokens/all")]
pub async fn get_all_tokens(cursor: Option<String>) -> Result<Vec<ApiToken>, AppError> {
    forms::respond_with_part(all_tokens().await?, cursor.as_deref())
}

/// As [`get_all_tokens`], all at once for their page.
#[cfg(feature = "ssr")]
pub async fn all_tokens() -> Result<Vec<ApiToken>, AppError> {
    let (_, state) = guard::of::<GetAllTokens>()?;
    state.api_tokens.all().await
}

/// Creates a token of the caller; the `secret` in the response is the token, shown once. `access` is `all` or `selected`, and
/// `projects` are the comma-separated ids of the selected projects. `days` is 1 to 365, 90 without it. `password`: the caller's,
/// if they have one.
#[server(prefix = "/api", endpoint = "tokens/create")]
pub async fn create_token(
    name: String,
    scopes: Option<String>,
    access: Option<String>,
    projects: Option<String>,
    days: Option<String>,
    password: Option<String>,
) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<CreateToken>()?;
    let fields = TokenFields {
        name: &name,
        scopes: scopes.unwrap_or_default().parse()?,
        projects: ProjectFields { access: access.as_deref(), selected: projects.as_deref() },
        days: days.unwrap_or_default().parse()?,
    };
    let outcome = state.api_tokens.create(&caller, fields, password.unwrap_or_default()).await;
    flash::respond(TOKENS, outcome)
}

/// Replaces the caller's token with the id `token`; the `secret` in the response is the new one, shown once. The old one works for 24 more
/// hours. `password` as for a new token.
#[server(prefix = "/api", endpoint = "tokens/rotate")]
pub async fn rotate_token(token: String, password: Option<String>) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<RotateToken>()?;
    let outcome = state.api_tokens.rotate(&caller, &token.parse()?, password.unwrap_or_default()).await;
    flash::respond(TOKENS, outcome)
}

/// Revokes the caller's token with the id `token`.
#[server(prefix = "/api", endpoint = "tokens/revoke")]
pub async fn revoke_token(token: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<RevokeToken>()?;
    let outcome = state.api_tokens.revoke(&caller, &token.parse()?).await;
    flash::respond(TOKENS, outcome)
}

/// Revokes anyone's token with the id `token`.
#[server(prefix = "/api", endpoint = "tokens/revoke-any")]
pub async fn revoke_any_token(token: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<RevokeAnyToken>()?;
    let outcome = state.api_tokens.revoke_any(&caller, &token.parse()?).await;
    flash::respond(ALL_TOKENS, outcome)
}
