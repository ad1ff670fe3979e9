//! Maps the provider's claims to an account and a role.

use super::SingleSignOn;
use super::provider::Claims;
use crate::error::{AppError, ErrorCode};
use crate::model::audit::Actor;
use crate::model::time::Timestamp;
use crate::model::user::{GivenProjects, Role};
use crate::server::auth::username;
use crate::server::store::Store;
use crate::server::store::accounts::identities::Identity;
use crate::server::store::accounts::users::User;

/// The maximum number of accounts whose names derive from the same e-mail address.
const NAMESAKES: u32 = 100;

impl SingleSignOn {
    /// The person of these claims. The first sign-in creates the account. Issuer and subject identify the person:
    /// another account with the same name or e-mail address belongs to another person.
    pub(super) async fn person(&self, claims: &Claims) -> Result<User, AppError> {
        let config = self.provider.config()?;
        let Some(email) = claims.email.as_deref().filter(|_| claims.email_verified) else {
            return Err(refused(
                "Your provider has not verified your e-mail address. Verify it there, then sign in again.",
            ));
        };
        let Some(role) = config.roles.role_of(claims.groups.iter().map(String::as_str)) else {
            return Err(refused(
                "None of your groups may use Docket. Ask an administrator to add you to one that may.",
            ));
        };
        let projects = config.projects.given_to(claims.groups.iter().map(String::as_str));
        let identity = Identity { issuer: &config.issuer, subject: &claims.subject };
        match self.store.user_by_identity(identity).await? {
            Some(user) if user.disabled => {
                Err(refused("Your account here is disabled. Ask an administrator to enable it."))
            }
            Some(user) => {
                follow(&self.store, &user, role, Some(&projects), self.clock.now()).await?;
                Ok(self.store.user_by_id(&user.id).await?.unwrap_or(user))
            }
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
    ) -> Result<User, AppError> {
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
            if let Some(user) = self.store.user_by_identity(identity).await? {
                return Ok(user);
            }
        }
        Err(refused("Too many accounts have a name like yours. Ask an administrator."))
    }
}

/// Sets the role, and the projects if they follow groups, from the person's groups; a change ends their sessions.
pub(crate) async fn follow(
    store: &Store,
    user: &User,
    role: Role,
    projects: Option<&GivenProjects>,
    now: Timestamp,
) -> Result<(), AppError> {
    if !store.follow_groups(user, role, projects, &Actor::docket(), now).await? {
        return Err(refused(
            "You are the last administrator, and your groups would take that role from you. Add another administrator first.",
        ));
    }
    Ok(())
}

fn refused(sentence: &str) -> AppError {
    tracing::warn!(reason = sentence, "single sign-on refused");
    AppError::new(ErrorCode::Forbidden, sentence)
}
