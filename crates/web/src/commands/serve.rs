//! `docket serve`: runs the server from its configuration until a stop signal.

mod deadline;
mod opening;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use futures::FutureExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::http::{Site, metrics_router, router};
use crate::process::backups::Backups;
use crate::process::reload::Reloading;
use crate::process::sockets::Sockets;
use crate::process::stop_signals::StopSignals;
use crate::process::{listen, reload, service_manager};
use crate::state::{AppState, AppStateConfig};
use crate::telemetry::trace_export::Traces;
use base::clock::Clock;
use base::config::{AuditConfig, BackupConfig, Config, PublicUrl};
use base::settings::Settings;
use base::work::{Docket, Work};
use service::audit::AuditMaintenance;
use service::auth::first_admin;

/// Starts the export of traces, if a collector is configured. The logging depends on it, so it is started first.
pub fn start_traces(config: &Config) -> anyhow::Result<Option<Traces>> {
    let authorities = &config.upstream.certificate_authorities;
    let start = |traces| Traces::start(traces, authorities, store::system(&config.database.url));
    config.traces.as_ref().map(start).transpose()
}

/// A server that is about to start.
pub struct Start {
    pub config: Config,
    pub reloading: Reloading,
    pub sockets: Sockets,
    pub site: Site,
    /// Received since the process began.
    pub signals: StopSignals,
}

/// A server that can accept requests.
struct Ready {
    state: AppState,
    listener: TcpListener,
    for_metrics: Option<TcpListener>,
}

pub async fn serve(start: Start, docket: Docket) -> anyhow::Result<()> {
    let Start { config, reloading, sockets, site, mut signals } = start;
    // Deliveries end within the upstream timeout.
    let expected = config.http.shutdown_delay + listen::SHUTDOWN_MAX.max(config.upstream.timeout);
    deadline::enforce(expected)?;
    let reload_signal = reload::hangup_signal()?;
    let ready = signals.unless_stopped(prepare(&config, sockets, &site, &docket)).await?;
    // Whatever the start had begun in the database is a transaction.
    let Some(Ready { state, listener, for_metrics }) = ready else { return Ok(()) };
    let stop = stop_after(config.http.shutdown_delay, state.leaving.clone(), signals);
    let address = listener.local_addr()?;
    tracing::info!(%address, public_url = state.public_url.origin(), "listening");
    if let Some(traces) = &config.traces {
        let collector = traces.endpoint.origin().ascii_serialization();
        tracing::info!(collector, "sending traces");
    }
    let metrics =
        for_metrics.map(|listener| background(serve_metrics(state.clone(), listener, stop.clone())));
    let informed = background(service_manager::inform(state.tasks.clone(), state.leaving.clone()));
    let reloads = background(reload::run(reloading, reload_signal, state.clone(), state.leaving.clone()));
    let upkeep = Upkeep {
        audit: config.audit,
        backups: config.backups,
        work: docket.task("upkeep", state.clock.clone()),
    };
    let leaving = state.leaving.clone();
    let ended = run_with_history(state, upkeep, Served { site, listener }, stop).await;
    // Also if it failed before it served any request: the tasks below wait for this.
    leaving.cancel();
    informed.await.context("notifying the service manager")?;
    reloads.await.context("reloading the configuration")?;
    if let Some(metrics) = metrics {
        metrics.await.context("serving metrics")?;
    }
    ended
}

/// Binds the addresses, and opens and migrates the database.
async fn prepare(config: &Config, sockets: Sockets, site: &Site, docket: &Docket) -> anyhow::Result<Ready> {
    let clock = Clock::system();
    let settings = Settings::of(config);
    let listener = match sockets.main {
        Some(socket) => inherited(socket, config.http.addr)?,
        None => listen::bind(config.http.addr).await?,
    };
    let address = listener.local_addr()?;
    let store = opening::open(&config.database, &listener, &config.access).await?;
    let for_metrics = match (sockets.metrics, config.metrics.addr) {
        (Some(socket), _) => Some(TcpListener::from_std(socket)?),
        (None, Some(addr)) => Some(bind_metrics(addr).await?),
        (None, None) => None,
    };
    if let Some(listener) = &for_metrics {
        tracing::info!(address = %listener.local_addr()?, "listening for metrics");
    }
    let public_url = config.http.public_url.clone().unwrap_or_else(|| PublicUrl::of(address));
    let first_start = docket.task("first start", clock.clone());
    first_admin::ensure(&store, &first_start, config.admin_password.clone(), &public_url).await?;
    let state_config = AppStateConfig {
        settings,
        public_url,
        upstream: &config.upstream,
        webhooks: config.webhooks,
        code_hosts: &config.code_hosts,
        package_dir: (site.package_dir)(),
    };
    let state = AppState::new(state_config, store, clock, docket)?;
    begin(&state).await?;
    Ok(Ready { state, listener, for_metrics })
}

/// Starts a background task. Boxed: otherwise the binary has a copy of tokio's tasks for each of them.
fn background(task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(task.boxed())
}

async fn bind_metrics(addr: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(addr).await.with_context(|| {
        format!("cannot listen on {addr} for metrics; choose another address with DOCKET_METRICS_ADDR")
    })
}

