//! Signing in with a passkey: alone, or as the second step after the password.

use std::net::IpAddr;

use webauthn_rs::prelude::{
    AuthenticationResult, DiscoverableAuthentication, PasskeyAuthentication, PublicKeyCredential,
    WebauthnError,
};

use super::challenge::{IssuedChallenge, Purpose, base64url};
use super::error::PasskeyError;
use super::{Passkeys, read, written};
use crate::auth::attempts;
use crate::auth::own_path::own_path;
use model::audit::{Action, Actor, AuditEvent};
use model::error::{AppError, ErrorCode};
use model::passkey::{AcceptedFactors, StepPasskey};
use store::StoreError;
use store::accounts::admission::{Account, Admitted};
use store::accounts::passkeys::StoredPasskey;
use store::accounts::users::User;

impl Passkeys {
    /// The second factors that the step with this token accepts; `None` if there is no such step.
    pub async fn accepted_in_step(&self, step: &str) -> Result<Option<AcceptedFactors>, AppError> {
        let user = match self.second_factors.person_of_step(step).await {
            Ok((user, _)) => user,
            Err(error) if error.code == ErrorCode::Unauthenticated => return Ok(None),
            Err(error) => return Err(error),
        };
        let passkey = match (self.store.has_passkey(&user.id).await?, self.are_possible()) {
            (false, _) => StepPasskey::None,
            (true, true) => StepPasskey::Usable,
            (true, false) => StepPasskey::Unusable,
        };
        Ok(Some(AcceptedFactors {
            authenticator: self.second_factors.has_authenticator(&user.id).await?,
            passkey,
        }))
    }

    /// Begins a sign-in with a passkey alone.
    pub async fn begin_sign_in(&self, ip: IpAddr) -> Result<IssuedChallenge, AppError> {
        self.attempts.challenge(ip).await?;
        let begun = self.relying_party()?.start_discoverable_authentication();
        let (mut challenge, state) = begun.map_err(PasskeyError::not_begun)?;
        // A button starts this. The library's default is a list of suggestions.
        challenge.mediation = None;
        let requester = attempts::network(ip).to_string();
        self.issue(&requester, &Purpose::SignIn { state }, serde_json::to_value(challenge)).await
    }

    /// Begins the second step with a passkey of the person whose password was right.
    pub async fn begin_second_step(&self, ip: IpAddr, step: &str) -> Result<IssuedChallenge, AppError> {
        self.attempts.challenge(ip).await?;
        let (user, _) = self.second_factors.person_of_step(step).await?;
        let known = self.store.passkeys_of(&user.id).await?;
        let known = known.iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        let begun = self.relying_party()?.start_passkey_authentication(&known);
        let (challenge, state) = begun.map_err(PasskeyError::not_begun)?;
        let purpose = Purpose::SecondStep { user: user.id.clone(), state };
        self.issue(&user.id, &purpose, serde_json::to_value(challenge)).await
    }

    /// The person who responded to the challenge with this token, and their redirect path: `next`, or after a second
    /// step the path of that step.
    pub async fn finish(
        &self,
        ip: IpAddr,
        token: &str,
        step: &str,
        credential: &str,
        next: Option<&str>,
    ) -> Result<(Admitted, String), AppError> {
        let purpose = self.answered(token).await?.ok_or(PasskeyError::Over)?;
        let assertion: PublicKeyCredential =
            serde_json::from_str(credential).map_err(|_| PasskeyError::Unreadable)?;
        match purpose {
            Purpose::Add { .. } | Purpose::Prove { .. } => Err(PasskeyError::Over.into()),
            Purpose::SignIn { state } => Ok((self.alone(ip, &assertion, state).await?, own_path(next))),
            Purpose::SecondStep { user, state } => self.second(ip, &assertion, &user, &state, step).await,
        }
    }

