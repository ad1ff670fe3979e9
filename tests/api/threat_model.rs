//! Every test named in the threat model exists and runs.

use std::path::{Path, PathBuf};

const MODEL: &str = include_str!("../../docs/threat-model.md");

/// The tests that the threat model names as `file::name`.
fn named() -> Vec<(String, &'static str)> {
    MODEL.lines().filter(|line| line.starts_with('|')).flat_map(named_in).collect()
}

/// The tests that a row names.
fn named_in(row: &str) -> Vec<(String, &str)> {
    let named = row.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.split_once("::"));
    let named = named.filter(|(file, _)| file.contains('.') && !file.contains(' '));
    named
        .map(|(file, name)| {
            let is_here = !file.contains('/') && file != "Cargo.toml";
            (if is_here { format!("tests/api/{file}") } else { file.to_owned() }, name)
        })
        .collect()
}

fn read(file: &Path) -> String {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    text.unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Why `name` is not a running test in `text`; `None` if it is one.
fn fault_of_test(text: &str, name: &str) -> Option<&'static str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins = |line: &&str| {
        [format!("fn {name}("), format!("async fn {name}(")].iter().any(|begin| line.starts_with(begin))
    };
    let Some(at) = lines.iter().position(begins) else {
        return Some("there is no such function");
    };
    let above: Vec<&str> = lines[..at]
        .iter()
        .rev()
        .copied()
        .take_while(|line| line.starts_with("#[") || line.starts_with("///"))
        .collect();
    let is_test = above.iter().any(|line| *line == "#[test]" || line.starts_with("#[tokio::test"));
    let is_left_out = above.iter().any(|line| line.starts_with("#[ignore") || line.starts_with("#[cfg"));
    match (is_test, is_left_out) {
        (false, _) => Some("it is a function, and no test"),
        (true, true) => Some("it is left out"),
        (true, false) => None,
    }
}

/// Whether `module` is declared in `text`, including for tests.
fn declares(text: &str, module: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declared = |line: &str| {
        let rest = line
            .strip_prefix("pub")
            .map_or(line, |rest| rest.trim_start_matches("(crate)").trim_start_matches("(super)").trim());
        rest == format!("mod {module};")
    };
    lines.iter().enumerate().any(|(at, line)| {
        let above = if at > 0 { lines[at - 1] } else { "" };
        declared(line)
            && (!above.starts_with("#[cfg") || ["#[cfg(test)]", "#[cfg(feature = \"ssr\")]"].contains(&above))
    })
}

/// Whether `file` is a module of a crate.
fn is_compiled(file: &Path) -> bool {
    let mut module = file.to_owned();
    while !["main.rs", "lib.rs"].contains(&module.file_name().unwrap().to_str().unwrap()) {
        let (folder, name) = (module.parent().unwrap(), module.file_stem().unwrap().to_str().unwrap());
        let roots: [PathBuf; 2] = [folder.join("main.rs"), folder.join("lib.rs")];
        let parents = [folder.with_extension("rs")].into_iter().chain(roots);
        let parent = parents.filter(|parent| Path::new(env!("CARGO_MANIFEST_DIR")).join(parent).exists());
        let parent = parent.into_iter().find(|parent| declares(&read(parent), name));
        let Some(parent) = parent else { return false };
        module = parent;
    }
    true
}

/// Why the browser tests in `text` do not run `name`; `None` if they do.
fn fault_of_browser_test(text: &str, name: &str) -> Option<&'static str> {
    let is_test = |line: &str| line.trim_start().starts_with("test(") && line.contains(name);
    if !text.lines().any(is_test) {
        return Some("there is no such test");
    }
    // Such a call may leave out other tests than the one in its line.
    let leaves_out = [".skip(", ".fixme(", ".only("].iter().any(|call| text.contains(call));
    leaves_out.then_some("its file leaves out tests")
}

/// Why no line of a script or a configuration has `name`; `None` if one has it. The begin of a function does not run it.
fn fault_of_line(text: &str, name: &str) -> Option<&'static str> {
    let has_name = |line: &str| {
        let line = line.trim();
        line.contains(name) && !line.starts_with(['#', '/']) && !line.ends_with("() {")
    };
    (!text.lines().any(has_name)).then_some("no line has it")
}

/// Why `name` is not a running test in `file`; `None` if it is one. In a script or a configuration, a line has the name.
pub(crate) fn fault_of_named_test(file: &str, name: &str) -> Option<&'static str> {
    let Ok(text) = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)) else {
        return Some("there is no such file");
    };
    if file.ends_with(".rs") {
        let not_compiled = || (!is_compiled(Path::new(file))).then_some("the file is in no crate");
        return fault_of_test(&text, name).or_else(not_compiled);
    }
    if file.ends_with(".ts") {
        return fault_of_browser_test(&text, name);
    }
    fault_of_line(&text, name)
}

#[test]
fn every_test_in_the_threat_model_runs() {
    let named = named();
    assert!(named.len() >= 500, "only {} are named", named.len());
    for (file, name) in named {
        assert_eq!(fault_of_named_test(&file, name), None, "{file}::{name}");
    }
}

#[test]
fn functions_that_do_not_run_are_no_tests() {
    let text = "#[test]\nfn runs() {\n}\n#[tokio::test]\n#[ignore]\nasync fn ignored() {\n}\nfn helper() {}\n// fn gone() {}\n\
                #[cfg(windows)]\n#[test]\nfn elsewhere() {}\n    /// Why.\n    #[tokio::test(flavor = \"multi_thread\")]\n    async fn inner() {}";
    let fault = |name| fault_of_test(text, name).is_some();
    assert!(!fault("runs") && !fault("inner"));
    assert!(fault("ignored") && fault("helper") && fault("gone") && fault("elsewhere") && fault("run"));
    let modules =
        "mod a;\npub(crate) mod b;\n// mod c;\n#[cfg(any())]\nmod d;\n#[cfg(test)]\nmod e;\nmod f {";
    let declared: Vec<&str> =
        ["a", "b", "c", "d", "e", "f"].into_iter().filter(|name| declares(modules, name)).collect();
    assert_eq!(declared, ["a", "b", "e"]);
}

#[test]
fn left_out_browser_tests_and_uncalled_functions_are_no_tests() {
    let text = "test(\"runs\", async () => {\n  for (const how of HOW) {\n    test(`runs twice, ${how}`, async () => {\n// test(\"gone\", () => {\n";
    let fault = |text: &str, name| fault_of_browser_test(text, name).is_some();
    assert!(!fault(text, "runs") && !fault(text, "runs twice"));
    assert!(fault(text, "gone") && fault(text, "run nothing"));
    for call in ["test.skip(\"runs\", () => {", "test.fixme();", "test.describe.only(\"some\", () => {"] {
        assert!(fault(&format!("{text}{call}"), "runs"), "{call}");
    }
    let script = "the_rule() {\n}\nanother() {\n}\n# the_rule\n  another\n";
    assert_eq!(fault_of_line(script, "another"), None);
    assert!(fault_of_line(script, "the_rule").is_some());
}

#[test]
fn every_threat_names_a_test() {
    let (_, threats) = MODEL.split_once("## Threats").unwrap();
    let threats = threats.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| threat"));
    let threats: Vec<&str> = threats.collect();
    assert!(threats.len() >= 180, "only {} threats", threats.len());
    for threat in threats {
        assert!(!named_in(threat).is_empty(), "{threat}");
    }
}
