//! An authenticating proxy names the signed-in user in a header. Only the configured proxies are trusted. The header is
//! removed from every request, so that no later code can trust it.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderName, HeaderValue, header::Entry};
use secrecy::ExposeSecret;

use super::client_ip;
use crate::state::AppState;
use base::config::{SECRET_HEADER, TrustedHeaderConfig};
use base::nfc::nfc;
use base::username;
use model::audit::{Action, AuditEvent};
use model::error::{AppError, ErrorCode};
use model::user::{GivenProjects, Role};
use service::auth::arrivals::BY;
use service::auth::single_sign_on::{admitted, follow};
use service::auth::token;
use store::accounts::admission::{Account, Admitted, NotAdmitted};
use store::accounts::groups::Granted;

/// The person named by a trusted proxy, if any. Removes its headers from the request.
pub async fn person(state: &AppState, request: &mut Request) -> Result<Option<Admitted>, AppError> {
    let Some(config) = state.settings().trusted_header.clone() else { return Ok(None) };
    let names = take_header(request, &config.user);
    let groups = config.groups.as_ref().map(|groups| take_header(request, &groups.header));
    let secrets = take_header(request, &SECRET_HEADER);
    if names.is_empty() || !is_proxy(state, &config, request.extensions(), &secrets) {
        return Ok(None);
    }
    let name = match names.as_slice() {
        [name] => str::from_utf8(name.as_bytes()).ok().map(nfc).filter(|name| username::check(name).is_ok()),
        _ => None,
    };
    let from = client_ip::of(request.extensions());
    match named(state, &config, name.as_deref(), groups, from).await {
        Ok(user) => {
            state.arrivals.note(&state.store, &user, from, state.clock.now()).await?;
            Ok(Some(user))
        }
        Err(error) => {
            if error.code == ErrorCode::Forbidden {
                let event = AuditEvent::new(Action::SignIn).refused().with_detail(BY);
                let (name, from) = (name.unwrap_or_default(), from.to_string());
                state.refusals.note(&state.store.actor_named(&name, &from).await?, &event).await;
            }
            Err(error)
        }
    }
}

/// Whether a trusted proxy sent the request and names a user.
pub(super) fn is_named(state: &AppState, parts: &Parts) -> bool {
    let Some(config) = state.settings().trusted_header.clone() else { return false };
    let secrets: Vec<_> = parts.headers.get_all(&SECRET_HEADER).iter().cloned().collect();
    parts.headers.contains_key(&config.user) && is_proxy(state, &config, &parts.extensions, &secrets)
}

/// Whether the proxy sent the request: from its IP, and with the secret.
fn is_proxy(
    state: &AppState,
    config: &TrustedHeaderConfig,
    extensions: &Extensions,
    secrets: &[HeaderValue],
) -> bool {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    let is_peer = peer.is_some_and(|ConnectInfo(peer)| {
        client_ip::is_trusted(peer.ip().to_canonical(), &state.settings().access.trusted_proxies)
    });
    if !is_peer {
        return false;
    }
    // Hashes are compared, so the duration reveals nothing about the secret.
    let sent = match secrets {
        [sent] => sent.to_str().unwrap_or_default(),
        _ => "",
    };
    let is_right = token::hash(sent) == token::hash(config.secret.expose_secret());
    if !is_right {
        tracing::warn!("a request named a person without the proxy's secret; the name was ignored");
    }
    is_right
}

/// The person called `name`, with the role and the projects of their groups if those are configured. The first request of an invited person
/// accepts the invitation, unless it is on hold.
async fn named(
    state: &AppState,
    config: &TrustedHeaderConfig,
    name: Option<&str>,
    groups: Option<Vec<HeaderValue>>,
    from: IpAddr,
) -> Result<Admitted, AppError> {
    let name = name.ok_or_else(|| refused("The proxy in front of Docket did not identify you clearly."))?;
    match (&config.groups, groups) {
        (Some(given), Some(lines)) => {
            let lines = lines.iter().filter_map(|line| str::from_utf8(line.as_bytes()).ok());
            let groups: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
            let role = given.roles.role_of(groups.iter().copied()).ok_or_else(|| {
                refused(
                    "None of your groups may use Docket. Ask an administrator to add you to one that may.",
                )
            })?;
            with_groups(state, name, role, &given.projects.given_to(groups), from).await
        }
        _ => {
            let account = state.store.account_by_name(name).await?;
            let account = account
                .ok_or_else(|| refused("You have no account in Docket yet. Ask an administrator for one."))?;
            admitted(accepting(state, account, from).await?)
        }
    }
}

/// The account after its person accepted an invitation that is not on hold.
async fn accepting(state: &AppState, account: Account, from: IpAddr) -> Result<Account, AppError> {
    let Account::Refused(user, NotAdmitted::Invited { .. }) = &account else { return Ok(account) };
    let accepted = state.store.accept_invitation(&user.id, &from.to_string(), BY, state.clock.now()).await?;
    tracing::info!(user = user.name, "invitation accepted by the trusted proxy header");
    accepted.ok_or_else(AppError::internal)
}

/// The person called `name`, with the role and the projects of their groups. Created on their first request.
async fn with_groups(
    state: &AppState,
    name: &str,
    role: Role,
    projects: &GivenProjects,
    from: IpAddr,
) -> Result<Admitted, AppError> {
    let (store, now) = (&state.store, state.clock.now());
    let account = match store.account_by_name(name).await? {
        Some(account) => account,
        None => {
            let name = username::parse(name).map_err(|error| refused(&error.to_string()))?;
            if store.add_vouched_user(&name, role, projects, now).await? {
                tracing::info!(user = name, %role, "added by the trusted proxy header");
            }
            let account = store.account_by_name(&name).await?;
            account.ok_or_else(|| {
                refused("Your username looks like that of another account. Ask an administrator.")
            })?
        }
    };
    let account = accepting(state, account, from).await?;
    follow(store, account, &Granted { role, projects, keeps_all: true }, now).await
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
