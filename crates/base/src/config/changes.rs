//! The difference between the running configuration and a reloaded one: the settings that take effect at once, and
//! those that need a restart.

use super::error::ConfigError;
use super::key::Key;
use super::source::Source;
use super::{Config, Log};

/// The settings that take effect without a restart.
const RELOADED: &[&str] = &[
    "api_key",
    "api_key_file",
    "projects",
    "published_urls",
    "direct_projects",
    "require_second_factor",
    "agent_per_hour",
    "agent_limit",
    "analytics_per_hour",
    "analytics_reserve",
    "analytics_per_person",
    "queued_per_person",
    "history_days",
    "history_before",
    "prompt_max",
    "oidc_client_id",
    "oidc_client_secret",
    "oidc_client_secret_file",
    "oidc_roles",
    "oidc_projects",
    "oidc_groups_claim",
    "oidc_trust_email",
    "oidc_scopes",
    "oidc_name",
    "trusted_header",
    "trusted_groups_header",
    "trusted_roles",
    "trusted_projects",
    "trusted_secret",
    "trusted_secret_file",
    "metrics_token_file",
    "github_url",
    "github_token_file",
    "github_app_id",
    "github_app_key_file",
    "gitlab_url",
    "gitlab_token_file",
    "review_stale_days",
    "log",
];

/// Settings that need a restart, each with the prefix of the settings that depend on it.
const BOUND: &[(&str, &str)] = &[("oidc_issuer", "oidc_"), ("trusted_proxies", "trusted_")];

/// The settings whose values are never shown.
const SECRET: &[&str] = &["api_key", "oidc_client_secret", "trusted_secret"];

/// A valid configuration for a running server.
pub struct Changes {
    pub config: Config,
    pub log: Log,
    /// The configuration values of the server after this change.
    pub source: Source,
    applied: Vec<&'static Key>,
    /// The keys whose new values need a restart.
    pub left: Vec<&'static Key>,
}

impl Changes {
    /// Compares the running configuration with a newly read one.
    ///
    /// # Errors
    /// If the new configuration is invalid, or its reloadable part contradicts the running settings that need a
    /// restart.
    pub fn between(running: &Source, read: Source) -> Result<Self, ConfigError> {
        Config::from_source(&read)?;
        Log::from_source(&read)?;
        let changed = running.differing(&read);
        let is_bound = |key: &Key| {
            BOUND.iter().any(|(to, prefix)| {
                key.name.starts_with(prefix) && changed.iter().any(|other| other.name == *to)
            })
        };
        let (applied, left): (Vec<_>, Vec<_>) =
            changed.iter().copied().partition(|key| RELOADED.contains(&key.name) && !is_bound(key));
        let source = read.with(&left, running)?;
        let fits = |error: ConfigError| match left.is_empty() {
            true => error,
            false => ConfigError(format!(
                "Without {}, which a restart is needed for, the other changes are not valid: {error}",
                names(&left)
            )),
        };
        let config = Config::from_source(&source).map_err(fits)?;
        let log = Log::from_source(&source)?;
        Ok(Self { config, log, source, applied, left })
    }

    /// One sentence for each setting that takes effect, without secrets.
    pub fn sentences(&self, running: &Source) -> Vec<String> {
        let sentence = |key: &&'static Key| {
            let (before, now) = (running.text(key), self.source.text(key));
            match before == now {
                true => format!("the file of {} has another content", key.variable()),
                false if SECRET.contains(&key.name) => format!("{} has another value", key.variable()),
                false => format!("{} is now “{now}”, it was “{before}”", key.variable()),
            }
        };
        self.applied.iter().map(sentence).collect()
    }

    /// The variables of the settings that take effect.
    pub fn applied(&self) -> String {
        names(&self.applied)
    }

    /// Whether the admin key may have changed.
    pub fn has_key(&self) -> bool {
        self.applied.iter().any(|key| key.name.starts_with("api_key"))
    }

    /// Whether a connection to a code host may have changed.
    pub fn has_code_hosts(&self) -> bool {
        self.applied.iter().any(|key| key.name.starts_with("github_") || key.name.starts_with("gitlab_"))
    }

    pub fn has_log(&self) -> bool {
        self.applied.iter().any(|key| key.name == "log")
    }

    pub fn is_empty(&self) -> bool {
        self.applied.is_empty()
    }

    /// The variables of the settings that need a restart.
    pub fn left(&self) -> String {
        names(&self.left)
    }
}

