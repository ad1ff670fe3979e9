//! The key in use. A key that came from a file is read again once the file has changed, so that a new one needs no
//! restart. Must not show a key: what it logs is about the file.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::server::config::{ApiKey, UpstreamConfig};

/// The key of the next call, and what of all keys so far must not be seen. Cloning shares them.
#[derive(Clone)]
pub(super) struct CurrentKey {
    file: Option<PathBuf>,
    state: Arc<Mutex<State>>,
}

struct State {
    current: ApiKey,
    /// Keys that answers under way may still repeat, the longest first; the current one is among them.
    known: Vec<ApiKey>,
    /// The file when it was last read, whatever came of that.
    seen: Option<Version>,
}

/// What changes when a file is written or replaced.
#[derive(PartialEq, Eq)]
struct Version {
    inode: u64,
    length: u64,
    changed: (i64, i64),
}

impl CurrentKey {
    pub(super) fn new(config: &UpstreamConfig) -> Self {
        let current = config.api_key.clone();
        let state = State { known: vec![current.clone()], current, seen: None };
        Self { file: config.api_key_file.clone(), state: Arc::new(Mutex::new(state)) }
    }

    /// The value of an `Authorization` header. Looks at the file each time: that costs a microsecond, and calls are few.
    pub(super) fn bearer(&self) -> String {
        let mut state = self.state();
        if let Some(file) = &self.file {
            state.look_at(file);
        }
        state.current.bearer()
    }

    /// `text` without any of the keys there were.
    pub(super) fn mask(&self, text: &str) -> String {
        self.state().known.iter().fold(text.to_owned(), |text, key| key.mask(&text))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes the key in `file` if that has changed. One that is missing or bad leaves the key as it was, and is said once.
    fn look_at(&mut self, file: &Path) {
        // Looked at before it is read: what is written in between is found at the next call.
        let version = Version::of(file);
        if version == self.seen {
            return;
        }
        self.seen = version;
        match ApiKey::read(file) {
            Ok(key) if key.is(&self.current) => {}
            Ok(key) => {
                tracing::info!(file = %file.display(), "a new admin key is in use");
                self.take(key);
            }
            Err(error) => {
                tracing::warn!(file = %file.display(), error, "the admin key's file is no good; the key stays as it was");
            }
        }
    }

    fn take(&mut self, key: ApiKey) {
        self.current = key.clone();
        if !self.known.iter().any(|known| known.is(&key)) {
            self.known.push(key);
            // A key may begin with another one.
            self.known.sort_by_key(|known| std::cmp::Reverse(known.length()));
        }
    }
}

impl Version {
    fn of(file: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(file).ok()?;
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        Some(Self { inode: metadata.ino(), length: metadata.len(), changed })
    }
}
