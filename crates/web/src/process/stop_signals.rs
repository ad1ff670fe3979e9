//! The signals that stop the process, received instead of ending it at once.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, and perhaps SIGHUP.
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Option<Signal>,
}

impl StopSignals {
    /// Receives the signals from now on. Called before anything that takes time: the first process of a container loses signals that it does not
    /// receive, and any other one would end without its shutdown.
    pub fn receive() -> anyhow::Result<Self> {
        let (terminate, interrupt) = (received(SignalKind::terminate())?, received(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, hangup: None })
    }

    /// As [`Self::receive`], and SIGHUP, with which a terminal closes. `nohup` starts programs that ignore it: they continue to.
    pub fn receive_with_hangup() -> anyhow::Result<Self> {
        let hangup = (!is_hangup_ignored()).then(|| received(SignalKind::hangup())).transpose()?;
        Ok(Self { hangup, ..Self::receive()? })
    }

    /// Completes with the name of the next signal.
    pub async fn next(&mut self) -> &'static str {
        let Self { terminate, interrupt, hangup } = self;
        let hung_up = async {
            match hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
            _ = hung_up => "SIGHUP",
        }
    }

    /// The result of `start`; `None` if a signal came before its end, and ended it.
    pub async fn unless_stopped<T>(
        &mut self,
        start: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<Option<T>> {
        tokio::select! {
            biased;
            signal = self.next() => {
                tracing::info!("stopping on {signal}, before the start was complete");
                Ok(None)
            }
            started = start => started.map(Some),
        }
    }
}

fn received(kind: SignalKind) -> anyhow::Result<Signal> {
    signal(kind).context("the signals that stop this process cannot be received")
}

/// Whether the process was started with SIGHUP ignored. Where the system has no such information, it was not.
fn is_hangup_ignored() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let ignored =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    // The first bit is the first signal.
    ignored.is_some_and(|signals| signals & 1 == 1)
}