/// The socket of the service manager. Other commands only use the configured address.
fn inherited(socket: std::net::TcpListener, configured: SocketAddr) -> anyhow::Result<TcpListener> {
    let address = socket.local_addr()?;
    if address != configured {
        tracing::warn!(%address, %configured, "the service manager listens on another address than DOCKET_ADDR; set both to the same");
    }
    Ok(TcpListener::from_std(socket)?)
}

async fn serve_metrics(state: AppState, listener: TcpListener, stop: CancellationToken) {
    let limits = listen::Connections::limited_by(&state.settings().access);
    listen::serve(listener, metrics_router(&state), limits, stop).await;
}

/// What is served, and where.
pub struct Served {
    pub site: Site,
    pub listener: TcpListener,
}

/// Maintenance of the database.
pub struct Upkeep {
    pub audit: AuditConfig,
    /// `None`: no backups are made.
    pub backups: Option<BackupConfig>,
    pub work: Work,
}

/// Like [`run`], and also fetches the daily history, maintains the audit log, removes old data and makes backups.
pub async fn run_with_history(
    state: AppState,
    Upkeep { audit, backups, work }: Upkeep,
    served: Served,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let history = background({
        let (history, stop) = (state.history.clone(), stop.clone());
        async move { history.run(stop).await }
    });
    let maintenance = background({
        let (maintenance, stop) = (
            AuditMaintenance::new(
                state.store.clone(),
                state.clock_check.clone(),
                state.tasks.clone(),
                audit,
                work.part("audit"),
            ),
            stop.clone(),
        );
        async move { maintenance.run(stop).await }
    });
    let retention = background({
        let (state, stop) = (state.clone(), stop.clone());
        async move { state.retention.run(&state.tasks, &stop).await }
    });
    let backups = backups.map(|config| {
        let backups = Backups::new(state.store.clone(), state.clock.clone(), state.tasks.clone(), config);
        let stop = stop.clone();
        background(async move { backups.run(stop).await })
    });
    let ended = run(state, served, stop.clone()).await;
    stop.cancel();
    history.await.context("fetching the daily history")?;
    maintenance.await.context("maintaining the audit log")?;
    retention.await.context("removing old data")?;
    if let Some(backups) = backups {
        backups.await.context("writing backups")?;
    }
    ended
}

/// Records that this process runs, and what an earlier run left behind. A process that cannot do so must not become ready.
pub async fn begin(state: &AppState) -> anyhow::Result<()> {
    state.heartbeat.begin().await.context("recording what an earlier run left behind")?;
    state.jobs.store_settings().await.context("storing which projects are published directly")?;
    state.jobs.log_prompts_of_removed_projects().await;
    Ok(())
}

/// After [`begin`]: serves requests, delivers and polls jobs and sends webhooks until `stop`; then finishes the work in progress. The
/// history is not fetched, so that tests can count every call.
pub async fn run(
    state: AppState,
    Served { site, listener }: Served,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let over = CancellationToken::new();
    let heartbeat = background({
        let (heartbeat, over) = (state.heartbeat.clone(), over.clone());
        async move { heartbeat.run(over).await }
    });
    let refusals = background({
        let (refusals, over) = (state.refusals.clone(), over.clone());
        async move { refusals.run(over).await }
    });
    let jobs = background({
        let (jobs, stop) = (state.jobs.clone(), stop.clone());
        async move { jobs.run(stop).await }
    });
    let webhooks = background({
        let (webhooks, stop) = (state.webhooks.clone(), stop.clone());
        async move { webhooks.run(stop).await }
    });
    let code_hosts = background({
        let (code_hosts, stop) = (state.code_hosts.clone(), stop.clone());
        async move { code_hosts.run(stop).await }
    });
    let limits = listen::Connections::limited_by(&state.settings().access).with_waits(state.store.waits());
    let leaving = async {
        stop.cancelled().await;
        // Also if no signal stopped the server.
        state.leaving.cancel();
    };
    tokio::join!(listen::serve(listener, router(site, &state), limits, stop.clone()), leaving);
    jobs.await.context("delivering jobs")?;
    webhooks.await.context("delivering webhooks")?;
    code_hosts.await.context("checking pull requests")?;
    // Deliveries of the last requests, even if their clients are gone.
    state.jobs.delivered().await;
    if let Err(error) = state.jobs.end_own_claims().await {
        tracing::error!(error = format!("{error:#}"), "claims without a delivery could not be ended");
    }
    over.cancel();
    heartbeat.await.context("storing heartbeats")?;
    refusals.await.context("recording refused requests")?;
    state.store.close().await;
    Ok(())
}

/// A token that is cancelled `delay` after a signal, or at once by a second one. The first signal cancels `leaving`.
fn stop_after(delay: Duration, leaving: CancellationToken, mut signals: StopSignals) -> CancellationToken {
    let stop = CancellationToken::new();
    let later = stop.clone();
    background(async move {
        let signal = signals.next().await;
        tracing::info!("stopping on {signal}");
        leaving.cancel();
        _ = tokio::time::timeout(delay, signals.next()).await;
        later.cancel();
    });
    stop
}

/// A token that is cancelled by the next signal.
pub(super) fn stop_on(signals: StopSignals) -> CancellationToken {
    stop_after(Duration::ZERO, CancellationToken::new(), signals)
}
