//! Raw configuration values: the file, overridden by the environment. Knows every key, but no types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// A configuration key.
pub struct Key {
    /// Its name in the file; the environment variable is `DOCKET_` and this name in upper case.
    pub name: &'static str,
    pub meaning: &'static str,
    pub default: &'static str,
    pub example: &'static str,
}

const fn key(name: &'static str, default: &'static str, example: &'static str, meaning: &'static str) -> Key {
    Key { name, meaning, default, example }
}

/// Every key, in the order of the help.
pub const KEYS: &[Key] = &[
    key("addr", "127.0.0.1:3000", "127.0.0.1:3000", "Listen address"),
    key(
        "public_url",
        "http://{addr}",
        "https://docket.example.com",
        "Address in the browser; https turns on Secure cookies",
    ),
    key(
        "upstream_url",
        "",
        "https://api.example.com",
        "Required: base address of the platform's admin API; https, or http on this machine",
    ),
    key("api_key", "", "mint_…", "Admin key; this or api_key_file is required"),
    key("api_key_file", "", "/run/secrets/docket-key", "File with the admin key; read again when it changes"),
    key(
        "ca_file",
        "",
        "/etc/ssl/company-ca.pem",
        "PEM file of certificate authorities to trust besides the system's",
    ),
    key(
        "projects",
        "",
        "docs=Docs,api=API reference",
        "Required: projects, as id=Name,id=Name; the first one opens first",
    ),
    key(
        "published_urls",
        "",
        "docs=https://docs.example.com",
        "Where each project's pages are published, as id=https://…; pages in analytics lead there",
    ),
    key(
        "database_url",
        "sqlite://docket.db",
        "postgres://docket@db.example.com/docket?sslmode=verify-full",
        "Database: sqlite://PATH (with %20 decoded, as in every URL), or postgres://… for PostgreSQL 14 or later",
    ),
    key("database_password_file", "", "/run/secrets/docket-database", "File with the password of PostgreSQL"),
    key("database_wait_seconds", "30", "30", "Seconds to wait for PostgreSQL at the start"),
    key(
        "upgrade_without_copy",
        "false",
        "true",
        "Whether a SQLite file is upgraded even if no copy of it can be made before, for lack of room: true or false",
    ),
    key(
        "backup_dir",
        "",
        "/var/backups/docket",
        "Folder for backups of a SQLite file; without it none are made",
    ),
    key("backup_every", "1d", "6h", "How often a backup is made: a number of minutes, hours or days"),
    key("backup_keep", "7", "30", "Number of stored backups"),
    key(
        "shutdown_delay_seconds",
        "0",
        "5",
        "Seconds for which requests are still served after SIGTERM, while /readyz returns 503; at most 300",
    ),
    key(
        "admin_password",
        "",
        "a long sentence",
        "Creates user admin if there is no user yet; without it, the log has a one-time link",
    ),
    key("session_idle_minutes", "480", "30", "Minutes without use after which a session ends; at most 480"),
    key("session_days", "7", "7", "Days after which a session ends in any case; at most 30"),
    key(
        "trusted_proxies",
        "",
        "127.0.0.1,10.0.0.0/8",
        "Proxies whose X-Forwarded-For is trusted: addresses and networks",
    ),
    key(
        "require_second_factor",
        "false",
        "true",
        "Whether people with a password must set up a second factor first: true or false",
    ),
    key(
        "hsts_subdomains",
        "false",
        "true",
        "Whether browsers use https for subdomains of the public address too: true or false",
    ),
    key("connections", "4096", "4096", "Open connections in all"),
    key(
        "connections_per_address",
        "512",
        "512",
        "Open connections of one address; trusted proxies have no limit of their own",
    ),
    key("agent_per_hour", "100", "100", "Job starts per project per hour, and as many follow-ups"),
    key("analytics_per_hour", "100", "100", "Analytics requests per hour, all projects together"),
    key("analytics_reserve", "30", "30", "How many of those the background history leaves to people"),
    key("analytics_per_person", "20", "20", "Analytics requests that one person may cause per hour"),
    key("queued_per_person", "500", "500", "Prompts that one person may have in the queue"),
    key("history_days", "90", "90", "Days of daily history to keep up to date"),
    key(
        "history_before",
        "{history_days}",
        "90",
        "Days before those to fetch once, with what the budget leaves, to compare with; 0 fetches none",
    ),
    key("poll_seconds", "3", "3", "Shortest time between two polls of one job, in seconds"),
    key("prompt_max", "32768", "32768", "Longest prompt, in characters; at most 100000"),
    key(
        "upstream_timeout_seconds",
        "30",
        "30",
        "Deadline for one exchange with the platform, retries included, in seconds; at most 100",
    ),
    key(
        "webhook_private",
        "false",
        "true",
        "Whether webhooks may use private networks, and plain http to this machine: true or false",
    ),
    key(
        "github_url",
        "https://github.com",
        "https://github.example.com",
        "Web address of GitHub, or of a GitHub Enterprise server",
    ),
    key(
        "github_token_file",
        "",
        "/run/secrets/docket-github",
        "File with a read-only token of GitHub, for the state of pull requests; read again when it changes",
    ),
    key("github_app_id", "", "123456", "Id of a GitHub App, in place of a token"),
    key("github_app_key_file", "", "/run/secrets/docket-github.pem", "File with the private key of that App"),
    key("gitlab_url", "https://gitlab.com", "https://gitlab.example.com", "Web address of GitLab"),
    key(
        "gitlab_token_file",
        "",
        "/run/secrets/docket-gitlab",
        "File with a read-only token of GitLab, for the state of merge requests; read again when it changes",
    ),
    key(
        "review_stale_days",
        "3",
        "3",
        "Days after which an open pull request that waits is stale; at most 365",
    ),
    key("oidc_issuer", "", "https://id.example.com", "OpenID Connect provider for single sign-on"),
    key("oidc_client_id", "", "docket", "Docket's id at the provider"),
    key("oidc_client_secret", "", "…", "Docket's secret at the provider; this or oidc_client_secret_file"),
    key("oidc_client_secret_file", "", "/run/secrets/docket-oidc", "File with that secret"),
    key(
        "oidc_roles",
        "",
        "writers=operator,leads=admin",
        "Role of each group of the provider, as group=role; required with a provider",
    ),
    key(
        "oidc_projects",
        "",
        "writers=docs,leads=*",
        "Projects of each group, as group=project; * is every project; without it people see no project",
    ),
    key("oidc_groups_claim", "groups", "groups", "Claim with a person's groups"),
    key("oidc_scopes", "email profile", "email profile groups", "Scopes to request besides openid"),
    key("oidc_name", "single sign-on", "Example Account", "Name of the provider on the sign-in page"),
    key("trusted_header", "", "x-forwarded-user", "Header in which a trusted proxy sends the username"),
    key(
        "trusted_groups_header",
        "",
        "x-forwarded-groups",
        "Header in which it sends the groups; without it people need accounts",
    ),
    key("trusted_roles", "", "writers=operator,leads=admin", "Role of each of those groups, as group=role"),
    key("trusted_projects", "", "writers=docs,leads=*", "Projects of each of those groups, as oidc_projects"),
    key(
        "trusted_secret",
        "",
        "…",
        "Secret that the proxy sends in the header docket-proxy-secret; required with trusted_header",
    ),
    key("trusted_secret_file", "", "/run/secrets/docket-proxy", "File with that secret"),
    key(
        "jobs_days",
        "0",
        "400",
        "Days after their last change until finished jobs are removed, unless they need attention; 0 removes none",
    ),
    key(
        "history_keep_days",
        "0",
        "400",
        "Days of stored daily history, with its notes; at least history_days; 0 removes none",
    ),
    key("audit_days", "400", "400", "Days until records of the audit log are removed; 0 removes none"),
    key(
        "metrics_addr",
        "",
        "9464",
        "Listener for /metrics only, without a token: a port of this machine, or HOST:PORT",
    ),
    key(
        "metrics_token_file",
        "",
        "/run/secrets/docket-metrics",
        "File with the bearer token for /metrics at the listen address",
    ),
    key(
        "trace_upstream",
        "false",
        "true",
        "Whether requests to the platform carry the id of their trace, in the header traceparent: true or false",
    ),
    key("log", "info", "info,docket=debug", "Log filter, in the syntax of tracing"),
    key("log_format", "text", "json", "text or json"),
];

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

