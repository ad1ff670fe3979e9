//! The names of the settings and their documentation, from the metadata of [`RawConfig`].

use std::sync::LazyLock;

use confique::Config;
use confique::meta::{Expr, Field, FieldKind, LeafKind};

use super::error::ConfigError;
use super::raw::RawConfig;

/// The name of a setting, and what its documentation says.
pub struct Key {
    /// Its name in the file; the environment variable is `DOCKET_` and this name in upper case.
    pub name: &'static str,
    /// One sentence.
    pub meaning: String,
    /// Further lines, for the comment in the file.
    pub details: Vec<&'static str>,
    /// Empty: none. Names in braces are other settings.
    pub default: String,
    pub example: String,
}

/// All keys, in the order of the help.
pub static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| RawConfig::META.fields.iter().map(Key::of).collect());

pub(super) const PREFIX: &str = "DOCKET_";

impl Key {
    fn of(field: &'static Field) -> Self {
        let lines: Vec<&str> = field.doc.iter().map(|line| line.trim()).collect();
        let marked = |mark: &str| lines.iter().find_map(|line| line.strip_prefix(mark)).map(str::to_owned);
        let is_text =
            |line: &&&str| !line.is_empty() && !line.starts_with(EXAMPLE) && !line.starts_with(DEFAULT);
        let paragraph = lines.iter().position(|line| line.is_empty()).unwrap_or(lines.len());
        let default = default_of(field).or_else(|| marked(DEFAULT)).unwrap_or_default();
        Self {
            name: field.name,
            meaning: lines[..paragraph].join(" "),
            details: lines[paragraph..].iter().filter(is_text).copied().collect(),
            example: marked(EXAMPLE).unwrap_or_else(|| default.clone()),
            default,
        }
    }

    pub fn variable(&self) -> String {
        variable_of(self.name)
    }

    pub(super) fn names_file(&self) -> bool {
        self.name.ends_with("_file")
    }
}

const EXAMPLE: &str = "Example: ";
const DEFAULT: &str = "Default: ";

fn default_of(field: &Field) -> Option<String> {
    let FieldKind::Leaf { kind: LeafKind::Required { default }, .. } = field.kind else { return None };
    match default? {
        Expr::Str(text) => Some(text.to_owned()),
        Expr::Integer(number) => Some(number.to_string()),
        Expr::Bool(switch) => Some(switch.to_string()),
        _ => None,
    }
}

pub(super) fn known(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

pub(super) fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_ascii_uppercase())
}

/// The error for a missing required value.
pub(super) fn missing(name: &str) -> ConfigError {
    let variable = variable_of(name);
    let example = known(name).map_or("", |key| &key.example);
    ConfigError(format!(
        "{variable} is required. Set it in the environment, or `{name}` in Leptos.toml. An example: {variable}={example}"
    ))
}

/// The error for `what`, which is called `name` and is no key. `show` is how keys are written there.
pub(super) fn unknown(what: &str, name: &str, show: impl Fn(&str) -> String) -> ConfigError {
    let distance = |key: &&Key| strsim::levenshtein(key.name, name);
    let hint = match KEYS.iter().min_by_key(distance).filter(|key| distance(key) <= 3) {
        Some(key) => format!("Did you mean {}? An example: {}", show(key.name), key.example),
        None => {
            format!("The keys are: {}.", KEYS.iter().map(|key| show(key.name)).collect::<Vec<_>>().join(", "))
        }
    };
    ConfigError(format!("Unknown {what}. {hint}"))
}
