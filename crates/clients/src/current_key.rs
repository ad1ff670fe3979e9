//! The current key of an API. A key from a file is reloaded when the file changes, so that a new key needs no restart. Only
//! the file's name is logged.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Mutex as AsyncMutex;

use base::blocking;
use base::config::ApiKey;

/// The current key, and all keys to mask. Clones share them.
#[derive(Clone)]
pub(crate) struct CurrentKey {
    /// Such as `the admin key`, for the log.
    name: &'static str,
    read: fn(&Path) -> Result<ApiKey, String>,
    /// Serializes the checks of the file.
    reloading: Arc<AsyncMutex<()>>,
    state: Arc<Mutex<State>>,
}

struct State {
    /// The file that the key comes from, if any.
    file: Option<PathBuf>,
    current: ApiKey,
    /// All keys used so far, longest first, including the current one: pending responses may repeat older ones.
    known: Vec<ApiKey>,
    /// The file's version when it was last read, successfully or not.
    seen: Option<Version>,
}

/// Changes when the file is written or replaced.
#[derive(PartialEq, Eq)]
struct Version {
    inode: u64,
    length: u64,
    changed_seconds: i64,
    changed_nanoseconds: i64,
}

impl CurrentKey {
    /// The admin key of the upstream. `file`: where it comes from, if it is from a file.
    pub(crate) fn of_admin(current: ApiKey, file: Option<PathBuf>) -> Self {
        Self { read: ApiKey::read_admin, ..Self::new("the admin key", current, file) }
    }

    /// A token. `file`: where it comes from, if it is from a file.
    pub(crate) fn new(name: &'static str, current: ApiKey, file: Option<PathBuf>) -> Self {
        let state = State { file, known: vec![current.clone()], current, seen: None };
        Self { name, read: ApiKey::read, reloading: Arc::default(), state: Arc::new(Mutex::new(state)) }
    }

    /// The value of the `Authorization` header. Checks the file each time, on a thread for blocking work, because a
    /// network file system may be slow.
    pub(crate) async fn bearer(&self) -> String {
        let file = self.state().file.clone();
        if let Some(file) = file {
            let _guard = self.reloading.lock().await;
            let this = self.clone();
            blocking::run(usize::MAX, move || this.reload(&file)).await;
        }
        self.state().current.bearer()
    }

    /// Uses `key` from now on, and watches `file` instead of the one before.
    pub(crate) fn replace(&self, key: ApiKey, file: Option<PathBuf>) {
        let mut state = self.state();
        (state.file, state.seen) = (file, None);
        state.use_key(key);
    }

    /// Reloads the key if `file` has changed. If the file is missing or invalid, logs it once and does not change the
    /// key. The state is not locked while the file is read.
    fn reload(&self, file: &Path) {
        // Before reading, so that the next call detects a later write.
        let version = Version::of(file);
        if version == self.state().seen {
            return;
        }
        let read = (self.read)(file);
        let mut state = self.state();
        if state.file.as_deref() != Some(file) {
            return;
        }
        state.seen = version;
        match read {
            Ok(key) if key.is(&state.current) => {}
            Ok(key) => {
                tracing::info!(file = %file.display(), key = self.name, "a new key is in use");
                state.use_key(key);
            }
            Err(error) => {
                tracing::warn!(file = %file.display(), key = self.name, error, "the file of a key is invalid; the current key stays");
            }
        }
    }

    /// `text` with all known keys masked.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.state().known.iter().fold(text.to_owned(), |text, key| key.mask(&text))
    }

    /// Whether `text` contains a whole known key.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.state().known.iter().any(|key| key.is_in(text))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn use_key(&mut self, key: ApiKey) {
        self.current = key.clone();
        if !self.known.iter().any(|known| known.is(&key)) {
            self.known.push(key);
            // One key may be a prefix of another.
            self.known.sort_by_key(|known| std::cmp::Reverse(known.length()));
        }
    }
}

impl Version {
    fn of(file: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(file).ok()?;
        Some(Self {
            inode: metadata.ino(),
            length: metadata.len(),
            changed_seconds: metadata.ctime(),
            changed_nanoseconds: metadata.ctime_nsec(),
        })
    }
}