const PREFIX: &str = "DOCKET_";

/// An invalid configuration, as one sentence that names the key.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// The values as text, each with its source.
#[derive(Clone)]
pub struct Source {
    values: BTreeMap<&'static str, Value>,
}

#[derive(Clone)]
struct Value {
    text: String,
    location: String,
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
        let mut values = BTreeMap::new();
        let table: toml::Table = file.parse().map_err(|error: toml::de::Error| {
            ConfigError(format!("{file_name} is not valid TOML: {}.", error.message()))
        })?;
        for (name, value) in table {
            let key = known(&name)
                .ok_or_else(|| unknown(&format!("key `{name}` in {file_name}"), &name, str::to_owned))?;
            let text = match value {
                toml::Value::String(text) => text,
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Boolean(switch) => switch.to_string(),
                _ => {
                    return Err(ConfigError(format!(
                        "`{name}` in {file_name} must be a text, a whole number, true or false, for example {name} = \"{}\".",
                        key.example
                    )));
                }
            };
            values.insert(key.name, Value::new(key, text, format!("`{name}` in {file_name}")));
        }
        for (variable, text) in environment {
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
        Ok(Self { values })
    }

    /// Every key whose value, or whose file's content, differs in `other`.
    pub(super) fn differing(&self, other: &Self) -> Vec<&'static Key> {
        let digest = |source: &Self, key: &Key| source.values.get(key.name).and_then(|value| value.digest);
        let differs =
            |key: &&'static Key| self.text(key) != other.text(key) || digest(self, key) != digest(other, key);
        KEYS.iter().filter(differs).collect()
    }

    /// Replaces the values of `keys` with those of `other`.
    pub(super) fn with(mut self, keys: &[&'static Key], other: &Self) -> Self {
        for key in keys {
            match other.values.get(key.name) {
                Some(value) => self.values.insert(key.name, value.clone()),
                None => self.values.remove(key.name),
            };
        }
        self
    }

    /// The text of `key`, or its default.
    pub(super) fn text(&self, key: &Key) -> &str {
        self.values.get(key.name).map_or(key.default, |value| &value.text)
    }

    /// The files that values name, each with its key.
    pub fn named_files(&self) -> impl Iterator<Item = (&'static Key, &Path)> {
        let named = KEYS.iter().filter(|key| key.names_file());
        named.filter_map(move |key| Some((key, Path::new(self.values.get(key.name)?.text.trim()))))
    }

    /// The parsed value of `name`, or `None` if it is not set.
    pub fn optional<T, E: std::fmt::Display>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, ConfigError> {
        let key = known(name).ok_or_else(|| ConfigError(format!("no key is called {name}")))?;
        let Some(value) = self.values.get(name) else { return Ok(None) };
        parse(value.text.trim()).map(Some).map_err(|error| {
            ConfigError(format!("{} is wrong: {error}. An example: {}", value.location, key.example))
        })
    }

    /// The parsed value of `name`; a missing value is an error that shows how to set it.
    pub fn required<T, E: std::fmt::Display>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        self.optional(name, parse)?.ok_or_else(|| missing(name))
    }

    /// The parsed value of `name`, or its default.
    pub fn or_default<T, E: std::fmt::Display>(
        &self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        match self.optional(name, &parse)? {
            Some(value) => Ok(value),
            None => {
                let default = known(name).map_or("", |key| key.default);
                parse(default)
                    .map_err(|error| ConfigError(format!("the default of {name} is wrong: {error}")))
            }
        }
    }
}

