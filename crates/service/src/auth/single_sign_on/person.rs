//! Maps the provider's claims to an account and a role.

use super::SingleSignOn;
use crate::auth::refusal;
use base::username;
use clients::provider::Claims;
use model::audit::Actor;
use model::error::{AppError, ErrorCode};
use model::time::Timestamp;
use model::user::{GivenProjects, Role};
use store::Store;
use store::accounts::admission::{Account, Admitted};
use store::accounts::groups::{Followed, Granted};
use store::accounts::identities::Identity;

/// The maximum number of accounts whose names derive from the same e-mail address.
const NAMESAKES: u32 = 100;

impl SingleSignOn {
    /// The person of these claims. The first sign-in creates the account. Issuer and subject identify the person:
    /// another account with the same name or e-mail address belongs to another person.
    pub(super) async fn person(&self, claims: &Claims) -> Result<Admitted, AppError> {
        let config = self.provider.config()?;
        let email = email(claims, config.trusts_email)?;
        let Some(role) = config.roles.role_of(claims.groups.iter().map(String::as_str)) else {
            return Err(refused(
                "None of your groups may use Docket. Ask an administrator to add you to one that may.",
            ));
        };
        let projects = config.projects.given_to(claims.groups.iter().map(String::as_str));
        let identity = Identity { issuer: &config.issuer, subject: &claims.subject };
        let granted = Granted { role, projects: &projects, keeps_all: false };
        match self.store.account_by_identity(identity).await? {
            Some(account) => follow(&self.store, account, &granted, self.clock.now()).await,
            None => self.added(identity, email, role, &projects).await,
        }
    }

    /// Creates an account named by the e-mail address, with a number if that name is used or looks like another one.
    async fn added(
        &self,
        identity: Identity<'_>,
        email: &str,
        role: Role,
        projects: &GivenProjects,
    ) -> Result<Admitted, AppError> {
        for number in 1..=NAMESAKES {
            let name = if number == 1 { email.to_owned() } else { format!("{email} ({number})") };
            let name = username::parse(&name).map_err(|_| {
                refused(
                    "Your e-mail address cannot be a username: it is too long, reserved, or has unsupported characters.",
                )
            })?;
            let now = self.clock.now();
            if self.store.add_user_of(identity, &name, role, projects, now).await? {
                tracing::info!(user = name, %role, "added by single sign-on");
            }
            // A concurrent sign-in of the same person may have created it.
            if let Some(account) = self.store.account_by_identity(identity).await? {
                return admitted(account);
            }
        }
        Err(refused("Too many accounts have a name like yours. Ask an administrator."))
    }
}

/// The address of a person. One that the provider does not say to have verified is accepted only if `trusts_email`.
fn email(claims: &Claims, trusts_email: bool) -> Result<&str, AppError> {
    match (claims.email.as_deref(), claims.email_verified) {
        (None, _) => Err(refused(
            "Your provider does not send your e-mail address. Ask an administrator to have it send the claim “email”.",
        )),
        (Some(email), Some(true)) => Ok(email),
        (Some(email), None) if trusts_email => Ok(email),
        (Some(_), None) => Err(refused(
            "Your provider does not say whether it has verified your e-mail address. Ask an administrator: DOCKET_OIDC_TRUST_EMAIL=true accepts its addresses.",
        )),
        (Some(_), Some(false)) => Err(refused(
            "Your provider has not verified your e-mail address. Verify it there, then sign in again.",
        )),
    }
}

/// Sets the role and the projects of a person who may enter from their groups; a change ends their sessions.
pub async fn follow(
    store: &Store,
    account: Account,
    granted: &Granted<'_>,
    now: Timestamp,
) -> Result<Admitted, AppError> {
    let person = admitted(account)?;
    match store.follow_groups(&person, granted, &Actor::docket(), now).await? {
        Followed::Unchanged => Ok(person),
        Followed::Changed(account) => admitted(account.ok_or_else(AppError::internal)?),
        Followed::LastAdministrator => Err(refused(
            "You are the last administrator, and your groups would take that role from you. Add another administrator first.",
        )),
    }
}

/// The person of the account, if they may enter.
pub fn admitted(account: Account) -> Result<Admitted, AppError> {
    match account {
        Account::Admitted(person) => Ok(person),
        Account::Refused(_, why) => Err(refused(refusal::not_admitted(why))),
    }
}

fn refused(sentence: &str) -> AppError {
    tracing::warn!(reason = sentence, "single sign-on refused");
    AppError::new(ErrorCode::Forbidden, sentence)
}
