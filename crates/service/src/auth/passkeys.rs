//! Passkeys: credentials of people's devices, which verify the person themselves. They sign people in alone, or replace
//! the code after the password.

mod challenge;
mod error;
mod proof;
mod relying_party;
mod sign_in;

use webauthn_rs::Webauthn;
use webauthn_rs::prelude::{CredentialID, Passkey, RegisterPublicKeyCredential, Uuid};

use self::challenge::{Purpose, Requester};
use self::error::PasskeyError;
use super::attempts::Attempts;
use super::current_password::CurrentPassword;
use super::refusal_record::RefusalRecord;
use super::second_factor::{self, Proof, ProofFields, SecondFactors, recovery};
use base::clock::Clock;
use base::config::PublicUrl;
use model::audit::Action;
use model::error::AppError;
use model::id::PasskeyId;
use model::name::is_plain;
use model::passkey;
use store::accounts::passkeys::{Added, NewPasskey, Removed, StoredPasskey};
use store::accounts::users::User;
use store::authorization::Authorization;
use store::{Store, StoreError};

pub use challenge::{CHALLENGE_SECONDS, IssuedChallenge};

/// The maximum number of passkeys per person.
const MOST: i64 = 20;
/// The maximum length of a passkey's name, in characters.
const LONGEST_NAME: usize = 64;

/// All passkeys. Clones share their state.
#[derive(Clone)]
pub struct Passkeys {
    store: Store,
    clock: Clock,
    attempts: Attempts,
    refusals: RefusalRecord,
    second_factors: SecondFactors,
    current_password: CurrentPassword,
    /// `None` if browsers support no passkeys for the public URL.
    relying_party: Option<Webauthn>,
    address: String,
}

impl Passkeys {
    pub fn new(
        store: Store,
        clock: Clock,
        attempts: Attempts,
        refusals: RefusalRecord,
        second_factors: SecondFactors,
        current_password: CurrentPassword,
        public_url: &PublicUrl,
    ) -> Self {
        let relying_party = relying_party::of(public_url);
        Self {
            store,
            clock,
            attempts,
            refusals,
            second_factors,
            current_password,
            relying_party,
            address: public_url.origin().to_owned(),
        }
    }

    /// Whether browsers support passkeys for the public URL.
    pub fn are_possible(&self) -> bool {
        self.relying_party.is_some()
    }

    /// A person's passkeys, for their account page. `device`: this one, proposed as the name of a new passkey.
    pub async fn of(&self, user: &User, device: String) -> Result<passkey::Passkeys, StoreError> {
        let stored = self.store.passkeys_of(&user.id).await?;
        let has_authenticator = self.second_factors.has_authenticator(&user.id).await?;
        let codes_left = match stored.is_empty() || has_authenticator {
            true => None,
            false => Some(self.store.recovery_codes_left(&user.id).await?),
        };
        let is_last_factor = stored.len() == 1 && !has_authenticator;
        let list = stored.into_iter().map(|stored| passkey::Passkey {
            id: stored.id,
            name: stored.name,
            added: stored.created_at,
            last_used: stored.last_used_at,
            is_last_factor,
        });
        let adding = if user.password_hash.is_empty() {
            passkey::Adding::NoPassword
        } else if self.are_possible() {
            passkey::Adding::Possible { suggested: device }
        } else {
            passkey::Adding::NoAddress { address: self.address.clone() }
        };
        Ok(passkey::Passkeys { list: list.collect(), adding, codes_left })
    }

    /// Begins adding a passkey, given a proof ([`Self::proof`]). Returns the options for the browser.
    pub async fn begin_adding(
        &self,
        request: &Authorization,
        fields: ProofFields,
    ) -> Result<IssuedChallenge, AppError> {
        let user = request.user();
        let relying_party = self.relying_party()?;
        if user.password_hash.is_empty() {
            return Err(PasskeyError::NoPassword.into());
        }
        let proof = self.proof(request, fields, Action::PasskeyAdd).await?;
        let known = self.store.passkeys_of(&user.id).await?;
        if known.len() as i64 >= MOST {
            return Err(PasskeyError::TooMany.into());
        }
        let known: Vec<CredentialID> = known
            .iter()
            .map(|known| Ok(read(known)?.cred_id().clone()))
            .collect::<Result<_, StoreError>>()?;
        let id: Uuid = user.id.parse().map_err(|_| corrupt("the id of a person"))?;
        let (challenge, state) = relying_party
            .start_passkey_registration(id, &user.name, &user.name, Some(known))
            .map_err(PasskeyError::not_begun)?;
        let purpose = Purpose::Add { by: Requester::of(request), is_proven: proof.has_factor(), state };
        self.issue(&user.id, &purpose, relying_party::discoverable(&challenge)).await
    }