impl Key {
    pub fn variable(&self) -> String {
        variable_of(self.name)
    }

    pub(super) fn names_file(&self) -> bool {
        self.name.ends_with("_file")
    }
}

impl Value {
    fn new(key: &Key, text: String, location: String) -> Self {
        let content = key.names_file().then(|| std::fs::read(text.trim()).ok()).flatten();
        Self { text, location, digest: content.map(|content| Sha256::digest(content).into()) }
    }
}

/// `Leptos.toml` beside the binary if it exists, otherwise in the working directory.
fn default_file() -> PathBuf {
    const NAME: &str = "Leptos.toml";
    let beside = std::env::current_exe().ok().and_then(|binary| Some(binary.parent()?.join(NAME)));
    beside.filter(|file| file.exists()).unwrap_or_else(|| PathBuf::from(NAME))
}

/// The error for a missing required value.
pub(super) fn missing(name: &str) -> ConfigError {
    let example = known(name).map_or("", |key| key.example);
    ConfigError(format!(
        "{} is required. Set it in the environment, or `{name}` in Leptos.toml. An example: {}={example}",
        variable_of(name),
        variable_of(name),
    ))
}

/// A whole number of at least `least`.
pub(super) fn whole_number(least: u32) -> impl Fn(&str) -> Result<u32, String> {
    move |text| {
        text.parse()
            .ok()
            .filter(|number| *number >= least)
            .ok_or_else(|| format!("“{text}” is not a whole number of at least {least}"))
    }
}

/// A whole number from `least` to `most`.
pub(super) fn number_between(least: u32, most: u32) -> impl Fn(&str) -> Result<u32, String> {
    move |text| {
        text.parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("“{text}” is not a whole number from {least} to {most}"))
    }
}

/// `true` or `false`.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("“{text}” is neither true nor false"))
}

/// Parses a secret, which must not appear in errors.
pub(super) fn secret(text: &str) -> Result<SecretString, &'static str> {
    if text.is_empty() { Err("it is empty") } else { Ok(SecretString::from(text)) }
}

/// Reads a secret from a file, without surrounding white space.
pub(super) fn secret_in_file(path: &str) -> Result<SecretString, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
    secret(text.trim()).map_err(str::to_owned)
}

fn known(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.to_ascii_uppercase())
}

/// Kubernetes sets such variables in every pod of a namespace with a service called `docket`.
fn is_service_link(suffix: &str) -> bool {
    suffix == "PORT" || suffix.starts_with("PORT_") || suffix.starts_with("SERVICE_")
}

fn unknown(what: &str, name: &str, show: impl Fn(&str) -> String) -> ConfigError {
    let near = KEYS.iter().min_by_key(|key| edits(key.name, name)).filter(|key| edits(key.name, name) <= 3);
    let hint = match near {
        Some(key) => format!("Did you mean {}? An example: {}", show(key.name), key.example),
        None => {
            format!("The keys are: {}.", KEYS.iter().map(|key| show(key.name)).collect::<Vec<_>>().join(", "))
        }
    };
    ConfigError(format!("Unknown {what}. {hint}"))
}

/// The Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
