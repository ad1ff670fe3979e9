//! API tokens: a person's own, and everyone's for administrators.

use super::{ProjectFields, given};
use crate::auth::api_token::TokenText;
use crate::auth::current_password::CurrentPassword;
use crate::caller::Caller;
use base::clock::Clock;
use base::nfc::nfc;
use model::ParseError;
use model::api_token::{ApiToken, LISTED_MAX, NAME_MAX_CHARS, OwnTokens, Scope, Scopes, TokenDays};
use model::error::AppError;
use model::flash::Confirmation;
use model::id::ApiTokenId;
use model::name::is_plain;
use model::user::{GivenProjects, Role};
use store::Store;
use store::accounts::api_tokens::{AddedToken, NewApiToken, RotatedToken, TokenSecret};

/// The fields of the form for a new token.
#[derive(Debug)]
pub struct TokenFields<'a> {
    pub name: &'a str,
    pub scopes: Scopes,
    pub projects: ProjectFields<'a>,
    pub days: TokenDays,
}

/// The API tokens of people.
#[derive(Clone)]
pub struct ApiTokens {
    store: Store,
    clock: Clock,
    current_password: CurrentPassword,
}

impl ApiTokens {
    pub fn new(store: Store, clock: Clock, current_password: CurrentPassword) -> Self {
        Self { store, clock, current_password }
    }

    /// The caller's tokens, for their page.
    pub async fn own(&self, caller: &Caller) -> Result<OwnTokens, AppError> {
        let permitted = |scope: &Scope| caller.user.role >= scope.least_role();
        Ok(OwnTokens {
            tokens: self.store.api_tokens(Some(&caller.user.id), LISTED_MAX, self.clock.now()).await?,
            scopes: Scope::ALL.iter().copied().filter(permitted).collect(),
            projects: caller.projects(),
            has_password: !caller.user.password_hash.is_empty(),
        })
    }

    /// Everyone's tokens, at most [`LISTED_MAX`].
    pub async fn all(&self) -> Result<Vec<ApiToken>, AppError> {
        Ok(self.store.api_tokens(None, LISTED_MAX, self.clock.now()).await?)
    }

    /// Creates a token of the caller; the `secret` of the confirmation is the token. A person with a password enters it, so that a
    /// stolen session creates none.
    pub async fn create(
        &self,
        caller: &Caller,
        fields: TokenFields<'_>,
        password: String,
    ) -> Result<Confirmation, AppError> {
        let user = &caller.user;
        let name = checked_name(fields.name)?;
        must_permit(user.role, &fields.scopes)?;
        let projects = given(fields.projects, &caller.projects(), &GivenProjects::default())?;
        must_have_one(&projects)?;
        self.check_password(caller, password).await?;
        let (token, now) = (TokenText::random(), self.clock.now());
        let new = NewApiToken {
            owner: user,
            name: &name,
            hash: &token.hash(),
            last_four: token.last_four(),
            scopes: &fields.scopes,
            projects: &projects,
            expires_at: fields.days.after(now),
        };
        match self.store.add_api_token(caller.authority(), &new).await? {
            AddedToken::Done(id) => {
                tracing::info!(token = %id, owner = user.name, "API token created");
                let sentence = "Token created. Copy it now: it is shown only once.";
                Ok(Confirmation::new(sentence).with_secret(token.expose().to_owned()))
            }
            AddedToken::NoOwner => Err(no_owner()),
        }
    }

    /// Replaces one of the caller's active tokens by a new one, which the confirmation has as its `secret`. The old one works for 24 more hours.
    pub async fn rotate(
        &self,
        caller: &Caller,
        token: &ApiTokenId,
        password: String,
    ) -> Result<Confirmation, AppError> {
        self.check_password(caller, password).await?;
        let text = TokenText::random();
        let secret = TokenSecret { hash: &text.hash(), last_four: text.last_four() };
        let owner = Some(caller.user.id.as_str());
        match self.store.rotate_api_token(caller.authority(), token, owner, &secret).await? {
            RotatedToken::Done { id, .. } => {
                tracing::info!(token = %id, replaced = %token, owner = caller.user.name, "API token rotated");
                let sentence = "Token rotated. Copy the new one now: it is shown only once. The old one works for 24 more hours.";
                Ok(Confirmation::new(sentence).with_secret(text.expose().to_owned()))
            }
            RotatedToken::NotActive => Err(AppError::not_found(
                "This token does not exist, or it expired or was revoked. Reload the page to see the current ones.",
            )),
            RotatedToken::Replaced(_) => Err(AppError::conflict(
                "This token was rotated already. Rotate the one that replaces it, which has the same name.",
            )),
            RotatedToken::NoOwner => Err(no_owner()),
        }
    }

    /// A person with a password enters it, so that a stolen session creates no token.
    async fn check_password(&self, caller: &Caller, password: String) -> Result<(), AppError> {
        let Caller { user, client_ip, .. } = caller;
        if user.password_hash.is_empty() {
            return Ok(());
        }
        self.current_password.check(user, *client_ip, password).await
    }

    /// Revokes one of the caller's tokens.
    pub async fn revoke(&self, caller: &Caller, token: &ApiTokenId) -> Result<Confirmation, AppError> {
        self.revoke_of(caller, token, Some(&caller.user.id)).await
    }

    /// Revokes a token of anyone.
    pub async fn revoke_any(&self, caller: &Caller, token: &ApiTokenId) -> Result<Confirmation, AppError> {
        self.revoke_of(caller, token, None).await
    }

    async fn revoke_of(
        &self,
        caller: &Caller,
        token: &ApiTokenId,
        owner: Option<&str>,
    ) -> Result<Confirmation, AppError> {
        if !self.store.revoke_api_token(caller.authority(), token, owner).await? {
            return Err(AppError::not_found(
                "This token does not exist, or it was revoked already. Reload the page to see the current ones.",
            ));
        }
        tracing::info!(%token, by = caller.user.name, "API token revoked");
        Ok(Confirmation::new("Token revoked. It no longer works."))
    }
}

fn no_owner() -> AppError {
    AppError::conflict("Your account cannot have API tokens. Accept your invitation first.")
}

/// A name without spaces around it, in NFC.
pub fn checked_name(name: &str) -> Result<String, ParseError> {
    let name = nfc(name.trim());
    let is_right = (1..=NAME_MAX_CHARS).contains(&name.chars().count()) && is_plain(&name);
    if is_right {
        Ok(name.into_owned())
    } else {
        Err("A token needs a name of 1 to 64 visible characters, such as the script that uses it.".into())
    }
}

/// Fails if the role of the owner does not permit one of the scopes.
pub fn must_permit(role: Role, scopes: &Scopes) -> Result<(), ParseError> {
    match scopes.iter().find(|scope| role < scope.least_role()) {
        None => Ok(()),
        Some(scope) => Err(format!(
            "The scope {} needs the role {}; this account has the role {role}.",
            scope.as_str(),
            scope.least_role()
        )
        .into()),
    }
}

/// Fails if no project is selected.
pub fn must_have_one(projects: &GivenProjects) -> Result<(), ParseError> {
    match projects {
        GivenProjects::These(ids) if ids.is_empty() => {
            Err("Select at least one project, or all projects.".into())
        }
        _ => Ok(()),
    }
}
