//! Writes a consistent copy of a SQLite database to a new file. The copy has a temporary name until it is complete and on disk. Never replaces a
//! file, except for the copy before an upgrade.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{ConnectOptions, Connection};
use tempfile::{Builder, NamedTempFile};
use tokio_util::sync::CancellationToken;

use super::interruption::STEPS;
use super::path::options_of;
use crate::StoreError;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The suffix of the temporary name: `.docket.db.x7Qw2a.partial`.
pub const PARTIAL: &str = ".partial";

/// Fails if `file` exists. Leaves nothing behind on failure, not even on a full disk. `stop` ends the copy, so that the process can end.
pub(super) async fn write(database: &Path, file: &Path, stop: &CancellationToken) -> Result<(), StoreError> {
    let failed = |error: Error| StoreError::File { path: file.to_owned(), error };
    if file.symlink_metadata().is_ok() {
        return Err(failed(ErrorKind::AlreadyExists.into()));
    }
    copy(database, file, Existing::Stays, stop).await
}

/// Copies the open database `path` before an upgrade. Replaces an earlier copy: that upgrade failed or was undone, and the database has changed since.
pub(super) async fn before_upgrade(path: &Path, file: &Path) -> Result<(), StoreError> {
    let failed = |error: Error| StoreError::File { path: file.to_owned(), error };
    let (needed, free) = (2 * bytes_of(path).map_err(failed)?, free_bytes(path).map_err(failed)?);
    if free < needed {
        // A copy, and as much for what the upgrade writes.
        let error = format!("the disk has {free} bytes free, and {needed} are needed");
        return Err(failed(Error::new(ErrorKind::StorageFull, error)));
    }
    forget_partial(file).map_err(failed)?;
    copy(path, file, Existing::IsReplaced, &CancellationToken::new()).await
}

/// Removes what killed processes left of copies to `file`.
fn forget_partial(file: &Path) -> io::Result<()> {
    let target = std::path::absolute(file)?;
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return Ok(()) };
    let begin = format!(".{}.", name.to_string_lossy());
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| {
            name.starts_with(&begin) && name.trim_end_matches("-journal").ends_with(PARTIAL)
        }) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The size of a database with its write-ahead log, which a copy contains, too.
pub fn bytes_of(path: &Path) -> io::Result<u64> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = match std::fs::metadata(log) {
        Ok(log) => log.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    Ok(path.metadata()?.len() + log)
}

/// The number of bytes that an unprivileged process may still write on the disk of a file or folder.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// What happens to a file with the name of a copy.
#[derive(Clone, Copy)]
enum Existing {
    Stays,
    IsReplaced,
}

async fn copy(
    database: &Path,
    file: &Path,
    existing: Existing,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    let failed = |error: Error| StoreError::File { path: file.to_owned(), error };
    let (target, partial) = begin(file).map_err(failed)?;
    // An absolute path: SQLite would parse `file:x.db` as a URL, and `:memory:` as a database without a file.
    let path = partial
        .path()
        .to_str()
        .ok_or_else(|| failed(Error::new(ErrorKind::InvalidInput, "its path is not valid UTF-8")))?;
    let options = options_of(database)?.read_only(true).busy_timeout(BUSY_TIMEOUT);
    let mut connection = options.connect().await?;
    let stopped = stop.clone();
    connection.lock_handle().await?.set_progress_handler(STEPS, move || !stopped.is_cancelled());
    let copied = sqlx::query("VACUUM INTO $1").bind(path.to_owned()).execute(&mut connection).await;
    // Also after a failure: SQLite removes its journal, and then the partial file is removed.
    connection.close().await?;
    copied?;
    let finished = tokio::task::spawn_blocking(move || finish(partial, &target, existing)).await;
    finished.unwrap_or_else(|error| Err(Error::other(error))).map_err(failed)
}

/// The absolute path, and an empty temporary file beside it that only its owner can read.
fn begin(file: &Path) -> io::Result<(PathBuf, NamedTempFile)> {
    let target = std::path::absolute(file)?;
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not the path of a file"));
    };
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let private = Permissions::from_mode(0o600);
    let partial = Builder::new().prefix(&prefix).suffix(PARTIAL).permissions(private).tempfile_in(folder)?;
    Ok((target, partial))
}

/// Syncs the copy to disk, then gives it its name.
fn finish(partial: NamedTempFile, target: &Path, existing: Existing) -> io::Result<()> {
    partial.as_file().sync_all()?;
    let named = match existing {
        Existing::Stays => partial.persist_noclobber(target),
        Existing::IsReplaced => partial.persist(target),
    };
    named.map_err(|error| error.error)?;
    match target.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
