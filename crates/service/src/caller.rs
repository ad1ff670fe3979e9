//! The person of a request, and what they may see.

use std::net::IpAddr;
use std::sync::Arc;

use base::query_permits::{QueryPermit, UserPermits};
use model::audit::Actor;
use model::budget::{Budgets, Notice, PageBudgets};
use model::error::{AppError, ErrorCode};
use model::id::ProjectId;
use model::user::{CurrentSession, Project, Role};
use store::Authority;
use store::accounts::admission::Admitted;
use store::authorization::Authorization;
use store::jobs::seen::Reader;

/// The person of a request, who has a session or owns its API token.
#[derive(Clone)]
pub struct Caller {
    pub user: Admitted,
    /// The stored hash of their session id.
    pub session: Option<String>,
    pub client_ip: IpAddr,
    /// Whether it is a background request of an open page.
    pub is_refresh: bool,
    authorization: Authorization,
    /// The configured ones, also those that the person may not see.
    all_projects: Arc<[Project]>,
    permits: UserPermits,
}

impl Caller {
    /// The person who was admitted by `authorization`. `all_projects`: the configured ones. `permits`: for this person's queries.
    pub fn new(
        authorization: Authorization,
        is_refresh: bool,
        all_projects: Arc<[Project]>,
        permits: UserPermits,
    ) -> Self {
        let (user, client_ip) = (authorization.user().clone(), authorization.client_ip());
        let session = authorization.session().map(str::to_owned);
        Self { user, session, client_ip, is_refresh, authorization, all_projects, permits }
    }

    /// What the request was admitted by; each of its writes checks it again.
    pub fn authorization(&self) -> &Authorization {
        &self.authorization
    }

    /// The request as the authority of its writes.
    pub fn authority(&self) -> Authority<'_> {
        Authority::Request(&self.authorization)
    }

    /// For an action that needs a higher role than its server function.
    pub fn must_be(&self, least: Role) -> Result<(), AppError> {
        at_least(self.user.role, least)
    }

    /// The configured project with this id. A project that this person may not see is reported as missing.
    pub fn project(&self, id: &str) -> Result<ProjectId, AppError> {
        let id: ProjectId = id.parse()?;
        let known = self.all_projects.iter().any(|project| project.id == id);
        (known && self.user.may_see(&id))
            .then_some(id)
            .ok_or_else(|| AppError::not_found("This project does not exist."))
    }

    /// The projects that this person may see.
    pub fn projects(&self) -> Vec<Project> {
        self.all_projects.iter().filter(|project| self.user.may_see(&project.id)).cloned().collect()
    }

    /// Whether this person may see every project.
    pub fn sees_all_projects(&self) -> bool {
        self.all_projects.iter().all(|project| self.user.may_see(&project.id))
    }

    /// A permit for a query that may read much data.
    pub async fn query_permit(&self) -> Result<QueryPermit, AppError> {
        self.permits.acquire().await
    }

    /// The permits of this person, for work that outlives the request.
    pub fn permits(&self) -> &UserPermits {
        &self.permits
    }

    /// The caller as an actor of the audit log.
    pub fn actor(&self) -> Actor {
        self.user.actor(&self.client_ip.to_string())
    }

    /// Whose changes are new to this person. Viewers have no jobs of their own.
    pub fn reader(&self) -> Reader {
        Reader { user_id: self.user.id.clone(), everyone: self.user.role < Role::Operator }
    }

    /// The part of the budgets that this person may see: only administrators see a refused key. The reviews are shown if a code host is
    /// connected.
    pub fn visible_budgets(&self, found: PageBudgets, has_code_hosts: bool) -> PageBudgets {
        let budgets = found.budgets;
        let notice = budgets.notice.map(|notice| match notice {
            Notice::KeyRefused if self.user.role < Role::Admin => Notice::Failing,
            notice => notice,
        });
        let reviews = budgets.reviews.filter(|_| has_code_hosts);
        PageBudgets { budgets: Budgets { notice, reviews, ..budgets }, ..found }
    }

    pub fn session(&self) -> CurrentSession {
        CurrentSession { username: self.user.name.clone(), role: self.user.role, projects: self.projects() }
    }
}

/// Checks whether this role is at least `least`.
pub fn at_least(role: Role, least: Role) -> Result<(), AppError> {
    if role >= least {
        return Ok(());
    }
    Err(AppError::new(
        ErrorCode::Forbidden,
        format!("Your role is {role}; this needs the role {least}. Ask an administrator."),
    ))
}
