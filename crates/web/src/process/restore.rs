//! Replaces the SQLite database with a backup. The old database is renamed, never removed. Neither is touched before
//! the copy of the backup is complete, migrated and ready for use.
//!
//! The database's name always belongs to a complete database, even if the process is killed. The old one first gets a
//! second name, then the new one is renamed to the first name atomically.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use base::work::Work;
use model::time::Timestamp;
use store::audit::verify::ChainFault;
use store::maintenance::instances::GRACE;
use store::maintenance::restored::Restored;
use store::{CountedCall, Exclusive, Store, StoreError, allow_serving, must_be_whole, url_of};

/// The end of the copy's name during a restore, after the time.
const RESTORING: &str = ".restoring";
/// The part of the old database's new name before the time.
const BEFORE: &str = ".before-";
/// The files that SQLite writes beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

const HOUR: Duration = Duration::from_secs(3_600);

pub struct Restore {
    /// The file of the database.
    pub target: PathBuf,
    pub backup: PathBuf,
    /// Whether to accept a backup with a broken audit log.
    pub accepts_broken_audit: bool,
    /// Whether to only check the backup, without restoring it.
    pub dry_run: bool,
}

/// The result of a restore.
pub struct Done {
    pub restored: Restored,
    /// The accepted fault of the audit log.
    pub audit_fault: Option<ChainFault>,
    /// The path of the old database, if there was one.
    pub before: Option<PathBuf>,
}

impl Restore {
    /// Restores the backup, or fails without a change.
    pub async fn run(mut self, work: &Work) -> anyhow::Result<Done> {
        let now = work.now();
        if let Ok(target) = self.target.canonicalize() {
            self.target = target;
        }
        self.must_be_a_backup()?;
        let mut old = self.lock_old(now).await?;
        let calls = match &mut old {
            Some(old) => old.calls_after(now.plus_seconds(-(HOUR.as_secs() as i64))).await,
            None => Vec::new(),
        };
        let copy = Copy::begin(&self.target, now)
            .with_context(|| format!("the folder of {} cannot be used", self.target.display()))?;
        let (from, to, like) = (self.backup.clone(), copy.path.clone(), owner_of(&self.target));
        let copied = tokio::task::spawn_blocking(move || write(&from, &to, like.as_ref()));
        let file = copied.await?.with_context(|| format!("{} cannot be copied", self.backup.display()))?;
        let copy = copy.with(file);
        let (restored, audit_fault) = self.prepare(&copy, &calls, work, now).await?;
        if self.dry_run {
            return Ok(Done { restored, audit_fault, before: None });
        }
        if let Some(old) = &mut old {
            old.checkpoint().await?;
        }
        let before = replace_database(copy, &self.target, now)
            .with_context(|| format!("{} could not be replaced, and is as it was", self.target.display()))?;
        if let Some(old) = old {
            old.set_aside().await.context("the database that was there was not marked as set aside")?;
        }
        Ok(Done { restored, audit_fault, before })
    }

    /// Fails unless the backup is a finished file, and not the database itself.
    fn must_be_a_backup(&self) -> anyhow::Result<()> {
        let backup = self.backup.canonicalize();
        let backup = backup.with_context(|| format!("{} cannot be read", self.backup.display()))?;
        if backup == self.target {
            bail!("{} is the database itself: name a backup of it", backup.display());
        }
        let log = with_end(&backup, "-wal");
        if log.metadata().is_ok_and(|log| log.len() > 0) {
            bail!(
                "{} is no finished backup: there is {}, which a process that uses it writes, or did not finish. \
                 `docket backup` makes one",
                backup.display(),
                log.display()
            );
        }
        Ok(())
    }

