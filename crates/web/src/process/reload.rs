//! SIGHUP: reads the configuration again and applies the settings that need no restart, all or none. An invalid
//! configuration does not stop the server. Secrets are not shown.

use std::path::PathBuf;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::process::service_manager;
use crate::state::AppState;
use base::blocking;
use base::config::{Changes, ConfigError, Source};
use base::settings::Settings;
use base::work::Work;
use model::audit::{Action, AuditEvent};

/// Replaces the filter of the log. Its syntax is already validated.
pub type LogFilter = Box<dyn Fn(&str) -> anyhow::Result<()> + Send + Sync>;

/// The configuration of a running server, and how to read it again.
pub struct Reloading {
    /// The configuration file; `None` for the default file.
    pub file: Option<PathBuf>,
    pub source: Source,
    pub log: LogFilter,
    pub work: Work,
}

/// The stream of SIGHUP signals. Without it, SIGHUP would end the process.
pub fn hangup_signal() -> anyhow::Result<Signal> {
    signal(SignalKind::hangup()).context("SIGHUP cannot be received")
}

/// Reads the configuration again on each signal, until `stop`.
pub async fn run(mut reloading: Reloading, mut signals: Signal, state: AppState, stop: CancellationToken) {
    while stop.run_until_cancelled(signals.recv()).await.flatten().is_some() {
        service_manager::reloading();
        if let Err(error) = reloading.reload(&state).await {
            state.settings.refuse(state.clock.now());
            tracing::error!(%error, "the configuration was read again and is invalid: nothing was changed");
        }
        service_manager::ready();
    }
}

impl Reloading {
    async fn reload(&mut self, state: &AppState) -> Result<(), ConfigError> {
        let (file, running) = (self.file.clone(), self.source.clone());
        // Blocking: reads files and resolves names.
        let read = move || Changes::between(&running, Source::load(file.as_deref())?);
        let changes = blocking::run(usize::MAX, read).await?;
        if changes.has_key() {
            let upstream = &changes.config.upstream;
            state.upstream.use_key(upstream.api_key.clone(), upstream.api_key_file.clone());
        }
        if changes.has_code_hosts() {
            let connections = &changes.config.code_hosts;
            // Their files were read a moment ago.
            if let Err(error) = state.code_hosts.replace(connections).await {
                tracing::error!(
                    error = format!("{error:#}"),
                    "the connections to code hosts could not be replaced"
                );
            }
        }
        state.settings.replace(Settings::of(&changes.config), state.clock.now());
        self.log_changes(&changes);
        if changes.has_log() {
            self.replace_filter(&changes.log.filter);
        }
        if let Err(error) = state.jobs.store_settings().await {
            tracing::error!(%error, "DOCKET_DIRECT_PROJECTS did not take effect; send the signal again");
        }
        state.jobs.log_prompts_of_removed_projects().await;
        self.source = changes.source.clone();
        record(&changes, &self.work, state).await;
        Ok(())
    }

    /// The change is logged under both filters: before by `log_changes`, and here after.
    fn replace_filter(&self, filter: &str) {
        match (self.log)(filter) {
            Ok(()) => tracing::info!(filter, "the log has another filter"),
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "the log's filter could not be replaced")
            }
        }
    }

    fn log_changes(&self, changes: &Changes) {
        match changes.is_empty() {
            true => {
                tracing::info!("the configuration was read again: nothing has changed that takes effect now")
            }
            false => tracing::info!(
                changed = changes.sentences(&self.source).join("; "),
                "the configuration was read again and takes effect"
            ),
        }
        if !changes.left.is_empty() {
            tracing::warn!(
                settings = changes.left(),
                "these settings have changed and need a restart: they stay as they were"
            );
        }
    }
}

/// Records the change. A failure of the database does not undo it.
async fn record(changes: &Changes, work: &Work, state: &AppState) {
    if changes.has_key()
        && let Err(error) = state.governor.health().forget_refused_key().await
    {
        tracing::warn!(%error, "queues may wait for some minutes because the former key was refused");
    }
    if changes.is_empty() {
        return;
    }
    let event = AuditEvent::new(Action::ConfigurationReload).with_detail(changes.applied());
    if let Err(error) = state.store.record(work.into(), &event).await {
        tracing::error!(%error, "the audit log has no record of the new configuration");
    }
}
