//! The documents: links and paths lead to files, and the short ones stay short.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn documents() -> Vec<PathBuf> {
    files().into_iter().filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// The documents, with the examples and pictures beside them.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut found: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root().join(name)).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found
}

/// The targets of links to files of the project, without anchors.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|target| {
        !target.contains("://") && !target.starts_with(['#', '/']) && !target.contains("mailto:")
    });
    local.map(|target| target.split('#').next().unwrap_or_default()).collect()
}

#[test]
fn links_between_documents_lead_to_files() {
    let documents = documents();
    assert!(documents.len() > 40, "{}", documents.len());
    for document in documents {
        for link in links(&read(&document)) {
            let target = document.parent().unwrap().join(link);
            assert!(target.exists(), "{}: {link}", document.display());
        }
    }
}

#[test]
fn paths_in_the_architecture_lead_to_files() {
    let text = read(&root().join("docs/ARCHITECTURE.md"));
    let code = text.split('`').skip(1).step_by(2);
    let paths: Vec<&str> = code.filter(|code| code.contains(".rs") || code.ends_with('/')).collect();
    assert!(paths.len() > 40, "{paths:?}");
    for path in paths {
        let path = path.split("::").next().unwrap_or_default();
        let mut places =
            vec![root().join(path), root().join("src").join(path), root().join("src/server").join(path)];
        // `store/jobs.rs` is short for `crates/store/src/jobs.rs`.
        places.extend(
            path.split_once('/').map(|(name, rest)| root().join("crates").join(name).join("src").join(rest)),
        );
        let found = places.iter().any(|place| place.exists());
        assert!(found, "{path}");
    }
}

#[test]
fn introductory_documents_are_short() {
    for (name, most) in [("README.md", 900), ("docs/ARCHITECTURE.md", 1_800)] {
        let words = read(&root().join(name)).split_whitespace().count();
        assert!(words <= most, "{name} has {words} words");
    }
}
