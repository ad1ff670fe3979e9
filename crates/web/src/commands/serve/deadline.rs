//! The hard deadline of a shutdown. It has its own thread and runtime, so that it also works when all threads of the
//! server's runtime are blocked.

use std::thread;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Builder;

use crate::telemetry::log_lines;

/// The time added to the expected duration of a shutdown.
const MARGIN: Duration = Duration::from_secs(10);

/// How long the end waits for the reader of the last log message.
const LAST_MESSAGE: Duration = Duration::from_secs(1);

/// Ends the process with code 1 if a shutdown after a signal takes longer than `expected` and ten seconds.
pub(super) fn enforce(
    signal: impl Future<Output = ()> + Send + 'static,
    expected: Duration,
) -> anyhow::Result<()> {
    after(signal, expected + MARGIN, || {
        tracing::error!("the shutdown exceeded its deadline; the process ends now");
        log_lines::finish(LAST_MESSAGE);
        std::process::exit(1);
    })
}

/// Calls `end` when `limit` has passed since `signal`, unless the process ends before.
fn after(
    signal: impl Future<Output = ()> + Send + 'static,
    limit: Duration,
    end: impl FnOnce() + Send + 'static,
) -> anyhow::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build().context("a runtime for the shutdown")?;
    let run = move || {
        runtime.block_on(signal);
        thread::sleep(limit);
        end();
    };
    thread::Builder::new().name("shutdown".to_owned()).spawn(run).context("a thread for the shutdown")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;

    // The test blocks the only thread of its runtime.
    #[tokio::test]
    async fn deadline_ends_a_process_whose_runtime_is_blocked() {
        let (signal, signalled) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        after(async move { _ = signalled.await }, Duration::from_millis(1), move || {
            end.send(()).expect("the test waits");
        })
        .expect("a thread");
        assert_eq!(ended.try_recv(), Err(mpsc::TryRecvError::Empty), "no signal came yet");
        signal.send(()).expect("it waits for the signal");
        ended.recv_timeout(Duration::from_secs(60)).expect("the deadline is enforced");
    }
}
