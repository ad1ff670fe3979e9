//! `docket serve`: the panel, from its configuration until it is told to stop.

use anyhow::Context;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::server::audit::AuditMaintenance;
use crate::server::auth::first_admin;
use crate::server::clock::Clock;
use crate::server::config::{AuditConfig, Config, PublicUrl};
use crate::server::listen;
use crate::server::router::router;
use crate::server::state::{AppState, AppStateConfig};
use crate::server::store::Store;

pub async fn serve(config: Config) -> anyhow::Result<()> {
    let clock = Clock::system();
    let store = Store::open(&config.database.url).await?;
    let listener = listen::bind(config.http.addr).await?;
    let address = listener.local_addr()?;
    let public_url = config.http.public_url.unwrap_or_else(|| PublicUrl::of(address));
    first_admin::ensure(&store, &clock, config.admin_password, &public_url).await?;
    let state_config = AppStateConfig {
        projects: config.projects,
        public_url,
        upstream: &config.upstream,
        budget: config.budget,
        webhooks: config.webhooks,
        access: config.access,
        identity: config.identity,
    };
    let state = AppState::new(state_config, store, clock)?;
    tracing::info!(%address, public_url = state.public_url.origin(), "listening");
    run_with_history(state, config.audit, listener, stop_on_signal()).await
}

/// As [`run`], and keeps the daily history in step and the audit log in order meanwhile.
pub async fn run_with_history(
    state: AppState,
    audit: AuditConfig,
    listener: TcpListener,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let history = tokio::spawn({
        let (history, stop) = (state.history.clone(), stop.clone());
        async move { history.run(stop).await }
    });
    let maintenance = tokio::spawn({
        let (maintenance, stop) =
            (AuditMaintenance::new(state.store.clone(), state.clock.clone(), audit), stop.clone());
        async move { maintenance.run(stop).await }
    });
    let ended = run(state, listener, stop.clone()).await;
    stop.cancel();
    history.await.context("keeping the history in step")?;
    maintenance.await.context("keeping the audit log in order")?;
    ended
}

/// Serves the panel, delivers and follows its jobs and tells of their ends until `stop`; then ends what is under way. The
/// history stands still, so that tests can count every call.
pub async fn run(state: AppState, listener: TcpListener, stop: CancellationToken) -> anyhow::Result<()> {
    state.jobs.mark_interrupted_unknown().await.context("recording what an earlier run left behind")?;
    let jobs = tokio::spawn({
        let (jobs, stop) = (state.jobs.clone(), stop.clone());
        async move { jobs.run(stop).await }
    });
    let webhooks = tokio::spawn({
        let (webhooks, stop) = (state.webhooks.clone(), stop.clone());
        async move { webhooks.run(stop).await }
    });
    listen::serve(listener, router(&state), stop).await;
    jobs.await.context("delivering jobs")?;
    webhooks.await.context("delivering webhooks")?;
    // What the last requests had sent, whether or not anybody still waited for it.
    state.jobs.delivered().await;
    state.store.close().await;
    Ok(())
}

/// A token that a signal to the process cancels.
pub(super) fn stop_on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        if let Err(error) = listen::stop_signal().await {
            tracing::error!(error = format!("{error:#}"), "signals cannot be received");
            return;
        }
        asked.cancel();
    });
    stop
}
