//! Writes a consistent copy of a SQLite database to a new file. The copy has a temporary name until it is complete and on disk. Never replaces a
//! file.

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
use crate::server::store::StoreError;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The suffix of the temporary name: `.docket.db.x7Qw2a.partial`.
pub const PARTIAL: &str = ".partial";

/// Fails if `file` exists. Leaves nothing behind on failure, not even on a full disk. `stop` ends the copy, so that the process can end.
pub(super) async fn write(database: &Path, file: &Path, stop: &CancellationToken) -> Result<(), StoreError> {
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
    let finished = tokio::task::spawn_blocking(move || finish(partial, &target)).await;
    finished.unwrap_or_else(|error| Err(Error::other(error))).map_err(failed)
}

/// The absolute path, and an empty temporary file beside it that only its owner can read.
fn begin(file: &Path) -> io::Result<(PathBuf, NamedTempFile)> {
    let target = std::path::absolute(file)?;
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not the path of a file"));
    };
    if target.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let private = Permissions::from_mode(0o600);
    let partial = Builder::new().prefix(&prefix).suffix(PARTIAL).permissions(private).tempfile_in(folder)?;
    Ok((target, partial))
}

/// Syncs the copy to disk, then gives it its name.
fn finish(partial: NamedTempFile, target: &Path) -> io::Result<()> {
    partial.as_file().sync_all()?;
    partial.persist_noclobber(target).map_err(|error| error.error)?;
    match target.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
