//! A person's own account: the password and the sessions.

use secrecy::SecretString;

use crate::auth::attempts::Attempts;
use crate::auth::current_password::CurrentPassword;
use crate::auth::hashing::Requester;
use crate::auth::passkeys::Passkeys;
use crate::auth::password::Passwords;
use crate::auth::second_factor::SecondFactors;
use crate::auth::{password, refusal};
use crate::caller::Caller;
use base::clock::Clock;
use model::account::{Account, SignedIn};
use model::error::AppError;
use model::flash::Confirmation;
use model::id::SessionId;
use model::time::Timestamp;
use store::Store;
use store::accounts::admission::{self, Admitted};

/// The callers' own accounts: passwords, second factors and sessions.
#[derive(Clone)]
pub struct OwnAccount {
    store: Store,
    clock: Clock,
    attempts: Attempts,
    passwords: Passwords,
    current_password: CurrentPassword,
    pub(super) second_factors: SecondFactors,
    pub(super) passkeys: Passkeys,
}

impl OwnAccount {
    pub fn new(
        store: Store,
        clock: Clock,
        attempts: Attempts,
        passwords: Passwords,
        current_password: CurrentPassword,
        second_factors: SecondFactors,
        passkeys: Passkeys,
    ) -> Self {
        Self { store, clock, attempts, passwords, current_password, second_factors, passkeys }
    }

    /// The caller's account, for its page. `idle_since`: sessions that were not used since then have ended. `device`: the caller's, which
    /// is proposed as the name of a passkey.
    pub async fn account(
        &self,
        caller: &Caller,
        idle_since: Timestamp,
        device: String,
    ) -> Result<Account, AppError> {
        let user = &caller.user;
        let sessions = self.store.sessions_of(&user.id, self.clock.now(), idle_since).await?;
        let sessions = sessions.into_iter().map(|session| SignedIn {
            is_here: caller.session.as_ref() == Some(&session.id_hash),
            id: session.id_hash,
            device: session.device,
            address: session.client_ip,
            since: session.created_at,
            last_used: session.last_used_at,
        });
        Ok(Account {
            sees_all_projects: caller.sees_all_projects(),
            sessions: sessions.collect(),
            second_factor: self.second_factors.state(caller.authorization()).await?,
            passkeys: self.passkeys.of(user, device).await?,
        })
    }

    /// Changes the password, given the old one. Ends all sessions. Returns the person whose session is to be renewed.
    pub async fn change_password(
        &self,
        caller: &Caller,
        old: String,
        new: String,
    ) -> Result<Option<Admitted>, AppError> {
        let user = &caller.user;
        self.current_password.check(user, caller.client_ip, old).await?;
        let new = SecretString::from(new);
        password::check_choice(&new, &user.name)?;
        let hash = match self.passwords.hash(new, Requester::new(caller.client_ip, true)).await {
            Ok(hash) => hash,
            Err(error) => return Err(refusal::unchecked(error, &self.attempts, caller.client_ip).await),
        };
        self.store.set_password_hash(caller.authority(), &user.name, &hash).await?;
        tracing::info!(user = user.name, "password changed");
        Ok(self.store.account_by_id(&user.id).await?.and_then(admission::Account::admitted))
    }

    /// Ends one of the caller's sessions.
    pub async fn sign_out(&self, caller: &Caller, session: &SessionId) -> Result<Confirmation, AppError> {
        if !self.store.end_session(caller.authority(), session.as_str()).await? {
            return Err(AppError::not_found(
                "That session has already ended. Reload the page to see the current ones.",
            ));
        }
        Ok(Confirmation::new("Session ended."))
    }

    /// Ends all of the caller's sessions except the current one.
    pub async fn sign_out_others(&self, caller: &Caller) -> Result<Confirmation, AppError> {
        let this = caller.session.as_deref().unwrap_or_default();
        let ended = self.store.end_other_sessions(caller.authority(), this).await?;
        Ok(Confirmation::new(match ended {
            0 => "You were not signed in anywhere else.".to_owned(),
            1 => "1 other session was ended.".to_owned(),
            ended => format!("{ended} other sessions were ended."),
        }))
    }
}
