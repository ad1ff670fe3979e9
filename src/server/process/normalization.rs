//! Normalizes texts that an earlier version stored, in the background and in small steps. New texts are normalized when
//! they are written. Each run continues where the last one ended.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::server::process::tasks::{Task, Tasks};
use crate::server::store::{Store, StoreError};
use crate::server::work::Work;

/// During an upgrade, a process of an earlier version may write to the same database.
const BETWEEN_RUNS: Duration = Duration::from_secs(24 * 3_600);
/// The time until a failed run is tried again.
const AFTER_A_FAILURE: Duration = Duration::from_secs(600);
/// The pause between steps, in which others can take the write lock.
const BETWEEN_STEPS: Duration = Duration::from_millis(10);

/// Normalizes once a day until `stop`.
pub async fn run(store: &Store, work: &Work, tasks: &Tasks, stop: &CancellationToken) {
    tasks.supervise(Task::Normalization, stop, || normalize_daily(store, work, tasks, stop)).await;
}

async fn normalize_daily(store: &Store, work: &Work, tasks: &Tasks, stop: &CancellationToken) {
    loop {
        tasks.pass("normalization");
        let pause = match stop.run_until_cancelled(normalize(store, work)).await {
            None => return,
            Some(Ok(())) => {
                tasks.succeeded(Task::Normalization);
                BETWEEN_RUNS
            }
            Some(Err(error)) => {
                tasks.failed(Task::Normalization, error);
                AFTER_A_FAILURE
            }
        };
        if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
            return;
        }
    }
}

/// Normalizes all texts that are not yet known to be normalized.
pub async fn normalize(store: &Store, work: &Work) -> Result<(), StoreError> {
    store.normalize_usernames(work).await?;
    while store.normalize_messages(work).await? {
        tokio::time::sleep(BETWEEN_STEPS).await;
    }
    while store.normalize_labels(work).await? {
        tokio::time::sleep(BETWEEN_STEPS).await;
    }
    Ok(())
}
