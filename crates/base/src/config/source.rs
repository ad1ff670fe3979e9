//! Reads the settings as text: the file, overridden by the environment. Checks the names, but no values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use confique::{Config, Layer};
use sha2::{Digest, Sha256};

use super::error::ConfigError;
use super::key::{KEYS, Key, PREFIX, known, unknown, variable_of};
use super::raw::RawConfig;

/// Environment variables of command-line options, which the configuration ignores.
const OPTION_VARIABLES: &[&str] = &[
    "DOCKET_CONFIG",
    "DOCKET_DEMO_DATA",
    "DOCKET_EMULATOR_ADDR",
    "DOCKET_EMULATOR_KEY",
    "DOCKET_EMULATOR_PAGES",
    "DOCKET_EMULATOR_SEED",
    "DOCKET_SERVER",
    "DOCKET_TOKEN",
    "DOCKET_TOKEN_FILE",
];

/// The settings as text.
#[derive(Clone)]
pub struct Source {
    /// What the file and the environment set, by the names of the keys.
    values: Values,
    /// The same, with the defaults.
    pub(super) raw: RawConfig,
}

type Values = BTreeMap<&'static str, Value>;

#[derive(Clone)]
struct Value {
    text: String,
    /// Where it is set, for errors.
    place: String,
    /// The digest of the file that the value names, if it can be read.
    digest: Option<[u8; 32]>,
}

impl Source {
    /// Reads `file` (or the [`default_file`], if it exists) and the environment, which takes precedence. An unknown key
    /// is an error that names it.
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigError> {
        let path = &file.map_or_else(default_file, Path::to_path_buf);
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if file.is_none() && error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(ConfigError(format!(
                    "The configuration file {} cannot be read: {error}.",
                    path.display()
                )));
            }
        };
        Self::new(
            &text,
            &path.display().to_string(),
            std::env::vars_os().filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
            }),
        )
    }

    /// Values of the TOML text `file`, overridden by the variables of `environment` that start with `DOCKET_`.
    pub fn new(
        file: &str,
        file_name: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut values = in_file(file, file_name)?;
        values.extend(in_environment(environment)?);
        Self::of(values)
    }

    fn of(values: Values) -> Result<Self, ConfigError> {
        Ok(Self { raw: raw(&values).map_err(|error| ConfigError(error.to_string()))?, values })
    }

    /// Every key whose value, or whose file's content, differs in `other`.
    pub(super) fn differing(&self, other: &Self) -> Vec<&'static Key> {
        let digest = |source: &Self, key: &Key| source.values.get(key.name).and_then(|value| value.digest);
        let differs =
            |key: &&'static Key| self.text(key) != other.text(key) || digest(self, key) != digest(other, key);
        KEYS.iter().filter(differs).collect()
    }

    /// Replaces the values of `keys` with those of `other`.
    pub(super) fn with(self, keys: &[&'static Key], other: &Self) -> Result<Self, ConfigError> {
        let mut values = self.values;
        for key in keys {
            match other.values.get(key.name) {
                Some(value) => values.insert(key.name, value.clone()),
                None => values.remove(key.name),
            };
        }
        Self::of(values)
    }

    /// The text of `key`, or its default.
    pub(super) fn text<'a>(&'a self, key: &'a Key) -> &'a str {
        self.values.get(key.name).map_or(&key.default, |value| &value.text)
    }

    /// The files that values name, each with its key.
    pub fn named_files(&self) -> impl Iterator<Item = (&'static Key, &Path)> {
        let named = KEYS.iter().filter(|key| key.names_file());
        named.filter_map(move |key| Some((key, Path::new(self.values.get(key.name)?.text.trim()))))
    }
}

impl Value {
    fn new(key: &Key, text: String, place: String) -> Self {
        let content = key.names_file().then(|| std::fs::read(text.trim()).ok()).flatten();
        Self { text, place, digest: content.map(|content| Sha256::digest(content).into()) }
    }
}

fn in_file(text: &str, file_name: &str) -> Result<Values, ConfigError> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        ConfigError(format!("{file_name} is not valid TOML: {}.", error.message()))
    })?;
    let value = |(name, value): (String, toml::Value)| {
        let place = format!("`{name}` in {file_name}");
        let key = known(&name).ok_or_else(|| unknown(&format!("key {place}"), &name, str::to_owned))?;
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(switch) => switch.to_string(),
            _ => {
                return Err(ConfigError(format!(
                    "{place} must be a text, a whole number, true or false, for example {name} = \"{}\".",
                    key.example
                )));
            }
        };
        Ok((key.name, Value::new(key, text, place)))
    };
    table.into_iter().map(value).collect()
}

fn in_environment(variables: impl IntoIterator<Item = (String, String)>) -> Result<Values, ConfigError> {
    let mut values = Values::new();
    for (variable, text) in variables {
        let Some(suffix) = variable.strip_prefix(PREFIX) else { continue };
        if OPTION_VARIABLES.contains(&variable.as_str()) || is_service_link(suffix) {
            continue;
        }
        let name = suffix.to_ascii_lowercase();
        let key = known(&name)
            .filter(|key| variable == key.variable())
            .ok_or_else(|| unknown(&format!("environment variable {variable}"), &name, variable_of))?;
        values.insert(key.name, Value::new(key, text, variable));
    }
    Ok(values)
}

/// `values` and, where they have none, the defaults.
fn raw(values: &Values) -> anyhow::Result<RawConfig> {
    let setting = |(name, value): (&&'static str, &Value)| {
        let example = known(name).map_or("", |key| &key.example);
        let parts = [("text", value.text.as_str()), ("place", &value.place), ("example", example)];
        ((*name).to_owned(), toml::Value::from(BTreeMap::from(parts)))
    };
    let table: toml::Table = values.iter().map(setting).collect();
    let set: <RawConfig as Config>::Layer = table.try_into()?;
    Ok(RawConfig::from_layer(set.with_fallback(Layer::default_values()))?)
}

/// `Leptos.toml` beside the binary if it exists, otherwise in the working directory.
fn default_file() -> PathBuf {
    const NAME: &str = "Leptos.toml";
    let beside = std::env::current_exe().ok().and_then(|binary| Some(binary.parent()?.join(NAME)));
    beside.filter(|file| file.exists()).unwrap_or_else(|| PathBuf::from(NAME))
}

/// Kubernetes sets such variables in every pod of a namespace with a service called `docket`.
fn is_service_link(suffix: &str) -> bool {
    suffix == "PORT" || suffix.starts_with("PORT_") || suffix.starts_with("SERVICE_")
}
