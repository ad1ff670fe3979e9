//! The documents: links and paths lead to files, the index of behaviors to functions and tests, and the short ones stay short.

use std::path::{Path, PathBuf};

use crate::threat_model::fault_of_named_test;

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
    for (name, most) in [("README.md", 900), ("docs/ARCHITECTURE.md", 2_200)] {
        let words = read(&root().join(name)).split_whitespace().count();
        assert!(words <= most, "{name} has {words} words");
    }
}

/// Whether `source` has a function of this name.
fn has_function(source: &str, name: &str) -> bool {
    let begins = [format!("fn {name}("), format!("fn {name}<")];
    source.lines().any(|line| {
        !line.trim_start().starts_with("//") && begins.iter().any(|begin| line.contains(begin.as_str()))
    })
}

/// The file and the name in a cell such as `` `src/main.rs::main` ``.
fn named(cell: &str) -> Option<(&str, &str)> {
    cell.trim().strip_prefix('`')?.strip_suffix('`')?.split_once("::")
}

/// Why a row of the index of behaviors is wrong; `None` if its function exists and its test runs.
fn fault_of_row(row: &str) -> Option<String> {
    let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
    let [_, code, test] = cells[..] else { return Some("it does not have three cells".to_owned()) };
    let Some((file, function)) = named(code) else { return Some("its code is not `file::name`".to_owned()) };
    let Some((test_file, test)) = named(test) else { return Some("its test is not `file::name`".to_owned()) };
    let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
    if !has_function(&source, function) {
        return Some(format!("{file} has no function {function}"));
    }
    fault_of_named_test(test_file, test).map(|fault| format!("{test_file}::{test}: {fault}"))
}

#[test]
fn index_of_behaviors_leads_to_functions_and_tests() {
    let text = read(&root().join("docs/ARCHITECTURE.md"));
    let (_, index) = text.split_once("\n## Index of behaviors\n").expect("the index of behaviors");
    let index = index.split("\n## ").next().unwrap_or_default();
    let rows = index.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| behavior "));
    let rows: Vec<&str> = rows.collect();
    assert!(rows.len() >= 30, "the index has only {} rows", rows.len());
    for row in rows {
        assert_eq!(fault_of_row(row), None, "{row}");
    }
}

#[test]
fn wrong_rows_of_the_index_are_found() {
    let fault = |code: &str, test: &str| fault_of_row(&format!("| A rule | `{code}` | `{test}` |"));
    let code = "crates/web/src/auth/roles.rs::check";
    let test = "tests/api/documents.rs::links_between_documents_lead_to_files";
    assert_eq!(fault(code, test), None);
    for (code, test) in [
        ("crates/web/src/auth/roles.rs::chec", test),
        ("crates/web/src/auth/removed.rs::check", test),
        ("check", test),
        (code, "tests/api/documents.rs::root"),
        (code, "tests/api/documents.rs::links"),
        (code, "tests/api/removed.rs::check"),
        (code, "end2end/tests/frame.spec.ts::a title that no test has"),
        (code, "links_between_documents_lead_to_files"),
    ] {
        assert!(fault(code, test).is_some(), "{code} {test}");
    }
    assert!(fault_of_row("| A rule | `crates/web/src/auth/roles.rs::check` |").is_some());
}

/// A snapshot whose test is gone would stay forever.
#[test]
fn each_snapshot_belongs_to_a_test() {
    let mut folders = vec![root().join("tests")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "snap") {
                found += 1;
                assert_eq!(fault_of_snapshot(&path), None, "{}", path.display());
            }
        }
    }
    assert!(found > 0);
}

/// `api__batch__name_of_the_test.snap` is the first snapshot of a test, `…-2.snap` its second one. It names the file of the test.
fn fault_of_snapshot(path: &Path) -> Option<String> {
    let name = path.file_stem().unwrap().to_str().unwrap().rsplit("__").next().unwrap();
    let (test, number) = name.split_once('-').unwrap_or((name, "1"));
    let snapshot = read(path);
    let source = snapshot.lines().find_map(|line| line.strip_prefix("source: ")).unwrap();
    let source = read(&root().join(source));
    let Some((_, rest)) = source.split_once(&format!("fn {test}(")) else {
        return Some(format!("no test {test}"));
    };
    let body = rest.split("\n}\n").next().unwrap();
    let asserted = body.matches("snapshot!(").count();
    (asserted < number.parse().unwrap()).then(|| format!("{test} has {asserted} snapshots"))
}
