//! Checks of files: permissions, free space, and whether backups can be written. No file is changed.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::report::Finding;
use base::config::BackupConfig;
use store::free_bytes;

const MIB: u64 = 1024 * 1024;

/// With less free space, the next write may fail.
const ROOM_MIN: u64 = 64 * MIB;

/// Space for the files beside the database and for an upgrade of a small one.
const ROOM_RECOMMENDED: u64 = 256 * MIB;

/// Whether all local users can read a secret or the database. `secrets`: each with its variable.
pub(super) fn permissions(secrets: &[(String, PathBuf)], database: Option<&Path>) -> Finding {
    let secrets = secrets.iter().map(|(variable, file)| (variable.as_str(), file.clone()));
    let database = database.map(|file| ("the database", file.to_owned()));
    let open: Vec<String> = secrets
        .chain(database)
        .filter(|(_, file)| is_open(file))
        .map(|(what, file)| format!("{} ({what})", file.display()))
        .collect();
    match open.is_empty() {
        true => Finding::Good("secrets and database are closed to other accounts of this machine".to_owned()),
        false => Finding::Warning(format!(
            "every account of this machine can read {}. Close each with: chmod o-rwx FILE",
            open.join(", ")
        )),
    }
}

/// Whether users other than the owner and the group can read a file, and access its folders.
fn is_open(file: &Path) -> bool {
    let others = |path: &Path| path.metadata().map_or(0, |metadata| metadata.permissions().mode() & 0o007);
    let Ok(file) = file.canonicalize() else { return false };
    others(&file) & 0o004 != 0 && file.ancestors().skip(1).all(|folder| others(folder) & 0o001 != 0)
}

/// Whether the disk of `file` has space for a second copy.
pub(super) fn room(file: &Path) -> Finding {
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match free_bytes(folder) {
        Ok(free) => enough(folder, free, size.max(ROOM_RECOMMENDED)),
        Err(error) => Finding::Bad(format!("{} cannot be looked at: {error}", folder.display())),
    }
}

/// Whether a backup can be written, and has enough space.
pub(super) fn backups(config: &BackupConfig, database: Option<&Path>) -> Finding {
    let folder = &config.folder;
    if let Err(error) = tempfile::NamedTempFile::new_in(folder) {
        return Finding::Bad(format!(
            "no backup can be written to {}: {error}. Give the account of Docket the right to write there.",
            folder.display()
        ));
    }
    let size = database.and_then(|file| file.metadata().ok()).map_or(0, |metadata| metadata.len());
    match free_bytes(folder) {
        Ok(free) => enough(folder, free, (2 * size).max(ROOM_MIN)),
        Err(error) => Finding::Bad(format!("{} cannot be looked at: {error}", folder.display())),
    }
}

fn enough(folder: &Path, free: u64, wanted: u64) -> Finding {
    let folder = folder.display();
    let free_now = format!("{} MiB are free where {folder} is", free / MIB);
    match free {
        ..ROOM_MIN => Finding::Bad(format!("{free_now}: make room, or nothing can be stored.")),
        _ if free < wanted => Finding::Warning(format!(
            "{free_now}; {} MiB would be enough for an upgrade or a copy.",
            wanted / MIB
        )),
        _ => Finding::Good(free_now),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn free_space_is_compared_with_the_needed_space() {
        let judged = |free, wanted| enough(Path::new("/here"), free, wanted);
        assert!(matches!(judged(ROOM_MIN - 1, ROOM_MIN), Finding::Bad(_)));
        assert!(matches!(judged(ROOM_RECOMMENDED - 1, ROOM_RECOMMENDED), Finding::Warning(_)));
        assert_eq!(
            judged(2 * ROOM_RECOMMENDED, ROOM_RECOMMENDED),
            Finding::Good("512 MiB are free where /here is".into())
        );
    }

    #[test]
    fn file_is_open_if_others_can_reach_and_read_it() {
        let folder =
            tempfile::Builder::new().permissions(PermissionsExt::from_mode(0o755)).tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "a few unrelated words").unwrap();
        for (mode, of_folder, open) in
            [(0o644, 0o755, true), (0o640, 0o755, false), (0o604, 0o711, true), (0o644, 0o700, false)]
        {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(of_folder)).unwrap();
            assert_eq!(is_open(&file), open, "{mode:o} in {of_folder:o}");
        }
        assert!(!is_open(&folder.path().join("missing")));
    }
}
