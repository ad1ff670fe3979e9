//! Scheduled backups.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::database::{Database, is_file};
use super::error::ConfigError;
use super::setting::{OptionalSetting, number_between};
use super::source::Source;

const MINUTE: u64 = 60;

#[derive(Debug, Clone)]
pub struct BackupConfig {
    /// An existing folder.
    pub folder: PathBuf,
    pub every: Duration,
    /// At least one.
    pub keep: usize,
}

impl BackupConfig {
    /// `None` if no backups are configured.
    pub(super) fn from_source(source: &Source, database: &Database) -> Result<Option<Self>, ConfigError> {
        let raw = &source.raw;
        let every = raw.backup_every.parse(interval)?;
        let keep = raw.backup_keep.parse(number_between(1, 10_000))?;
        let Some(folder) = raw.backup_dir.parse(existing_folder)? else { return Ok(None) };
        if !is_file(&database.url) {
            return Err(ConfigError(
                "DOCKET_BACKUP_DIR is for a SQLite file. Back PostgreSQL up with its own tools, such as pg_dump, and leave it out."
                    .to_owned(),
            ));
        }
        Ok(Some(Self { folder, every, keep: keep as usize }))
    }
}

fn existing_folder(text: &str) -> Result<PathBuf, String> {
    let folder = Path::new(text);
    if folder.is_dir() { Ok(folder.to_owned()) } else { Err(format!("“{text}” is no folder: create it")) }
}

/// A number of minutes, hours or days, such as `6h`.
fn interval(text: &str) -> Result<Duration, String> {
    let wrong = || format!("“{text}” is not a number of minutes, hours or days such as 30m, 6h or 1d");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let unit = match unit {
        "m" => MINUTE,
        "h" => 60 * MINUTE,
        "d" => 24 * 60 * MINUTE,
        _ => return Err(wrong()),
    };
    let number =
        number.parse::<u32>().ok().filter(|number| (1..=10_000).contains(number)).ok_or_else(wrong)?;
    Ok(Duration::from_secs(u64::from(number) * unit))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn interval_needs_a_number_and_a_unit() {
        for (text, minutes) in [("1m", 1), ("90m", 90), ("6h", 360), ("1d", 1_440)] {
            assert_eq!(interval(text).unwrap(), Duration::from_secs(minutes * 60), "{text}");
        }
        for text in ["", "h", "0h", "-1h", "1.5h", "24", "1w", "5s", "99999d", "ü", "1ü"] {
            assert!(interval(text).unwrap_err().contains("such as 30m"), "{text}");
        }
    }
}
