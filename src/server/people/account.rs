//! A person's own account: the password and the sessions.

use secrecy::SecretString;

use crate::server::auth::guard::Caller;
use crate::server::auth::hashing::Requester;
use crate::server::auth::session_store::Sessions;
use crate::server::auth::{password, refusal, sign_in};
use model::account::{Account, SignedIn};
use model::error::AppError;
use model::flash::Confirmation;
use model::id::SessionId;
use store::accounts::admission;

/// The caller's account, for its page.
pub async fn account(caller: &Caller) -> Result<Account, AppError> {
    let Caller { state, user, .. } = caller;
    let idle_since = Sessions::new(state).idle_since();
    let sessions = state.store.sessions_of(&user.id, state.clock.now(), idle_since).await?;
    let sessions = sessions.into_iter().map(|session| SignedIn {
        is_here: caller.session.as_ref() == Some(&session.id_hash),
        id: session.id_hash,
        device: session.device,
        address: session.client_ip,
        since: session.created_at,
        last_used: session.last_used_at,
    });
    Ok(Account {
        sees_all_projects: caller.projects().len() == state.projects().len(),
        sessions: sessions.collect(),
        second_factor: state.second_factors.state(caller.authorization()).await?,
        passkeys: state.passkeys.of(user).await?,
    })
}

/// Changes the password, given the old one. Ends all sessions and starts a new one for the caller.
pub async fn change_password(caller: &Caller, old: String, new: String) -> Result<Confirmation, AppError> {
    let Caller { state, user, .. } = caller;
    state.current_password.check(user, caller.client_ip, old).await?;
    let new = SecretString::from(new);
    password::check_choice(&new, &user.name).map_err(AppError::bad_input)?;
    let hash = match state.passwords.hash(new, Requester::new(caller.client_ip, true)).await {
        Ok(hash) => hash,
        Err(error) => return Err(refusal::unchecked(error, &state.attempts, caller.client_ip).await),
    };
    state.store.set_password_hash(caller.authority(), &user.name, &hash).await?;
    if let Some(user) = state.store.account_by_id(&user.id).await?.and_then(admission::Account::admitted) {
        sign_in::renew(&user).await?;
    }
    tracing::info!(user = user.name, "password changed");
    Ok(Confirmation::new("Password changed. You are signed out everywhere else."))
}

/// Ends one of the caller's sessions.
pub async fn sign_out(caller: &Caller, session: &str) -> Result<Confirmation, AppError> {
    let session: SessionId = session.parse().map_err(AppError::bad_input)?;
    if !caller.state.store.end_session(caller.authority(), session.as_str()).await? {
        return Err(AppError::not_found(
            "That session has already ended. Reload the page to see the current ones.",
        ));
    }
    Ok(Confirmation::new("Session ended."))
}

/// Ends all of the caller's sessions except the current one.
pub async fn sign_out_others(caller: &Caller) -> Result<Confirmation, AppError> {
    let this = caller.session.as_deref().unwrap_or_default();
    let ended = caller.state.store.end_other_sessions(caller.authority(), this).await?;
    Ok(Confirmation::new(match ended {
        0 => "You were not signed in anywhere else.".to_owned(),
        1 => "1 other session was ended.".to_owned(),
        ended => format!("{ended} other sessions were ended."),
    }))
}
