//! The hourly budgets of upstream calls, and the upstream's state.

use leptos::prelude::*;

use model::budget::Budgets;
#[cfg(feature = "ssr")]
use model::budget::PageBudgets;
use model::error::AppError;
#[cfg(feature = "ssr")]
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links::UPSTREAM;
use model::upstream::UpstreamStatus;
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::flash;

/// The budgets of a project, over the last 60 minutes, and the number of the caller's unread jobs.
#[server(name = GetBudgets, prefix = "/api", endpoint = "upstream/budgets")]
pub async fn budgets(project: String) -> Result<Budgets, AppError> {
    Ok(page_budgets(&project).await?.budgets)
}

/// The same for a page of the server.
#[cfg(feature = "ssr")]
pub async fn page_budgets(project: &str) -> Result<PageBudgets, AppError> {
    let (caller, state) = guard::of::<GetBudgets>()?;
    let project = caller.project(project)?;
    let budgets = state.governor.budgets(&project, &caller.reader()).await?;
    Ok(caller.visible_budgets(budgets, state.code_hosts.are_connected()))
}

/// Limits, pauses, the last result of each operation and the circuit breakers. For administrators.
#[server(name = GetUpstreamStatus, prefix = "/api", endpoint = "upstream/status")]
pub async fn upstream_status() -> Result<UpstreamStatus, AppError> {
    let (caller, state) = guard::of::<GetUpstreamStatus>()?;
    let status = state.governor.status(&state.projects(), &caller.user.id).await?;
    let working = tokio::runtime::Handle::current().metrics().num_alive_tasks() as u64;
    let (tasks, unknown_proxy) = (state.tasks.all(), state.unknown_proxy.seen());
    let configuration_refused_at = state.settings.last_read().refused_at;
    let clock_jump = state.clock_check.jump();
    let code_hosts = state.code_hosts.status().await?;
    Ok(UpstreamStatus {
        tasks,
        working,
        unknown_proxy,
        configuration_refused_at,
        clock_jump,
        code_hosts,
        ..status
    })
}

/// Trusts the clock after a jump, so that old data is removed again. For administrators.
#[server(prefix = "/api", endpoint = "upstream/trust-clock")]
pub async fn trust_clock() -> Result<(), AppError> {
    let (caller, state) = guard::of::<TrustClock>()?;
    let text = match state.clock_check.trust(caller.authority()).await? {
        true => "You confirmed the time. Old data is removed again.",
        false => "The clock was already trusted. Nothing changed.",
    };
    flash::redirect_with(UPSTREAM, Confirmation::new(text));
    Ok(())
}
