//! What the threat model promises is tested by tests that are there.

use std::path::Path;

const MODEL: &str = include_str!("../../docs/threat-model.md");

/// What the model names as `file::name`: the file from the root of the repository, and the name.
fn named() -> Vec<(String, &'static str)> {
    let quoted = MODEL
        .lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2));
    let named = quoted.filter_map(|quoted| quoted.split_once("::"));
    let named = named.filter(|(file, _)| file.contains('.') && !file.contains(' '));
    named
        .map(|(file, name)| {
            let is_here = !file.contains('/') && file != "Cargo.toml";
            (if is_here { format!("tests/api/{file}") } else { file.to_owned() }, name)
        })
        .collect()
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let named = named();
    assert!(named.len() >= 60, "only {} are named", named.len());
    for (file, name) in named {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file));
        let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
        let wanted = if file.ends_with(".rs") { format!("fn {name}(") } else { name.to_owned() };
        assert!(text.contains(&wanted), "{file} has no {name}");
    }
}

#[test]
fn every_threat_names_a_test() {
    let threats = MODEL.split("## Threats").nth(1).unwrap();
    for line in threats.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| threat")) {
        assert!(line.contains("::"), "{line}");
    }
}
