//! The guard at the top of every server function: the caller and their permission.

use std::net::IpAddr;

use axum::http::request::Parts;
use leptos::prelude::use_context;
use leptos::server_fn::ServerFn;

use super::roles::{self, PageData};
use crate::server::state::AppState;
use base::query_permits::QueryPermit;
use model::audit::Actor;
use model::budget::{Budgets, Notice};
use model::error::{AppError, ErrorCode};
use model::id::ProjectId;
use model::user::{CurrentSession, Project, Role};
use store::Authority;
use store::accounts::admission::Admitted;
use store::authorization::Authorization;
use store::jobs::seen::Reader;

/// The person of a request, who has a session or owns its API token. The gate adds it to the request.
#[derive(Clone)]
pub struct Caller {
    pub user: Admitted,
    pub state: AppState,
    /// The stored hash of their session id.
    pub session: Option<String>,
    pub client_ip: IpAddr,
    /// Whether it is a background request of an open page.
    pub is_refresh: bool,
    authorization: Authorization,
}

/// The caller, if they may call the server function `F`.
pub fn of<F: ServerFn>() -> Result<Caller, AppError> {
    of_path(F::PATH)
}

/// The caller, if they may see this data of a page.
pub fn of_page(data: PageData) -> Result<Caller, AppError> {
    let caller = signed_in()?;
    caller.must_be(data.least())?;
    Ok(caller)
}

/// Not generic: there is one copy of it, not one for each server function.
fn of_path(path: &str) -> Result<Caller, AppError> {
    let caller = signed_in()?;
    roles::check(caller.user.role, path)?;
    Ok(caller)
}

fn signed_in() -> Result<Caller, AppError> {
    let caller = use_context::<Parts>().and_then(|parts| parts.extensions.get::<Caller>().cloned());
    caller.ok_or_else(|| AppError::new(ErrorCode::Unauthenticated, "Sign in to continue."))
}

impl Caller {
    /// The person who was admitted by `authorization`.
    pub fn new(state: AppState, authorization: Authorization, is_refresh: bool) -> Self {
        let (user, client_ip) = (authorization.user().clone(), authorization.client_ip());
        let session = authorization.session().map(str::to_owned);
        Self { user, state, session, client_ip, is_refresh, authorization }
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
        roles::at_least(self.user.role, least)
    }

    /// The configured project with this id. A project that this person may not see is reported as missing.
    pub fn project(&self, id: &str) -> Result<ProjectId, AppError> {
        let id: ProjectId = id.parse().map_err(AppError::bad_input)?;
        let known = self.state.projects().iter().any(|project| project.id == id);
        (known && self.user.may_see(&id))
            .then_some(id)
            .ok_or_else(|| AppError::not_found("This project does not exist."))
    }

    /// The projects that this person may see.
    pub fn projects(&self) -> Vec<Project> {
        let all = self.state.projects();
        all.iter().filter(|project| self.user.may_see(&project.id)).cloned().collect()
    }

    /// A permit for a query that may read much data.
    pub async fn query_permit(&self) -> Result<QueryPermit, AppError> {
        self.state.query_permits.acquire(&self.user.id).await
    }

    /// The caller as an actor of the audit log.
    pub fn actor(&self) -> Actor {
        self.user.actor(&self.client_ip.to_string())
    }

    /// Whose changes are new to this person. Viewers have no jobs of their own.
    pub fn reader(&self) -> Reader {
        Reader { user_id: self.user.id.clone(), everyone: self.user.role < Role::Operator }
    }

    /// The part of `budgets` that this person may see: only administrators see a refused key.
    pub fn visible_budgets(&self, budgets: Budgets) -> Budgets {
        let notice = budgets.notice.map(|notice| match notice {
            Notice::KeyRefused if self.user.role < Role::Admin => Notice::Failing,
            notice => notice,
        });
        let reviews = budgets.reviews.filter(|_| self.state.code_hosts.are_connected());
        Budgets { notice, reviews, ..budgets }
    }

    pub fn session(&self) -> CurrentSession {
        CurrentSession {
            id: self.user.id.clone(),
            username: self.user.name.clone(),
            role: self.user.role,
            projects: self.projects(),
        }
    }
}
