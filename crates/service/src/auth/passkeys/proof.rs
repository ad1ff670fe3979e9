//! An existing passkey as the proof that a second factor may be added or removed.

use webauthn_rs::prelude::PublicKeyCredential;

use super::challenge::{IssuedChallenge, Purpose, Requester, base64url};
use super::error::PasskeyError;
use super::{Passkeys, read};
use crate::auth::second_factor::{Proof, ProofFields};
use model::audit::Action;
use model::error::{AppError, ErrorCode};
use store::StoreError;
use store::authorization::Authorization;

impl Passkeys {
    /// Begins the proof, after the password. Returns the options for the browser.
    pub async fn begin_proof(
        &self,
        request: &Authorization,
        password: String,
    ) -> Result<IssuedChallenge, AppError> {
        let user = request.user();
        self.current_password.check(user, request.client_ip(), password).await?;
        let known = self.store.passkeys_of(&user.id).await?;
        if known.is_empty() {
            return Err(PasskeyError::NotProven.into());
        }
        let known = known.iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        let begun = self.relying_party()?.start_passkey_authentication(&known);
        let (challenge, state) = begun.map_err(PasskeyError::not_begun)?;
        let purpose = Purpose::Prove { by: Requester::of(request), state };
        self.issue(&user.id, &purpose, serde_json::to_value(challenge)).await
    }

    /// What the fields of a form prove: the password, and while a second factor is on also a code, a recovery code or a
    /// passkey. `action`: for which it is needed.
    pub async fn proof(
        &self,
        request: &Authorization,
        fields: ProofFields,
        action: Action,
    ) -> Result<Proof, AppError> {
        match fields.passkey.is_empty() {
            true => self.second_factors.prove(request, fields, action).await,
            false => self.proof_by_passkey(request, &fields.challenge, &fields.passkey).await,
        }
    }

    async fn proof_by_passkey(
        &self,
        request: &Authorization,
        token: &str,
        credential: &str,
    ) -> Result<Proof, AppError> {
        let (user, ip) = (request.user(), request.client_ip());
        let state = match self.answered(token).await? {
            Some(Purpose::Prove { by, state }) if by.has_sent(request) => state,
            _ => return Err(PasskeyError::NotProven.into()),
        };
        let assertion: PublicKeyCredential =
            serde_json::from_str(credential).map_err(|_| PasskeyError::Unreadable)?;
        let (stored, owner) =
            self.owner(ip, &base64url(assertion.get_credential_id())).await.map_err(not_proven)?;
        if owner.id != user.id {
            return Err(PasskeyError::NotProven.into());
        }
        let checked = self.relying_party()?.finish_passkey_authentication(&assertion, &state);
        self.use_up(ip, user, &stored, checked).await.map_err(not_proven)?;
        Ok(Proof::by_passkey())
    }
}

/// The person has a session, so that a refused passkey must not look like its end.
fn not_proven(error: AppError) -> AppError {
    match error.code {
        ErrorCode::Unauthenticated => PasskeyError::NotProven.into(),
        _ => error,
    }
}
