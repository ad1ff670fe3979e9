//! The hard deadline of a shutdown. It has its own thread and runtime, so that it also works when all threads of the
//! server's runtime are blocked.

use std::thread;
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Builder;

use crate::process::stop_signals::StopSignals;
use crate::telemetry::log_lines;

/// The time added to the expected duration of a shutdown.
const MARGIN: Duration = Duration::from_secs(10);

/// How long the end waits for the reader of the last log message.
const LAST_MESSAGE: Duration = Duration::from_secs(1);

/// Ends the process with code 1 if a shutdown after a signal takes longer than `expected` and ten seconds.
pub(super) fn enforce(expected: Duration) -> anyhow::Result<()> {
    after(stop_signal, expected + MARGIN, || {
        tracing::error!("the shutdown exceeded its deadline; the process ends now");
        log_lines::finish(LAST_MESSAGE);
        std::process::exit(1);
    })
}

/// Completes on SIGTERM or SIGINT, which are received from now on.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let mut signals = StopSignals::receive()?;
    Ok(async move { _ = signals.next().await })
}

/// Calls `end` when `limit` has passed since the signal, unless the process ends before. `receive` begins to receive it, on the runtime that awaits
/// it: at once, because the thread may begin later than the signal comes.
fn after<Received: Future<Output = ()> + Send + 'static>(
    receive: impl FnOnce() -> anyhow::Result<Received>,
    limit: Duration,
    end: impl FnOnce() + Send + 'static,
) -> anyhow::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build().context("a runtime for the shutdown")?;
    let signal = {
        let _context = runtime.enter();
        receive()?
    };
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

    use rustix::process::{Signal, getpid, kill_process};
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::sync::oneshot;

    use super::*;

    // The test blocks the only thread of its runtime.
    #[tokio::test]
    async fn deadline_ends_a_process_whose_runtime_is_blocked() {
        let (signal, signalled) = oneshot::channel();
        let (end, ended) = mpsc::channel();
        let receive = || Ok(async move { _ = signalled.await });
        after(receive, Duration::from_millis(1), move || end.send(()).expect("the test waits"))
            .expect("a thread");
        assert_eq!(ended.try_recv(), Err(mpsc::TryRecvError::Empty), "no signal came yet");
        signal.send(()).expect("it waits for the signal");
        ended.recv_timeout(Duration::from_secs(60)).expect("the deadline is enforced");
    }

    /// Otherwise the signal would end the process of this test.
    #[tokio::test]
    async fn signal_that_comes_at_once_is_received() {
        let (end, ended) = mpsc::channel();
        let receive = || {
            let mut signals = signal(SignalKind::user_defined1())?;
            Ok(async move { _ = signals.recv().await })
        };
        after(receive, Duration::from_millis(1), move || end.send(()).expect("the test waits"))
            .expect("a thread");
        kill_process(getpid(), Signal::USR1).expect("a signal to this process");
        ended.recv_timeout(Duration::from_secs(60)).expect("the deadline is enforced");
    }
}
