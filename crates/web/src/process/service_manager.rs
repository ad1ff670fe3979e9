//! Notifies the service manager (systemd) when Docket is starting, ready, scheduled, reloading or stopping. Without a
//! service manager it does nothing. `tasks` decides what is scheduled.

use std::convert::Infallible;
use std::env;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use sd_notify::NotifyState;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use base::tasks::Tasks;

/// Notifies that the listener is bound. Until `stop`, reports that the runtime schedules all background tasks, if the
/// manager has a watchdog; then that Docket is stopping. Without these heartbeats, the manager restarts the process.
/// Whether the tasks succeed is not reported: a restart repairs neither a full disk nor a database elsewhere.
pub async fn inform(tasks: Tasks, stop: CancellationToken) {
    ready();
    match sd_notify::watchdog_enabled() {
        Some(silence_max) => feed(&tasks, silence_max, &stop).await,
        None => stop.cancelled().await,
    }
    notify(&[NotifyState::Stopping]);
}

/// How long the manager waits for the next of these messages, and their interval.
const EXTENSION_MICROS: u32 = 60_000_000;
const EXTEND_EVERY: Duration = Duration::from_secs(10);

/// Requests that the manager waits for the start, until this is dropped.
pub async fn extend_start() -> Infallible {
    loop {
        notify(&[NotifyState::ExtendTimeoutUsec(EXTENSION_MICROS)]);
        tokio::time::sleep(EXTEND_EVERY).await;
    }
}

/// Docket is listening and has read its configuration.
pub fn ready() {
    notify(&[NotifyState::Ready]);
}

/// The configuration is being reloaded, until [`ready`].
pub fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "the time since the machine started is not known"),
    }
}

/// Sends two heartbeats per watchdog interval, as systemd recommends.
async fn feed(tasks: &Tasks, silence_max: Duration, stop: &CancellationToken) {
    let mut tick = tokio::time::interval((silence_max / 2).max(Duration::from_millis(1)));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(tick.tick()).await.is_some() {
        match tasks.blocked() {
            None => notify(&[NotifyState::Watchdog]),
            Some(task) => {
                let task = task.name();
                tracing::error!(task, "a background task is blocked; the service manager gets no heartbeat");
            }
        }
    }
}

/// Sends a message to the socket of the service manager, if there is one.
fn notify(states: &[NotifyState<'_>]) {
    let Some(socket) = env::var_os("NOTIFY_SOCKET") else { return };
    let message: String = states.iter().map(|state| format!("{state}\n")).collect();
    match send(Path::new(&socket), &message) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            tracing::warn!("the service manager does not read its socket; a message to it was dropped");
        }
        Err(error) => tracing::warn!(%error, "a message to the service manager could not be sent"),
    }
}

/// Sends one datagram without waiting: a full socket is [`ErrorKind::WouldBlock`]. `sd_notify::notify` would wait and
/// block a thread of the runtime.
fn send(socket: &Path, message: &str) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    sender.set_nonblocking(true)?;
    sender.send_to(message.as_bytes(), socket).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::clock::Clock;
    use base::tasks::Task;
    use model::time::Timestamp;

    #[test]
    fn message_to_a_full_socket_is_dropped_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).expect("a socket");
        // The kernel's limit of queued datagrams is below this.
        let full = (0..100_000).find_map(|_| send(&path, "WATCHDOG=1\n").err());
        assert_eq!(full.map(|error| error.kind()), Some(ErrorKind::WouldBlock));
        let mut text = [0; 64];
        let length = manager.recv(&mut text).expect("a message");
        assert_eq!(&text[..length], b"WATCHDOG=1\n");
        send(&path, "STOPPING=1\n").expect("there is room again");
    }

    /// Runs a background task beside `watch` until that ends.
    async fn beside<F: Future<Output = ()> + Send + 'static>(
        tasks: &Tasks,
        run: impl Fn() -> F + Send + 'static,
        watch: impl AsyncFnOnce(),
    ) {
        let (all, stop) = (tasks.clone(), CancellationToken::new());
        let stopped = stop.clone();
        let supervised = tokio::spawn(async move { all.supervise(Task::Retention, &stopped, run).await });
        watch().await;
        stop.cancel();
        supervised.abort();
    }

    async fn until(condition: impl Fn() -> bool) {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn watchdog_gets_heartbeats_while_a_task_fails() {
        let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
        let tasks = Tasks::new(clock.clone());
        beside(&tasks, std::future::pending, async || {
            until(|| !tasks.all().is_empty()).await;
            for _ in 0..3 {
                clock.advance(Duration::from_secs(26 * 3_600));
                tasks.failed(Task::Retention, "the disk is full");
                until(|| tasks.blocked().is_none()).await;
                assert!(!tasks.all()[0].is_well);
            }
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn watchdog_gets_no_heartbeat_while_a_task_blocks_its_thread() {
        let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
        let tasks = Tasks::new(clock.clone());
        let (unblock, blocked) = std::sync::mpsc::channel::<()>();
        let blocked = std::sync::Arc::new(parking_lot::Mutex::new(blocked));
        let run = move || {
            let blocked = blocked.clone();
            async move {
                _ = blocked.lock().recv();
                std::future::pending::<()>().await;
            }
        };
        beside(&tasks, run, async || {
            until(|| !tasks.all().is_empty()).await;
            clock.advance(Duration::from_secs(61));
            // Longer than the interval of the signs.
            tokio::time::sleep(Duration::from_secs(6)).await;
            assert_eq!(tasks.blocked(), Some(Task::Retention));
            drop(unblock);
            until(|| tasks.blocked().is_none()).await;
        })
        .await;
    }
}