    async fn alone(
        &self,
        ip: IpAddr,
        assertion: &PublicKeyCredential,
        state: DiscoverableAuthentication,
    ) -> Result<Admitted, AppError> {
        let id = base64url(assertion.get_credential_id());
        // Signatures cannot be guessed; this limits the number of checks per IP. It does not count for the account, so
        // wrong passwords cannot block a passkey.
        let attempt = self.attempts.begin(&format!("passkey {id}"), ip).await?;
        let relying_party = self.relying_party()?;
        let (stored, user) = self.owner(ip, &id).await?;
        let claimed = relying_party.identify_discoverable_authentication(assertion);
        if claimed.map(|(user, _)| user.to_string()).ok() != Some(user.id.clone()) {
            return Err(self.refuse(&user.actor(&ip.to_string()), "passkey of another person").await);
        }
        let passkey = read(&stored)?;
        let checked = relying_party.finish_discoverable_authentication_v2(assertion, state, &passkey);
        self.use_up(ip, &user, &stored, checked).await?;
        attempt.succeeded_as(&user.name).await;
        Ok(user)
    }

    async fn second(
        &self,
        ip: IpAddr,
        assertion: &PublicKeyCredential,
        challenged: &str,
        state: &PasskeyAuthentication,
        step: &str,
    ) -> Result<(Admitted, String), AppError> {
        let (user, next) = self.second_factors.person_of_step(step).await?;
        let attempt = self.attempts.begin(&user.name, ip).await?;
        let relying_party = self.relying_party()?;
        let (stored, owner) = self.owner(ip, &base64url(assertion.get_credential_id())).await?;
        if challenged != user.id || owner.id != user.id {
            return Err(self.refuse(&user.actor(&ip.to_string()), "passkey of another person").await);
        }
        let checked = relying_party.finish_passkey_authentication(assertion, state);
        self.use_up(ip, &user, &stored, checked).await?;
        self.second_factors.end_step(step).await?;
        attempt.succeeded().await;
        Ok((user, next))
    }

    /// The passkey with this id, and its person, who may enter.
    pub(super) async fn owner(&self, ip: IpAddr, id: &str) -> Result<(StoredPasskey, Admitted), AppError> {
        let Some(stored) = self.store.passkey(id).await? else {
            return Err(self.refuse(&Actor::unknown(&ip.to_string()), "unknown passkey").await);
        };
        match self.store.account_by_id(&stored.user_id).await? {
            Some(Account::Admitted(user)) => Ok((stored, user)),
            Some(Account::Refused(user, _)) => {
                Err(self.refuse(&user.actor(&ip.to_string()), "passkey").await)
            }
            None => Err(self.refuse(&Actor::unknown(&ip.to_string()), "unknown passkey").await),
        }
    }

    /// Records the use of a passkey whose signature was verified.
    pub(super) async fn use_up(
        &self,
        ip: IpAddr,
        user: &User,
        stored: &StoredPasskey,
        checked: Result<AuthenticationResult, WebauthnError>,
    ) -> Result<(), AppError> {
        let by = user.actor(&ip.to_string());
        let used = match checked {
            Ok(used) => used,
            Err(WebauthnError::CredentialPossibleCompromise) => return Err(self.copied(&by).await),
            Err(error) => {
                tracing::warn!(user = user.name, %error, "a passkey was refused");
                return Err(self.refuse(&by, "passkey").await);
            }
        };
        let mut passkey = read(stored)?;
        passkey.update_credential(&used);
        let (credential, count) = (written(&passkey)?, i64::from(used.counter()));
        // Another use may have been recorded first, also by another server.
        match self.store.note_passkey_use(&stored.id, &credential, count, self.clock.now()).await? {
            true => Ok(()),
            false => Err(self.copied(&by).await),
        }
    }

    /// Always recorded at once: the owner must learn of it.
    async fn copied(&self, by: &Actor) -> AppError {
        tracing::warn!(user = by.name, "a passkey's signature counter went back");
        let event = refused("passkey whose signature counter went back");
        match self.store.observe_often(by, &event, self.clock.now()).await {
            Ok(()) => PasskeyError::Copied.into(),
            Err(error) => error.into(),
        }
    }

    async fn refuse(&self, by: &Actor, why: &str) -> AppError {
        self.refusals.note(by, &refused(why)).await;
        PasskeyError::Refused.into()
    }
}

fn refused(why: &str) -> AuditEvent {
    AuditEvent::new(Action::SignIn).refused().with_detail(why)
}
