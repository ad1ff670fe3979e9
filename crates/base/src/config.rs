//! Configuration: small typed structs, one concern per file, read once at start from a file and the environment.
//! Nothing is opened here: an invalid value is reported before any port or database is opened.

mod access;
mod api_key;
mod audit;
mod backups;
mod budget;
mod changes;
mod code_hosts;
mod database;
mod database_url;
mod error;
mod http;
mod identity;
mod key;
mod log;
mod metrics;
mod projects;
mod raw;
mod retention;
mod setting;
mod source;
mod traces;
mod upstream;
mod webhooks;

use std::time::Duration;

use secrecy::SecretString;

pub use access::AccessConfig;
pub use api_key::ApiKey;
pub use audit::AuditConfig;
pub use backups::BackupConfig;
pub use budget::Budget;
pub use changes::Changes;
pub use code_hosts::{CodeHostsConfig, GitHubAccess, GitHubConfig, GitLabConfig, private_key};
pub use database::{Database, UpgradeCopy, is_file, redacted_url};
pub use error::ConfigError;
pub use http::{Http, PublicUrl, configured_address, listen_address};
pub use identity::{
    GroupProjects, GroupRoles, IdentityConfig, SECRET_HEADER, SingleSignOnConfig, TrustedGroups,
    TrustedHeaderConfig,
};
pub use key::{KEYS, Key};
pub use log::{Log, LogFormat};
pub use metrics::MetricsConfig;
pub use projects::{configured_projects, parse_projects};
pub use retention::RetentionConfig;
pub use source::Source;
pub use traces::TracesConfig;
pub use upstream::{BREAKS_AFTER, UpstreamConfig};
pub use webhooks::WebhookConfig;

use key::missing;
use model::user::Project;
use setting::OptionalSetting;

/// The configuration of `docket serve`.
pub struct Config {
    pub http: Http,
    pub upstream: UpstreamConfig,
    pub projects: Vec<Project>,
    pub database: Database,
    pub budget: Budget,
    pub webhooks: WebhookConfig,
    pub code_hosts: CodeHostsConfig,
    /// How long an open pull request may wait until it is stale.
    pub review_stale_after: Duration,
    pub audit: AuditConfig,
    pub retention: RetentionConfig,
    /// `None`: no backups are made.
    pub backups: Option<BackupConfig>,
    pub access: AccessConfig,
    pub identity: IdentityConfig,
    pub metrics: MetricsConfig,
    /// `None`: no traces.
    pub traces: Option<TracesConfig>,
    /// Password of the user `admin`, created if there is no user yet.
    pub admin_password: Option<SecretString>,
}

impl Config {
    /// A missing or invalid value is an error that names its key.
    pub fn from_source(source: &Source) -> Result<Self, ConfigError> {
        let access = AccessConfig::from_source(source)?;
        let (http, upstream) = (Http::from_source(source)?, UpstreamConfig::from_source(source)?);
        let projects = projects(source)?;
        let (retention, budget) = RetentionConfig::with_budget(source)?;
        let identity = IdentityConfig::from_source(source, &access.trusted_proxies, &projects)?;
        let database = Database::from_source(source)?;
        Ok(Self {
            http,
            upstream,
            projects,
            backups: BackupConfig::from_source(source, &database)?,
            database,
            budget,
            webhooks: WebhookConfig::from_source(source)?,
            code_hosts: CodeHostsConfig::from_source(source)?,
            review_stale_after: code_hosts::review_stale_after(source)?,
            audit: AuditConfig::from_source(source)?,
            retention,
            access,
            identity,
            metrics: MetricsConfig::from_source(source)?,
            traces: TracesConfig::from_environment(|name| std::env::var(name).ok())?,
            admin_password: configured_admin_password(source)?,
        })
    }
}

fn projects(source: &Source) -> Result<Vec<Project>, ConfigError> {
    let projects = configured_projects(source)?.ok_or_else(|| missing("projects"))?;
    let with_sites = |text: &str| projects::with_sites(projects.clone(), projects::parse_sites(text)?);
    let projects = source.raw.published_urls.parse(with_sites)?.unwrap_or_else(|| projects.clone());
    let with_direct = |text: &str| projects::with_direct(projects.clone(), text);
    Ok(source.raw.direct_projects.parse(with_direct)?.unwrap_or(projects))
}

/// The configured password of the user `admin`, if any.
pub fn configured_admin_password(source: &Source) -> Result<Option<SecretString>, ConfigError> {
    source.raw.admin_password.parse(setting::secret)
}

#[cfg(test)]
mod tests;
