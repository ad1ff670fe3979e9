//! Adding second factors to a person's own account, and removing them.

use super::account::OwnAccount;
use crate::auth::passkeys::IssuedChallenge;
use crate::auth::second_factor::{Proof, ProofFields};
use crate::caller::Caller;
use model::audit::Action;
use model::error::AppError;
use model::id::PasskeyId;

impl OwnAccount {
    /// Proposes a secret for the caller's authenticator.
    pub async fn begin_authenticator(&self, caller: &Caller, fields: ProofFields) -> Result<(), AppError> {
        let proof = self.proof(caller, fields, Action::SecondFactorOn).await?;
        self.second_factors.begin(caller.authorization(), proof).await
    }

    /// Removes the caller's authenticator. Returns whether a second factor remains.
    pub async fn remove_authenticator(&self, caller: &Caller, fields: ProofFields) -> Result<bool, AppError> {
        let proof = self.proof(caller, fields, Action::SecondFactorOff).await?;
        self.second_factors.remove(caller.authorization(), proof).await
    }

    /// Begins adding a passkey of the caller.
    pub async fn begin_passkey(
        &self,
        caller: &Caller,
        fields: ProofFields,
    ) -> Result<IssuedChallenge, AppError> {
        self.passkeys.begin_adding(caller.authorization(), fields).await
    }

    /// Removes a passkey of the caller. Returns whether a second factor remains.
    pub async fn remove_passkey(
        &self,
        caller: &Caller,
        passkey: &PasskeyId,
        fields: ProofFields,
    ) -> Result<bool, AppError> {
        let proof = self.proof(caller, fields, Action::PasskeyRemove).await?;
        self.passkeys.remove(caller.authorization(), passkey, proof).await
    }

    async fn proof(&self, caller: &Caller, fields: ProofFields, action: Action) -> Result<Proof, AppError> {
        self.passkeys.proof(caller.authorization(), fields, action).await
    }
}
