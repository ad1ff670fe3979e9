//! Room on a disk.

use std::io;
use std::path::Path;

/// The number of bytes that an unprivileged process may still write on the disk of a file or folder.
pub fn free(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}
