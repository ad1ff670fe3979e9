//! What is left of the hour's budget of upstream calls.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::budget::Budgets;
#[cfg(feature = "ssr")]
use crate::server::auth::guard;

/// The budgets of a project, counted over the last 60 minutes.
#[server(name = GetBudgets, prefix = "/api", endpoint = "upstream/budgets")]
pub async fn budgets(project: String) -> Result<Budgets, AppError> {
    let caller = guard::viewer()?;
    let project = caller.project(&project)?;
    caller.panel.governor.budgets(&project).await
}
