//! The endpoint of the hourly budgets.

use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;

use super::errors::ReadErrors;
use crate::auth::bearer::TokenCaller;
use crate::request::problem::Problem;
use model::api_token::Scope;
use model::budget::{AgentLimit, Meter};
use model::time::Timestamp;

/// The hourly budgets of the token's projects.
#[derive(Serialize, ToSchema)]
pub(super) struct BudgetList {
    budgets: Vec<ProjectBudgets>,
}

/// Calls of the platform in the last 60 minutes.
#[derive(Serialize, ToSchema)]
struct ProjectBudgets {
    project: String,
    /// With a shared limit, also the follow-ups.
    job_starts: Budget,
    /// With a shared limit, also the job starts.
    follow_ups: Budget,
    #[schema(inline)]
    agent_limit: AgentLimit,
    /// Shared by all projects.
    analytics: Budget,
    /// The number of queued prompts.
    queued: u32,
}

#[derive(Serialize, ToSchema)]
struct Budget {
    used: u32,
    limit: u32,
    /// When the next call is possible, if the budget is spent.
    next_at: Option<Timestamp>,
}

/// The hourly budgets of the token's projects.
#[utoipa::path(get, path = "/api/v1/budgets", tag = "Budgets", security(("token" = ["jobs:read"])),
    responses((status = OK, body = BudgetList, description = "The budgets."), ReadErrors))]
pub(super) async fn list_budgets(
    Extension(caller): Extension<TokenCaller>,
) -> Result<Json<BudgetList>, Problem> {
    budgets(&caller).await.map(Json)
}

/// The budgets of the token's projects.
pub(super) async fn budgets(caller: &TokenCaller) -> Result<BudgetList, Problem> {
    caller.needs(Scope::JobsRead)?;
    let (owner, governor) = (caller.caller(), &caller.state().governor);
    let mut budgets = Vec::new();
    for project in caller.projects() {
        let figures = governor.budgets(&project.id, &owner.reader()).await?.budgets;
        budgets.push(ProjectBudgets {
            project: project.id.to_string(),
            job_starts: figures.creates.into(),
            follow_ups: figures.follow_ups.into(),
            agent_limit: figures.agent_limit,
            analytics: figures.analytics.into(),
            queued: figures.waiting,
        });
    }
    Ok(BudgetList { budgets })
}

impl From<Meter> for Budget {
    fn from(Meter { used, limit, next_fits_at }: Meter) -> Self {
        Self { used, limit, next_at: next_fits_at }
    }
}
