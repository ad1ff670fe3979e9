//! The identity of an open database file: its path, device and inode. Never opens or changes the file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// Why the path of an open database does not lead to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FileFault {
    #[error("the database file was moved or removed")]
    Missing,
    #[error("the database file was replaced by another file")]
    Replaced,
    #[error("the database file cannot be looked at")]
    Unreadable,
}

impl FileIdentity {
    pub(super) fn new(path: &Path, metadata: &Metadata) -> Self {
        Self { path: path.to_owned(), device: metadata.dev(), inode: metadata.ino() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails unless the path still leads to this file.
    pub(crate) fn check(&self) -> Result<(), FileFault> {
        match self.path.metadata() {
            Ok(metadata) if Self::new(&self.path, &metadata) == *self => Ok(()),
            Ok(_) => Err(FileFault::Replaced),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(FileFault::Missing),
            Err(_) => Err(FileFault::Unreadable),
        }
    }
}