fn names(keys: &[&'static Key]) -> String {
    keys.iter().map(|key| key.variable()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::super::KEYS;
    use super::*;

    const WHOLE: &str = "upstream_url = 'https://api.example.com'\nprojects = 'docs=Docs'\n";

    fn source(more: &str) -> Source {
        Source::new(&format!("{WHOLE}{more}"), "Leptos.toml", []).unwrap()
    }

    #[test]
    fn listed_names_are_keys() {
        let bound = BOUND.iter().map(|(to, _)| to);
        for name in RELOADED.iter().chain(SECRET).chain(bound) {
            assert!(KEYS.iter().any(|key| key.name == *name), "{name}");
        }
    }

    #[test]
    fn reload_applies_some_settings_and_names_the_rest_without_secrets() {
        let running = source("api_key = 'mint_number_one_'\nagent_per_hour = 7");
        let read = source(
            "api_key = 'mint_number_two_'\nagent_per_hour = 9\naddr = '127.0.0.1:4000'\njobs_days = 9",
        );
        let changes = Changes::between(&running, read).unwrap();
        assert_eq!(changes.left(), "DOCKET_ADDR, DOCKET_JOBS_DAYS");
        assert_eq!(changes.applied(), "DOCKET_API_KEY, DOCKET_AGENT_PER_HOUR");
        assert_eq!(
            changes.sentences(&running),
            ["DOCKET_API_KEY has another value", "DOCKET_AGENT_PER_HOUR is now “9”, it was “7”"]
        );
        assert!(changes.has_key());
        assert_eq!(changes.config.budget.agent_per_hour, 9);
        assert_eq!(changes.config.http.addr.port(), 3000, "as it runs");
        let same = "api_key = 'mint_number_two_'\nagent_per_hour = 9\nprompt_max = 32768";
        let again = Changes::between(&changes.source, source(same));
        assert!(again.unwrap().is_empty());
    }

    #[test]
    fn settings_that_depend_on_a_restart_wait_for_it() {
        let running = source("api_key = 'mint_number_one_'");
        let provider = "oidc_issuer = 'https://id.example.com'\noidc_client_id = 'docket'\noidc_client_secret = 's'\noidc_roles = 'a=admin'";
        let changes = Changes::between(
            &running,
            source(&format!("api_key = 'mint_number_one_'\n{provider}\nlog = 'warn'")),
        );
        let changes = changes.unwrap();
        assert_eq!(changes.applied(), "DOCKET_LOG");
        assert!(
            changes.left().contains("DOCKET_OIDC_ISSUER") && changes.left().contains("DOCKET_OIDC_ROLES")
        );
        assert!(changes.config.identity.single_sign_on.is_none());
    }

    #[test]
    fn reload_is_refused_if_it_contradicts_running_settings() {
        let running = source("api_key = 'mint_number_one_'\nhistory_keep_days = 100\nhistory_days = 90");
        let read = source("api_key = 'mint_number_one_'\nhistory_keep_days = 400\nhistory_days = 300");
        let error = Changes::between(&running, read).err().unwrap().0;
        assert!(error.contains("Without DOCKET_HISTORY_KEEP_DAYS"), "{error}");
        let error = Changes::between(&running, source("")).err().unwrap().0;
        assert!(error.contains("DOCKET_API_KEY is required"), "{error}");
    }
}
