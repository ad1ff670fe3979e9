//! `docket serve`: runs the server from its configuration until a stop signal.

use anyhow::Context;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::server::audit::Keeper;
use crate::server::auth::first_admin;
use crate::server::clock::Clock;
use crate::server::config::{AuditConfig, Config, PublicUrl};
use crate::server::listen;
use crate::server::panel::{Panel, PanelConfig};
use crate::server::router::router;
use crate::server::store::Store;

pub async fn serve(config: Config) -> anyhow::Result<()> {
    let clock = Clock::system();
    let store = Store::open(&config.database.url).await?;
    let listener = listen::bind(config.http.addr).await?;
    let address = listener.local_addr()?;
    let public_url = config.http.public_url.unwrap_or_else(|| PublicUrl::of(address));
    first_admin::ensure(&store, &clock, config.admin_password, &public_url).await?;
    let made_of = PanelConfig {
        projects: config.projects,
        public_url,
        upstream: &config.upstream,
        budget: config.budget,
        webhooks: config.webhooks,
        access: config.access,
        identity: config.identity,
    };
    let panel = Panel::new(made_of, store, clock)?;
    tracing::info!(%address, public_url = panel.public_url.origin(), "listening");
    run_with_history(panel, config.audit, listener, stop_on_signal()).await
}

/// Like [`run`], and also fetches the daily history and maintains the audit log.
pub async fn run_with_history(
    panel: Panel,
    audit: AuditConfig,
    listener: TcpListener,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let history = tokio::spawn({
        let (history, stop) = (panel.history.clone(), stop.clone());
        async move { history.run(stop).await }
    });
    let keeper = tokio::spawn({
        let (keeper, stop) = (Keeper::new(panel.store.clone(), panel.clock.clone(), audit), stop.clone());
        async move { keeper.run(stop).await }
    });
    let ended = run(panel, listener, stop.clone()).await;
    stop.cancel();
    history.await.context("keeping the history in step")?;
    keeper.await.context("keeping the audit log in order")?;
    ended
}

/// Serves requests, delivers and polls jobs and sends webhooks until `stop`; then finishes the work in progress. The
/// history is not fetched, so that tests can count every call.
pub async fn run(panel: Panel, listener: TcpListener, stop: CancellationToken) -> anyhow::Result<()> {
    panel.jobs.settle_interrupted().await.context("settling what an earlier run left behind")?;
    let jobs = tokio::spawn({
        let (jobs, stop) = (panel.jobs.clone(), stop.clone());
        async move { jobs.run(stop).await }
    });
    let webhooks = tokio::spawn({
        let (webhooks, stop) = (panel.webhooks.clone(), stop.clone());
        async move { webhooks.run(stop).await }
    });
    listen::serve(listener, router(&panel), stop).await;
    jobs.await.context("delivering jobs")?;
    webhooks.await.context("delivering webhooks")?;
    // Deliveries of the last requests, whether or not a client still waits for them.
    panel.jobs.delivered().await;
    panel.store.close().await;
    Ok(())
}

/// A token that is cancelled by SIGTERM or SIGINT.
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
