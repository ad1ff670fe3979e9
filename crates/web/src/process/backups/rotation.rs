//! Which backups are removed when a new one is complete. Each is opened first: a backup of another database, such as an empty one that was made
//! because a volume was missing, replaces none.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use model::time::Timestamp;
use store::audit::ChainLink;
use store::{Store, StoreError, url_of};

/// Besides the newest backups, the last one of each of so many weeks is retained.
const WEEKS: i64 = 8;

const WEEK_MILLIS: i64 = 7 * 86_400_000;

/// A backup with less than this part of the size of an older one replaces none.
const SMALLER_FACTOR: u64 = 2;

/// Why no old backup was removed.
#[derive(Debug, Error)]
pub(super) enum Refusal {
    #[error(
        "the database is not a later state of the one in {0}. If that is intended, for example after a restore, remove these files by hand"
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
    Ok(old.iter().try_for_each(fs::remove_file)?)
}

/// All but the newest `keep`, and the last one of each of the last weeks.
fn no_longer_retained(found: &[(Timestamp, PathBuf)], keep: usize, now: Timestamp) -> Vec<PathBuf> {
    // Weeks have a fixed beginning. Counted back from now, a backup would move on before it becomes the last one of its week.
    let week = |at: Timestamp| at.as_millis().div_euclid(WEEK_MILLIS);
    let last_of_week: BTreeMap<i64, &Path> = found
        .iter()
        .filter(|(at, _)| week(now) - week(*at) < WEEKS)
        .map(|(at, path)| (week(*at), path.as_path()))
        .collect();
    let older = &found[..found.len().saturating_sub(keep)];
    let is_old = |path: &&PathBuf| !last_of_week.values().any(|last| *last == path.as_path());
    older.iter().map(|(_, path)| path).filter(is_old).cloned().collect()
}

/// Whether each of `old` is an earlier state of the database in `new`. The error names all that are not, or one that cannot be read.
async fn check(store: &Store, new: &Path, old: &[PathBuf]) -> Result<(), Refusal> {
    let new_bytes = fs::metadata(new)?.len();
    let (mut smaller, mut others, mut unreadable) = (Vec::new(), Vec::new(), None);
    for path in old {
        let old_bytes = fs::metadata(path)?.len();
        // It contains nothing.
        if old_bytes == 0 {
            continue;
        }
        let end = match end_of(path).await {
            Ok(end) => end,
            Err(error) => {
                unreadable = Some(error);
                continue;
            }
        };
        if !store.audit_contains(&end).await.map_err(|error| Refusal::Unreadable(name(new), error))? {
            others.push(name(path));
        } else if new_bytes < old_bytes / SMALLER_FACTOR {
            smaller.push(name(path));
        }
    }
    match (others.is_empty(), smaller.is_empty(), unreadable) {
        (false, _, _) => Err(Refusal::OtherDatabase(others.join(", "))),
        (true, false, _) => Err(Refusal::MuchSmaller(smaller.join(", "))),
        (true, true, Some(error)) => Err(error),
        (true, true, None) => Ok(()),
    }
}

/// The end of the audit log in a backup.
async fn end_of(path: &Path) -> Result<ChainLink, Refusal> {
    let store = open(path).await?;
    let end = store.audit_end().await;
    store.close().await;
    end.map_err(|error| Refusal::Unreadable(name(path), error))
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

    /// Makes a backup every `hours` for 120 days, and removes the old ones after each. Returns the ages of those that remain, in hours.
    fn remaining(hours: i64, keep: usize) -> Vec<i64> {
        let (mut found, mut now) = (Vec::new(), NOW);
        for n in 0..120 * 24 / hours {
            now = NOW.plus_seconds(3_600 * hours * n);
            found.push((now, PathBuf::from(n.to_string())));
            let old = no_longer_retained(&found, keep, now);
            found.retain(|(_, path)| !old.contains(path));
        }
        found.iter().map(|(at, _)| now.seconds_since(*at) / 3_600).collect()
    }

    #[test]
    fn newest_and_the_last_of_each_week_are_retained() {
        for (hours, keep) in [(6, 4), (24, 7), (24, 14), (1, 48), (200, 3)] {
            let ages = remaining(hours, keep);
            let newest: Vec<i64> = (0..keep as i64).rev().map(|n| n * hours).collect();
            assert_eq!(ages[ages.len() - keep..], newest, "{hours} {keep}");
            let beside = ages.len() - keep;
            // The last one of the eighth week, which began seven weeks ago or up to a week earlier.
            let weeks = 6 * 7 * 24..=7 * 7 * 24 + hours;
            assert!(weeks.contains(&ages[0]) && (4..=8).contains(&beside), "{hours} {keep} {ages:?}");
        }
    }
}
