//! Administration of people: inviting, changing roles and projects, disabling, and signing out. For lost credentials
//! see `sign_in_help`.

pub mod account;
pub mod api_tokens;
pub mod own_factors;
mod sign_in_help;

use crate::auth::{one_time_link, token};
use crate::caller::Caller;
use crate::jobs::queue::cancelled_by;
use base::clock::Clock;
use base::config::PublicUrl;
use base::settings::LiveProjects;
use base::username;
use model::ParseError;
use model::error::AppError;
use model::flash::Confirmation;
use model::id::PersonId;
use model::people::{self, AccountState, ManagedPerson, Person};
use model::user::{GivenProjects, Project, Role};
use store::Store;
use store::accounts::invitations::Invited;
use store::accounts::one_time_links::LinkToken;
use store::accounts::users::User;

/// How long a one-time link is valid.
const LINK_SECONDS: i64 = 48 * 3600;

/// The form fields for the projects of a person.
#[derive(Debug, Clone, Copy)]
pub struct ProjectFields<'a> {
    /// `all` or `selected`.
    pub access: Option<&'a str>,
    /// The selection: comma-separated ids.
    pub selected: Option<&'a str>,
}

/// The accounts of people, for administrators.
#[derive(Clone)]
pub struct People {
    store: Store,
    clock: Clock,
    public_url: PublicUrl,
    projects: LiveProjects,
}

impl People {
    pub fn new(store: Store, clock: Clock, public_url: PublicUrl, projects: LiveProjects) -> Self {
        Self { store, clock, public_url, projects }
    }

    /// Everyone, for the page that lists people.
    pub async fn all(&self, caller: &Caller) -> Result<people::People, AppError> {
        let (people, projects) = (self.listed(caller, "").await?, self.projects.current().to_vec());
        Ok(people::People { people, projects, next: None })
    }

    /// One person, for the page that manages them.
    pub async fn one(&self, caller: &Caller, user: &PersonId) -> Result<ManagedPerson, AppError> {
        let person = self.listed(caller, user.as_str()).await?.pop().ok_or_else(gone)?;
        Ok(ManagedPerson { person, projects: self.projects.current().to_vec() })
    }

    /// Everyone, or `only` the person with this id.
    async fn listed(&self, caller: &Caller, only: &str) -> Result<Vec<Person>, AppError> {
        let now = self.clock.now();
        let (guarded, on_hold) =
            (self.store.with_second_factor().await?, self.store.prompts_on_hold().await?);
        let person = |Invited { user, until, is_on_hold, password_link_until }| Person {
            state: match until {
                _ if user.disabled => AccountState::Disabled,
                _ if is_on_hold => AccountState::InvitationOnHold,
                Some(until) if until <= now => AccountState::InvitationOver,
                Some(_) => AccountState::Invited,
                None => AccountState::Active,
            },
            is_you: user.id == caller.user.id,
            has_second_factor: guarded.contains(&user.id),
            has_password: !user.password_hash.is_empty(),
            password_link_until: password_link_until.filter(|until| *until > now),
            prompts_on_hold: on_hold.get(&user.id).copied().unwrap_or_default(),
            projects: match &user.projects {
                GivenProjects::All => None,
                GivenProjects::These(ids) => Some(ids.iter().map(ToString::to_string).collect()),
            },
            group_projects: user.group_projects.map(|given| given.to_string()),
            id: user.id,
            name: user.name,
            role: user.role,
            last_seen: user.last_seen_at,
        };
        Ok(self.store.people(only).await?.into_iter().map(person).collect())
    }

    /// Adds a person, and creates the link to set a password.
    pub async fn invite(
        &self,
        caller: &Caller,
        name: &str,
        role: Role,
        projects: ProjectFields<'_>,
    ) -> Result<Confirmation, AppError> {
        let name = username::parse_typed(name.trim())?;
        let projects = given(projects, &self.projects.current(), &GivenProjects::default())?;
        let (secret, now) = (token::new(), self.clock.now());
        let link = LinkToken { hash: token::hash(&secret), expires_at: now.plus_seconds(LINK_SECONDS) };
        if !self.store.invite(caller.authority(), &name, role, &projects, &link).await? {
            return Err(AppError::conflict(format!(
                "The username {name} is taken. Choose another one, which also looks different."
            )));
        }
        tracing::info!(name, %role, by = caller.user.name, "person invited");
        Ok(invitation_link(&name, self.one_time_url(&secret)))
    }