    /// Locks the old database. Fails if a process is using it.
    async fn lock_old(&self, now: Timestamp) -> anyhow::Result<Option<Exclusive>> {
        if self.dry_run || !self.target.exists() {
            return Ok(None);
        }
        let mut old = Exclusive::lock(&self.target).await?;
        let seen = old.last_heartbeat().await.map(|seen| now.seconds_since(seen));
        let grace = GRACE.as_secs() as i64;
        match seen {
            Some(ago) if ago.abs() < grace => bail!(
                "a `docket serve` used {} {} s ago and did not say that it ended: make sure that it has stopped, and try again in {} s",
                self.target.display(),
                ago.max(0),
                grace - ago
            ),
            _ => Ok(Some(old)),
        }
    }

    /// Checks the copy, migrates it and prepares it for use. Afterwards it is closed, and synced to disk.
    async fn prepare(
        &self,
        copy: &Copy,
        calls: &[CountedCall],
        work: &Work,
        now: Timestamp,
    ) -> anyhow::Result<(Restored, Option<ChainFault>)> {
        let backup = self.backup.display();
        copy.must_be_here()?;
        must_be_whole(&copy.path).await.with_context(|| format!("{backup} cannot be restored"))?;
        copy.must_be_here()?;
        allow_serving(&copy.path).await?;
        let url = url_of(&copy.path)?;
        copy.must_be_here()?;
        let store = Store::open(&url).await.with_context(|| format!("{backup} cannot be restored"))?;
        let fault = store.verify_audit().await?.fault;
        if let Some(fault) = &fault
            && !self.accepts_broken_audit
        {
            store.close().await;
            bail!(
                "the audit log of {backup} failed verification: {fault}. Take another backup, or accept that with --accept-broken-audit"
            );
        }
        let name = self.backup.file_name().unwrap_or_default().to_string_lossy();
        let restored = store.prepare_restored(work, calls, &name, now).await?;
        store.close().await;
        // Opened again, so that the check reads the data on disk.
        let store = Store::open_to_read(&url).await.context("the copy cannot be opened again")?;
        let again = store.verify_audit().await?.fault;
        store.close().await;
        if again != fault {
            bail!("the audit log of the copy is not what was written");
        }
        // Connections that close at the same time can leave the log to each other.
        let mut alone = Exclusive::lock(&copy.path).await?;
        alone.checkpoint().await?;
        alone.close().await?;
        let path = copy.path.clone();
        tokio::task::spawn_blocking(move || sync(&path)).await??;
        Ok((restored, fault))
    }
}

/// The copy, which is removed on drop unless it has replaced the database.
struct Copy {
    path: PathBuf,
    /// The file once it is written. Another account can own the folder and put a link in its place.
    file: Option<File>,
    /// A lock of the folder until drop or the end of the process.
    _alone: File,
}

impl Copy {
    /// Removes copies of earlier restores, if no other restore is using the folder.
    fn begin(target: &Path, now: Timestamp) -> io::Result<Self> {
        let (folder, name) = (folder_of(target), name_of(target));
        let alone = File::open(&folder)?;
        // Some file systems cannot lock folders.
        if let Err(TryLockError::WouldBlock) = alone.try_lock() {
            return Err(io::Error::other(
                "another `docket restore` is using it: try again when that has ended",
            ));
        }
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let other = name_of(&path);
            if other.starts_with(&format!("{name}.")) && other.contains(RESTORING) {
                fs::remove_file(path)?;
            }
        }
        let path = folder.join(format!("{name}.{}{RESTORING}", moment(now)));
        Ok(Self { path, file: None, _alone: alone })
    }

    fn with(mut self, file: File) -> Self {
        self.file = Some(file);
        self
    }

    /// Fails if the path no longer leads to the written file itself.
    fn must_be_here(&self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let (written, here) = (file.metadata()?, self.path.symlink_metadata()?);
        if (written.dev(), written.ino()) == (here.dev(), here.ino()) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "{} was replaced during the restore: look for who writes in its folder",
            self.path.display()
        )))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.path);
        for end in BESIDE {
            _ = fs::remove_file(with_end(&self.path, end));
        }
    }
}