    /// Adds the passkey that the browser made. Returns new recovery codes if the person had none.
    pub async fn add(
        &self,
        request: &Authorization,
        token: &str,
        name: &str,
        credential: &str,
    ) -> Result<Vec<String>, AppError> {
        let user = request.user();
        let (is_proven, state) = match self.answered(token).await? {
            Some(Purpose::Add { by, is_proven, state }) if by.has_sent(request) => (is_proven, state),
            _ => return Err(PasskeyError::AddingOver.into()),
        };
        let name = checked_name(name)?;
        let made: RegisterPublicKeyCredential =
            serde_json::from_str(credential).map_err(|_| PasskeyError::Unreadable)?;
        let made = self.relying_party()?.finish_passkey_registration(&made, &state);
        let passkey = made.map_err(PasskeyError::not_added)?;
        let codes = recovery::new_codes();
        let new = NewPasskey {
            credential_id: &challenge::base64url(passkey.cred_id()),
            name,
            credential: &written(&passkey)?,
            recovery: &recovery::hashes(&codes),
            is_proven,
        };
        let with_codes = match self.store.add_passkey(request.into(), &new, MOST).await? {
            Added::Done { with_codes } => with_codes,
            Added::Unproven => return Err(PasskeyError::Unproven.into()),
            Added::AlreadyAdded => return Err(PasskeyError::AlreadyAdded.into()),
            Added::TooMany => return Err(PasskeyError::TooMany.into()),
        };
        tracing::info!(user = user.name, "passkey added");
        Ok(if with_codes { codes } else { Vec::new() })
    }

    /// Renames a passkey.
    pub async fn rename(
        &self,
        request: &Authorization,
        passkey: &PasskeyId,
        name: &str,
    ) -> Result<(), AppError> {
        match self.store.rename_passkey(request.into(), passkey.as_str(), checked_name(name)?).await? {
            true => Ok(()),
            false => Err(PasskeyError::Gone.into()),
        }
    }

    /// Removes a passkey, given a proof ([`Self::proof`]). Returns whether a second factor remains.
    pub async fn remove(
        &self,
        request: &Authorization,
        passkey: &PasskeyId,
        proof: Proof,
    ) -> Result<bool, AppError> {
        match self.store.remove_passkey(request.into(), passkey.as_str(), proof.has_factor()).await? {
            Removed::Done { still_on } => {
                tracing::info!(user = request.user().name, "passkey removed");
                Ok(still_on)
            }
            Removed::Unproven => Err(second_factor::missing()),
            Removed::NotFound => Err(PasskeyError::Gone.into()),
        }
    }

    fn relying_party(&self) -> Result<&Webauthn, PasskeyError> {
        self.relying_party.as_ref().ok_or_else(|| PasskeyError::NoAddress(self.address.clone()))
    }
}

fn checked_name(name: &str) -> Result<&str, PasskeyError> {
    let name = name.trim();
    let good = (1..=LONGEST_NAME).contains(&name.chars().count()) && is_plain(name);
    good.then_some(name).ok_or(PasskeyError::Name)
}

/// Parses the public key of a stored passkey.
fn read(stored: &StoredPasskey) -> Result<Passkey, StoreError> {
    serde_json::from_str(&stored.credential).map_err(|_| corrupt("a passkey"))
}

/// A public key in its stored form.
fn written(passkey: &Passkey) -> Result<String, StoreError> {
    serde_json::to_string(passkey).map_err(|_| corrupt("a passkey"))
}

fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(format!("{what} cannot be read"))
}
