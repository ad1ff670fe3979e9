//! Which backups are removed when a new one is complete. Each is opened first: a backup of another database, such as an empty one that was made
//! because a volume was missing, replaces none.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError, url_of};

/// Besides the newest backups, the last one of each of so many weeks is retained.
const WEEKS: u64 = 8;

const WEEK_MILLIS: u64 = 7 * 86_400_000;

/// A backup with less than this part of the size of an older one replaces none.
const SMALLER_FACTOR: u64 = 2;

/// Why no old backup was removed.
#[derive(Debug, Error)]
pub(super) enum Refusal {
    #[error(
        "the database is not a later state of the one in {0}. If that is intended, for example after a restore, remove {0} by hand"
    )]
    OtherDatabase(String),
    #[error("the newest backup has less than half the size of {0}. If that is intended, remove {0} by hand")]
    MuchSmaller(String),
    #[error("{0} cannot be read: {1}. If it is of no use, remove it by hand")]
    Unreadable(String, StoreError),
    #[error("{0}")]
    Folder(#[from] io::Error),
}

/// Removes the backups that are no longer retained. `found`: the backups of the folder, oldest first, with the new one.
pub(super) async fn remove_old(
    found: &[(Timestamp, PathBuf)],
    keep: usize,
    new: &Path,
    now: Timestamp,
) -> Result<(), Refusal> {
    let old = no_longer_retained(found, keep, now);
    if old.is_empty() {
        return Ok(());
    }
    let store = open(new).await?;
    let checked = check(&store, new, &old).await;
    store.close().await;
    checked?;
    Ok(old.iter().try_for_each(|path| fs::remove_file(path))?)
}

/// All but the newest `keep`, and the last one of each of the last weeks.
fn no_longer_retained(found: &[(Timestamp, PathBuf)], keep: usize, now: Timestamp) -> Vec<PathBuf> {
    let week = |at: Timestamp| now.as_millis().abs_diff(at.as_millis()) / WEEK_MILLIS;
    let last_of_week: BTreeMap<u64, &Path> = found
        .iter()
        .filter(|(at, _)| week(*at) < WEEKS)
        .map(|(at, path)| (week(*at), path.as_path()))
        .collect();
    let older = &found[..found.len().saturating_sub(keep)];
    let is_old = |path: &&PathBuf| !last_of_week.values().any(|last| *last == path.as_path());
    older.iter().map(|(_, path)| path).filter(is_old).cloned().collect()
}

/// Whether each of `old` is an earlier state of the database in `new`.
async fn check(store: &Store, new: &Path, old: &[PathBuf]) -> Result<(), Refusal> {
    let new_bytes = fs::metadata(new)?.len();
    for path in old {
        let old_bytes = fs::metadata(path)?.len();
        // It contains nothing.
        if old_bytes == 0 {
            continue;
        }
        if new_bytes < old_bytes / SMALLER_FACTOR {
            return Err(Refusal::MuchSmaller(name(path)));
        }
        let earlier = open(path).await?;
        let end = earlier.audit_end().await;
        earlier.close().await;
        let end = end.map_err(|error| Refusal::Unreadable(name(path), error))?;
        if !store.audit_contains(&end).await.map_err(|error| Refusal::Unreadable(name(new), error))? {
            return Err(Refusal::OtherDatabase(name(path)));
        }
    }
    Ok(())
}

async fn open(path: &Path) -> Result<Store, Refusal> {
    let unreadable = |error| Refusal::Unreadable(name(path), error);
    Store::open_to_read(&url_of(path).map_err(unreadable)?).await.map_err(unreadable)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    #[test]
    fn newest_and_the_last_of_each_week_are_retained() {
        let hours = |ago: i64| (NOW.plus_seconds(-3_600 * ago), PathBuf::from(format!("{ago}")));
        // Every six hours for 70 days.
        let found: Vec<_> = (0..280).rev().map(|n| hours(6 * n)).collect();
        let old = no_longer_retained(&found, 4, NOW);
        let retained: Vec<String> = found
            .iter()
            .filter(|(_, path)| !old.contains(path))
            .map(|(_, path)| path.display().to_string())
            .collect();
        let weeks = [7, 6, 5, 4, 3, 2, 1].map(|week| (week * 168).to_string());
        assert_eq!(retained[..7], weeks, "the newest of each week");
        assert_eq!(retained[7..], ["18", "12", "6", "0"]);
        assert_eq!(no_longer_retained(&found[..3], 4, NOW), [PathBuf::new(); 0]);
    }
}
