//! An authenticating proxy names the signed-in user in a header. Only the configured proxies are trusted: the header is
//! removed from every request, whoever sent it, so that no later code can trust it.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderName, HeaderValue, header::Entry};

use super::address::is_trusted;
use super::sign_in::check_username;
use super::single_sign_on::follow;
use crate::error::{AppError, ErrorCode};
use crate::model::user::Role;
use crate::server::state::AppState;
use crate::server::store::users::User;

/// The person named by a trusted proxy, if any. Removes its headers from the request.
pub async fn person(state: &AppState, request: &mut Request) -> Result<Option<User>, AppError> {
    let Some(config) = &state.trusted_header else { return Ok(None) };
    let names = take_header(request, &config.user);
    let groups = config.groups.as_ref().map(|(header, roles)| (take_header(request, header), roles));
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let trusted = &state.access.trusted_proxies;
    if !peer.is_some_and(|ConnectInfo(peer)| is_trusted(peer.ip().to_canonical(), trusted)) {
        return Ok(None);
    }
    let name = match names.as_slice() {
        [] => return Ok(None),
        [name] => str::from_utf8(name.as_bytes()).ok().filter(|name| check_username(name).is_ok()),
        _ => None,
    };
    let name = name.ok_or_else(|| refused("The proxy in front of Docket did not identify you clearly."))?;
    let user = match groups {
        None => state.store.user_by_name(name).await?,
        Some((groups, roles)) => {
            let groups = groups.iter().filter_map(|line| str::from_utf8(line.as_bytes()).ok());
            let role = roles.role_of(groups.flat_map(|line| line.split(',')).map(str::trim));
            let role = role.ok_or_else(|| {
                refused(
                    "None of your groups may use Docket. Ask an administrator to add you to one that may.",
                )
            })?;
            Some(with_role(state, name, role).await?)
        }
    };
    let user =
        user.ok_or_else(|| refused("You have no account in Docket yet. Ask an administrator for one."))?;
    match user.disabled {
        true => Err(refused("Your account here is disabled. Ask an administrator to enable it.")),
        false => Ok(Some(user)),
    }
}

/// The person called `name`, with the role of their groups. Created on their first request.
async fn with_role(state: &AppState, name: &str, role: Role) -> Result<User, AppError> {
    let store = &state.store;
    if store.user_by_name(name).await?.is_none() && store.add_user(name, role, "", state.clock.now()).await? {
        tracing::info!(user = name, %role, "added by the trusted proxy header");
    }
    let user = store.user_by_name(name).await?.ok_or_else(AppError::internal)?;
    if !user.disabled {
        follow(store, &user, role, state.clock.now()).await?;
    }
    Ok(User { role, ..user })
}

/// Removes a header from the request and returns its values.
fn take_header(request: &mut Request, header: &HeaderName) -> Vec<HeaderValue> {
    match request.headers_mut().entry(header) {
        Entry::Occupied(values) => values.remove_entry_mult().1.collect(),
        Entry::Vacant(_) => Vec::new(),
    }
}

fn refused(sentence: &str) -> AppError {
    tracing::warn!(reason = sentence, "trusted proxy header refused");
    AppError::new(ErrorCode::Forbidden, sentence)
}