    /// Creates a new link for a person who has not accepted the invitation; the old one becomes invalid.
    pub async fn renew(&self, caller: &Caller, user: &PersonId) -> Result<Confirmation, AppError> {
        let (user, secret) = (self.found(user).await?, token::new());
        let now = self.clock.now();
        let link = LinkToken { hash: token::hash(&secret), expires_at: now.plus_seconds(LINK_SECONDS) };
        if !self.store.renew_invitation(caller.authority(), &user.id, &link).await? {
            return Err(already_accepted(&user));
        }
        tracing::info!(name = user.name, by = caller.user.name, "invitation renewed");
        Ok(invitation_link(&user.name, self.one_time_url(&secret)))
    }

    /// Makes an invitation valid again that was suspended because its author was disabled or demoted.
    pub async fn release_invitation(
        &self,
        caller: &Caller,
        user: &PersonId,
    ) -> Result<Confirmation, AppError> {
        let user = self.found(user).await?;
        if !self.store.release_invitation(caller.authority(), &user.id).await? {
            return Err(AppError::conflict(format!(
                "The invitation of {} is not on hold. Someone else may have decided already. Reload the page.",
                user.name
            )));
        }
        tracing::info!(name = user.name, by = caller.user.name, "invitation released from hold");
        Ok(Confirmation::new(format!("The invite link of {} works again until it expires.", user.name)))
    }

    /// Withdraws an invitation.
    pub async fn withdraw(&self, caller: &Caller, user: &PersonId) -> Result<Confirmation, AppError> {
        let user = self.found(user).await?;
        if !self.store.withdraw_invitation(caller.authority(), &user.id).await? {
            return Err(already_accepted(&user));
        }
        tracing::info!(name = user.name, by = caller.user.name, "invitation withdrawn");
        Ok(Confirmation::new(format!(
            "The invitation of {} was withdrawn. The link no longer works.",
            user.name
        )))
    }

    /// Changes a person's role and projects, from their next request on. They have to sign in again.
    pub async fn change(
        &self,
        caller: &Caller,
        user: &PersonId,
        role: Role,
        projects: ProjectFields<'_>,
    ) -> Result<Confirmation, AppError> {
        let user = self.found(user).await?;
        let projects = given(projects, &self.projects.current(), &user.projects)?;
        if !self.store.set_access(caller.authority(), &user.id, role, &projects).await? {
            return Err(last_administrator(&user));
        }
        tracing::info!(name = user.name, %role, by = caller.user.name, "role changed");
        Ok(Confirmation::new(format!(
            "{} is now {} and has to sign in again.",
            user.name,
            with_article(role)
        )))
    }

    /// Disables a person, from their next request on.
    pub async fn disable(&self, caller: &Caller, user: &PersonId) -> Result<Confirmation, AppError> {
        let user = self.found(user).await?;
        if !self.store.set_disabled(caller.authority(), &user.name, true).await? {
            return Err(last_administrator(&user));
        }
        tracing::info!(name = user.name, by = caller.user.name, "person disabled");
        Ok(Confirmation::new(format!("{} is disabled and signed out everywhere.", user.name)))
    }

    /// Enables a person again.
    pub async fn enable(&self, caller: &Caller, user: &PersonId) -> Result<Confirmation, AppError> {
        let user = self.found(user).await?;
        self.store.set_disabled(caller.authority(), &user.name, false).await?;
        tracing::info!(name = user.name, by = caller.user.name, "person enabled");
        Ok(Confirmation::new(format!("{} can sign in again.", user.name)))
    }

