//! Scheduled copies of a SQLite database in a folder. Only the newest and one a week are retained; other files in the folder
//! are not touched.

mod rotation;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use base::clock::Clock;
use base::config::BackupConfig;
use base::tasks::{Task, Tasks};
use model::time::Timestamp;
use store::{PARTIAL, Store, bytes_of, free_bytes};

/// The time until a backup that failed once is tried again.
const AFTER_A_FAILURE: Duration = Duration::from_secs(600);

/// Room for what is written beside a backup.
const MARGIN_BYTES: u64 = 16 << 20;

/// The prefix of backup names, as in `docket-2026-11-23T05-49-03Z.db`.
const PREFIX: &str = "docket-";
const SUFFIX: &str = ".db";

/// The log's message about backups that stay.
const NOT_REMOVED: &str = "old backups were not removed";

pub struct Backups {
    store: Store,
    clock: Clock,
    tasks: Tasks,
    config: BackupConfig,
}

impl Backups {
    pub fn new(store: Store, clock: Clock, tasks: Tasks, config: BackupConfig) -> Self {
        Self { store, clock, tasks, config }
    }

    /// Makes backups until `stop`. The first one is due when the newest in the folder is old enough, also after a restart.
    pub async fn run(&self, stop: CancellationToken) {
        self.tasks.supervise(Task::Backups, &stop, || self.go_on(&stop)).await;
    }

    async fn go_on(&self, stop: &CancellationToken) {
        let mut failures = 0;
        loop {
            let pause = self.pause().unwrap_or_else(|error| {
                tracing::error!(%error, folder = %self.config.folder.display(), "the folder of backups cannot be read");
                Some(AFTER_A_FAILURE)
            });
            if let Some(pause) = pause {
                if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                    return;
                }
                continue;
            }
            self.tasks.pass("backups");
            // A stop interrupts the copy, which leaves nothing behind.
            let made = self.make(stop).await;
            if stop.is_cancelled() {
                return;
            }
            match made {
                Ok(file) => {
                    tracing::info!(file = %file.display(), "a backup was written");
                    self.remove_old(&file).await;
                    failures = 0;
                }
                Err(error) => {
                    self.tasks.failed(Task::Backups, error);
                    failures += 1;
                    let pause = pause_after(failures, self.config.every);
                    if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                        return;
                    }
                }
            }
        }
    }

    /// The time until the next backup; `None` if it is due.
    fn pause(&self) -> io::Result<Option<Duration>> {
        let now = self.clock.now();
        let Some((newest, _)) = backups(&self.config.folder, now)?.pop() else { return Ok(None) };
        self.tasks.succeeded_at(Task::Backups, newest);
        let age = Duration::from_millis((now.as_millis() - newest.as_millis()).unsigned_abs());
        Ok(self.config.every.checked_sub(age).filter(|left| !left.is_zero()))
    }

    /// Writes a backup, which gets its final name when it is complete. Without room for it, writes nothing.
    async fn make(&self, stop: &CancellationToken) -> anyhow::Result<PathBuf> {
        let folder = self.config.folder.clone();
        forget_partial(&folder).context("what is left of an earlier try cannot be removed")?;
        self.must_have_room(&folder)?;
        let file = folder.join(name(self.clock.now()));
        self.store.backup(&file, stop).await?;
        Ok(file)
    }

    /// An attempt that fills the disk would make live commits fail.
    fn must_have_room(&self, folder: &Path) -> anyhow::Result<()> {
        let Some(database) = self.store.file() else { return Ok(()) };
        let bytes = bytes_of(database).context("the size of the database is not known")?;
        let needed = bytes + bytes / 10 + MARGIN_BYTES;
        let free = free_bytes(folder).context("the free room is not known")?;
        anyhow::ensure!(
            free >= needed,
            "the disk of {} has {free} bytes free, and a backup needs {needed}",
            folder.display()
        );
        Ok(())
    }

    /// Removes the backups that `new` replaces.
    async fn remove_old(&self, new: &Path) {
        let now = self.clock.now();
        let removed = match backups(&self.config.folder, now) {
            Ok(found) => rotation::remove_old(&found, self.config.keep, new, now).await,
            Err(error) => Err(error.into()),
        };
        match removed {
            Ok(()) => self.tasks.failures().ended(NOT_REMOVED),
            Err(refusal) => self.tasks.failures().failed(NOT_REMOVED, refusal),
        }
    }
}

/// The time until the next try after this many failures in a row. It doubles with each, up to the interval of backups.
fn pause_after(failures: u32, every: Duration) -> Duration {
    AFTER_A_FAILURE.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(every)
}

fn name(at: Timestamp) -> String {
    let seconds = Timestamp::from_millis(at.as_millis() / 1_000 * 1_000);
    format!("{PREFIX}{}{SUFFIX}", seconds.to_string().replace(':', "-"))
}

/// When the backup with this name was made.
fn made_at(name: &str) -> Option<Timestamp> {
    let text = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (day, time) = text.split_once('T')?;
    format!("{day}T{}", time.replace('-', ":")).parse().ok()
}

/// The backups in a folder, oldest first. Those with a date in the future are left out: the clock is or was wrong.
fn backups(folder: &Path, now: Timestamp) -> io::Result<Vec<(Timestamp, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some(at) = path.file_name().and_then(|name| made_at(name.to_str()?)) {
            found.push((at, path));
        }
    }
    found.retain(|(at, _)| *at <= now);
    found.sort();
    Ok(found)
}

/// Removes the partial files of processes that ended during a backup.
fn forget_partial(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().and_then(|name| name.to_str()).is_some_and(is_partial) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Whether it is the name of an unfinished backup, of this version or an earlier one:
/// `.docket-2026-11-23T05-49-03Z.db.x7Qw2a.partial` or `docket-2026-11-23T05-49-03Z.db.partial`.
fn is_partial(name: &str) -> bool {
    // SQLite writes a journal beside the file.
    let name = name.strip_suffix("-journal").unwrap_or(name);
    let Some(name) = name.strip_suffix(PARTIAL) else { return false };
    let whole = name.strip_prefix('.').and_then(|name| Some(name.rsplit_once('.')?.0)).unwrap_or(name);
    made_at(whole).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_doubles_with_each_failure_up_to_the_interval() {
        let minutes = |failures| pause_after(failures, Duration::from_secs(3_600)).as_secs() / 60;
        assert_eq!([1, 2, 3, 4, 5, 400].map(minutes), [10, 20, 40, 60, 60, 60]);
        assert_eq!(pause_after(1, Duration::from_secs(60)), Duration::from_secs(60));
    }
}