/// Copies a file, readable by its owner only. The owner is that of `like`. Changes only the file that it created, whatever the path leads to by then:
/// root writes in a folder of another account.
fn write(from: &Path, to: &Path, like: Option<&Metadata>) -> io::Result<File> {
    let mut source = File::open(from)?;
    let mut options = File::options();
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut copy = options.write(true).create_new(true).open(to)?;
    let here = copy.metadata()?;
    if let Some(like) = like.filter(|like| (like.uid(), like.gid()) != (here.uid(), here.gid())) {
        fchown(&copy, Some(like.uid()), Some(like.gid()))?;
    }
    io::copy(&mut source, &mut copy)?;
    copy.sync_all()?;
    Ok(copy)
}

/// Syncs the copy, which is closed, to disk, and removes what SQLite left beside it.
fn sync(copy: &Path) -> io::Result<()> {
    for end in BESIDE {
        match fs::remove_file(with_end(copy, end)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    File::open(copy)?.sync_all()
}

/// Renames the old database, and gives its name to the copy. Returns the new name of the old one, if there was one.
fn replace_database(copy: Copy, target: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    let folder = folder_of(target);
    forget_second_names(target)?;
    let before = free_name(target, now);
    let is_there = target.exists();
    if is_there && fs::hard_link(target, &before).is_err() {
        // Some file systems have no hard links.
        write(target, &before, owner_of(target).as_ref())?;
    }
    // These files could not be checkpointed, or belong to a removed database. SQLite must not apply them to the new
    // one.
    for end in BESIDE {
        let beside = with_end(target, end);
        match beside.metadata() {
            // The index of the log, which SQLite creates again, or an empty log. Readers leave them behind.
            Ok(file) if end == "-shm" || file.len() == 0 => fs::remove_file(beside)?,
            Ok(_) => fs::rename(beside, with_end(&before, end))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    File::open(&folder)?.sync_all()?;
    copy.must_be_here()?;
    fs::rename(&copy.path, target)?;
    File::open(&folder)?.sync_all()?;
    Ok(is_there.then_some(before))
}

/// Removes second names of the database, left by a process that was killed before it renamed the copy.
fn forget_second_names(target: &Path) -> io::Result<()> {
    let Ok(here) = target.metadata() else { return Ok(()) };
    for entry in fs::read_dir(folder_of(target))? {
        let path = entry?.path();
        if name_of(&path).starts_with(&format!("{}{BEFORE}", name_of(target))) {
            let other = path.metadata()?;
            if (other.dev(), other.ino()) == (here.dev(), here.ino()) {
                fs::remove_file(path)?;
            }
        }
    }
    Ok(())
}

/// An unused name for the old database, such as `docket.db.before-2026-11-23T05-49-03Z`.
fn free_name(target: &Path, now: Timestamp) -> PathBuf {
    let first = with_end(target, &format!("{BEFORE}{}", moment(now)));
    let others = (2..).map(|number| with_end(&first, &format!("-{number}")));
    std::iter::once(first.clone()).chain(others).find(|name| !name.exists()).unwrap_or(first)
}

fn moment(at: Timestamp) -> String {
    Timestamp::from_millis(at.as_millis() / 1_000 * 1_000).to_string().replace(':', "-")
}

/// The metadata with the owner of the database, or of the folder if there is no database.
fn owner_of(target: &Path) -> Option<Metadata> {
    target.metadata().or_else(|_| folder_of(target).metadata()).ok()
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn with_end(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Advice for restoring a dump of PostgreSQL, which Docket does not read.
pub fn advice_for_a_server(redacted_url: &str) -> StoreError {
    StoreError::Misconfigured(format!(
        "DOCKET_DATABASE_URL is a PostgreSQL server, which is restored with its own tools. Stop every `docket serve`, and run \
         `pg_restore --clean --if-exists --single-transaction --dbname={redacted_url} docket.dump` with what \
         `pg_dump --format=custom --file=docket.dump {redacted_url}` wrote. Before the first start, hold what waits in the queue: \
         docs/operate/backups.md has the statements."
    ))
}