    /// Releases a person's suspended prompts, so that they are sent.
    pub async fn release_prompts(&self, caller: &Caller, user: &PersonId) -> Result<Confirmation, AppError> {
        let user = self.found(user).await?;
        let released = self.store.release_on_hold(caller.authority(), &user.id).await?;
        tracing::info!(name = user.name, released, by = caller.user.name, "prompts released from hold");
        Ok(Confirmation::new(match released {
            0 => format!("{} has no prompts on hold. Someone may have decided already.", user.name),
            1 => format!("1 prompt of {} is in the queue again.", user.name),
            released => format!("{released} prompts of {} are in the queue again.", user.name),
        }))
    }

    /// Cancels a person's suspended prompts: their texts remain, and nothing is sent.
    pub async fn cancel_prompts(&self, caller: &Caller, user: &PersonId) -> Result<Confirmation, AppError> {
        let user = self.found(user).await?;
        let reason = cancelled_by(caller);
        let cancelled = self.store.cancel_on_hold(caller.authority(), &user.id, &reason).await?;
        tracing::info!(name = user.name, cancelled, by = caller.user.name, "prompts on hold cancelled");
        Ok(Confirmation::new(match cancelled {
            0 => format!("{} has no prompts on hold. Someone may have decided already.", user.name),
            1 => format!("1 prompt of {} was cancelled. Its text is kept.", user.name),
            cancelled => {
                format!("{cancelled} prompts of {} were cancelled. Their texts are kept.", user.name)
            }
        }))
    }

    /// Ends all sessions of a person.
    pub async fn sign_out(&self, caller: &Caller, user: &PersonId) -> Result<Confirmation, AppError> {
        let user = self.found(user).await?;
        self.store.end_all_sessions(caller.authority(), &user.id).await?;
        tracing::info!(name = user.name, by = caller.user.name, "signed out everywhere");
        Ok(Confirmation::new(format!("{} is signed out everywhere.", user.name)))
    }

    /// The URL of the link with which a person sets a password.
    fn one_time_url(&self, secret: &str) -> String {
        one_time_link::url(&self.public_url, secret)
    }

    async fn found(&self, user: &PersonId) -> Result<User, AppError> {
        self.store.user_by_id(user.as_str()).await?.ok_or_else(gone)
    }
}

/// The projects of a form.
fn given(
    fields: ProjectFields<'_>,
    all: &[Project],
    before: &GivenProjects,
) -> Result<GivenProjects, ParseError> {
    match fields.access {
        Some("all") => Ok(GivenProjects::All),
        Some("selected") => selected(fields.selected.unwrap_or_default(), all, before),
        _ => Err("Choose all projects or selected projects.".into()),
    }
}

/// Parses comma-separated project ids. Each must be configured or part of `before`. An empty list gives no project.
pub fn selected(listed: &str, all: &[Project], before: &GivenProjects) -> Result<GivenProjects, ParseError> {
    let before = match before {
        GivenProjects::All => &[][..],
        GivenProjects::These(ids) => ids,
    };
    let known = |name: &str| {
        let mut ids = all.iter().map(|project| &project.id).chain(before);
        ids.find(|id| id.as_str() == name)
            .cloned()
            .ok_or_else(|| format!("There is no project {name}.").into())
    };
    let names = listed.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(GivenProjects::These(names.map(known).collect::<Result<_, ParseError>>()?))
}

fn gone() -> AppError {
    AppError::not_found("This person does not exist, or not any more.")
}

fn invitation_link(name: &str, link: String) -> Confirmation {
    Confirmation::new(format!(
        "{name} is invited. Send them this link. It is shown only once, works once, and expires after 48 hours."
    ))
    .with_secret(link)
}

fn already_accepted(user: &User) -> AppError {
    AppError::conflict(format!("{} has accepted the invitation already. Reload the page.", user.name))
}

fn last_administrator(user: &User) -> AppError {
    AppError::conflict(format!(
        "{} is the last administrator. Make another person an administrator first.",
        user.name
    ))
}

fn with_article(role: Role) -> &'static str {
    match role {
        Role::Viewer => "a viewer",
        Role::Operator => "an operator",
        Role::Admin => "an administrator",
    }
}
