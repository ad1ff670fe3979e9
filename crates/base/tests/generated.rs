//! What is generated from the documentation of the settings: the table in the documents, and the annotated `Leptos.toml`.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use docket_base::config::{KEYS, Key};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate/configuration.md");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Leptos.toml");

#[test]
fn table_of_settings_is_current() {
    let page = std::fs::read_to_string(TABLE).unwrap();
    let begin = page.find("make settings -->").unwrap() + "make settings -->".len();
    let end = page.find("<!-- end of the table").unwrap();
    let rows: String = KEYS.iter().map(row).collect();
    let table = format!("\n\n| variable | meaning | default | example |\n|---|---|---|---|\n{rows}\n");
    check(TABLE, &page, [&page[..begin], &table, &page[end..]].concat());
}

#[test]
fn annotated_file_is_current() {
    let present = std::fs::read_to_string(FILE).unwrap();
    let (head, _) = present.split_once("\n\n").unwrap();
    let blocks: String = KEYS.iter().map(block).collect();
    check(FILE, &present, format!("{head}\n{blocks}"));
}

/// With `UPDATE_DOCS`, writes the file instead.
fn check(path: &str, present: &str, expected: String) {
    match std::env::var_os("UPDATE_DOCS") {
        Some(_) => std::fs::write(path, expected).unwrap(),
        None => assert!(present == expected, "{path} is not current: run make settings"),
    }
}

fn row(key: &Key) -> String {
    let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    format!("| `{}` | {} | {} | {} |\n", key.variable(), key.meaning, code(&key.default), code(&key.example))
}

/// The comment and the commented line of a setting: with its default or, if it has none, its example.
fn block(key: &Key) -> String {
    let is_derived = key.default.contains('{');
    let value = if key.default.is_empty() || is_derived { &key.example } else { &key.default };
    let is_text = value.parse::<u32>().is_err() && value.parse::<bool>().is_err();
    let value = if is_text { format!("\"{value}\"") } else { value.to_owned() };
    let derived = is_derived.then(|| format!("Default: {}", key.default));
    let comment = [format!("{}.", key.meaning)].into_iter();
    let comment = comment.chain(key.details.iter().map(|line| (*line).to_owned())).chain(derived);
    let comment: String = comment.map(|line| format!("# {line}\n")).collect();
    format!("\n{comment}# {} = {value}\n", key.name)
}
