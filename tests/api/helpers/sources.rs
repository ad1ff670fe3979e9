//! The sources of all crates, for tests that read them.

use std::fs;
use std::path::{Path, PathBuf};

/// The source files of the server and the front end, without the emulator: each with its path from the root of the project.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let crates = crates.filter(|folder| !folder.ends_with("emulator")).map(|folder| folder.join("src"));
    let mut folders: Vec<PathBuf> = crates.chain([root.join("src")]).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let source = fs::read_to_string(&path).unwrap();
                sources.push((path.strip_prefix(root).unwrap().to_owned(), source));
            }
        }
    }
    sources.sort();
    sources
}
