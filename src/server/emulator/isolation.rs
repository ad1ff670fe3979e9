//! What the emulator may use, and who may use it: a shared type would hide a misreading of the specification.

use std::path::Path;

/// What its files name of the rest of the crate.
const MAY_USE: [&str; 2] = ["crate::model::time::", "crate::server::process::clock::"];
/// What its tests name besides.
const TESTS_MAY_USE: &str = "crate::server::process::listen";
/// Where it is named outside of its folder.
const USED_BY: [&str; 3] = ["src/server.rs", "src/server/commands.rs", "src/server/commands/"];

#[test]
fn the_emulator_uses_nothing_of_the_client_or_the_store() {
    let files = sources(|path| is_own(path) && !path.ends_with("isolation.rs"));
    assert!(files.len() > 20, "{files:?}");
    for (path, text) in files {
        let is_test = path.ends_with("tests.rs");
        for (place, _) in text.match_indices("crate::") {
            let rest = &text[place..];
            let allowed = MAY_USE.iter().any(|prefix| rest.starts_with(prefix))
                || (is_test && rest.starts_with(TESTS_MAY_USE));
            assert!(allowed, "{path} names {}", rest.lines().next().unwrap_or_default());
        }
        for module in ["upstream::", "store::"] {
            assert!(!text.contains(module), "{path} names {module}");
        }
    }
}

#[test]
fn only_the_commands_use_the_emulator() {
    for (path, text) in
        sources(|path| !is_own(path) && !USED_BY.iter().any(|prefix| path.starts_with(prefix)))
    {
        // `commands::emulator` is the command, which `main.rs` starts.
        let text = text.replace("commands::emulator", "");
        assert!(!text.contains("emulator::"), "{path} names the emulator");
    }
}

fn is_own(path: &str) -> bool {
    path == "src/server/emulator.rs" || path.starts_with("src/server/emulator/")
}

/// The Rust files under `src` whose path is `wanted`, with their text.
fn sources(wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    read(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new("src"), &wanted, &mut found)
        .expect("readable sources");
    found
}

fn read(
    root: &Path,
    folder: &Path,
    wanted: &impl Fn(&str) -> bool,
    found: &mut Vec<(String, String)>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let name = path.display().to_string();
        if entry.file_type()?.is_dir() {
            read(root, &path, wanted, found)?;
        } else if name.ends_with(".rs") && wanted(&name) {
            found.push((name, std::fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}
