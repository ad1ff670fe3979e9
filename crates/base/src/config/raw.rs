//! Every setting, as text. A setting is one field; its documentation is the help, the table in the documents and the comment in `Leptos.toml`.
//! The first paragraph says in one sentence what the setting is. Lines at the end may begin with `Example:` (without it, the default is the
//! example) and `Default:` (for a default that depends on another setting).

use confique::Config;

use super::setting::Setting;

/// The keys are the names of the fields; the environment variables are `DOCKET_` and these names in upper case.
#[derive(Clone, Config)]
pub(super) struct RawConfig {
    /// Listen address
    #[config(default = "127.0.0.1:3000")]
    pub(super) addr: Setting,

    /// Address in the browser; https turns on Secure cookies
    ///
    /// Default: http://{addr}
    /// Example: https://docket.example.com
    pub(super) public_url: Option<Setting>,

    /// Required: base address of the platform's admin API; https, or http on this machine
    ///
    /// Example: https://api.example.com
    pub(super) upstream_url: Option<Setting>,

    /// Admin key; this or api_key_file is required
    ///
    /// A file is better: api_key_file.
    ///
    /// Example: mint_…
    pub(super) api_key: Option<Setting>,

    /// File with the admin key; read again when it changes
    ///
    /// Example: /run/secrets/docket-key
    pub(super) api_key_file: Option<Setting>,

    /// PEM file of certificate authorities to trust besides the system's
    ///
    /// Example: /etc/ssl/company-ca.pem
    pub(super) ca_file: Option<Setting>,

    /// Required: projects, as id=Name,id=Name; the first one opens first
    ///
    /// Example: docs=Docs,api=API reference
    pub(super) projects: Option<Setting>,

    /// Where each project's pages are published, as id=https://…; pages in analytics lead there
    ///
    /// Example: docs=https://docs.example.com
    pub(super) published_urls: Option<Setting>,

    /// Projects whose changes the platform publishes directly, without pull requests: ids, separated by commas
    ///
    /// A completed job of such a project needs no attention although it has no pull request.
    ///
    /// Example: docs,api
    pub(super) direct_projects: Option<Setting>,

    /// Database: sqlite://PATH (with %20 decoded, as in every URL), or postgres://… for PostgreSQL 14 or later
    ///
    /// A file is created if it does not exist.
    ///
    /// Example: postgres://docket@db.example.com/docket?sslmode=verify-full
    #[config(default = "sqlite://docket.db")]
    pub(super) database_url: Setting,

    /// File with the password of PostgreSQL
    ///
    /// Example: /run/secrets/docket-database
    pub(super) database_password_file: Option<Setting>,

    /// Seconds to wait for PostgreSQL at the start
    #[config(default = 30)]
    pub(super) database_wait_seconds: Setting,

    /// Whether a SQLite file is upgraded even if no copy of it can be made before, for lack of room: true or false
    ///
    /// Example: true
    #[config(default = false)]
    pub(super) upgrade_without_copy: Setting,

    /// Folder for backups of a SQLite file; without it none are made
    ///
    /// Example: /var/backups/docket
    pub(super) backup_dir: Option<Setting>,

    /// How often a backup is made: a number of minutes, hours or days
    ///
    /// Example: 6h
    #[config(default = "1d")]
    pub(super) backup_every: Setting,

    /// Number of stored backups
    ///
    /// Example: 30
    #[config(default = 7)]
    pub(super) backup_keep: Setting,

    /// Seconds for which requests are still served after SIGTERM, while /readyz returns 503; at most 300
    ///
    /// In this time, a load balancer finds out and turns to another server.
    ///
    /// Example: 5
    #[config(default = 0)]
    pub(super) shutdown_delay_seconds: Setting,

    /// Creates user admin if there is no user yet; without it, the log has a one-time link
    ///
    /// Example: a long sentence
    pub(super) admin_password: Option<Setting>,

    /// Minutes without use after which a session ends; at most 480
    ///
    /// Example: 30
    #[config(default = 480)]
    pub(super) session_idle_minutes: Setting,

    /// Days after which a session ends in any case; at most 30
    #[config(default = 7)]
    pub(super) session_days: Setting,

    /// Proxies whose X-Forwarded-For is trusted: addresses and networks
    ///
    /// Without them, X-Forwarded-For is ignored.
    ///
    /// Example: 127.0.0.1,10.0.0.0/8
    pub(super) trusted_proxies: Option<Setting>,

    /// Whether people with a password must set up a second factor first: true or false
    ///
    /// Example: true
    #[config(default = false)]
    pub(super) require_second_factor: Setting,

    /// Whether browsers use https for subdomains of the public address too: true or false
    ///
    /// Example: true
    #[config(default = false)]
    pub(super) hsts_subdomains: Setting,

    /// Open connections in all
    #[config(default = 4096)]
    pub(super) connections: Setting,

    /// Open connections of one address; trusted proxies have no limit of their own
    #[config(default = 512)]
    pub(super) connections_per_address: Setting,

    /// Job starts per project per hour, and as many follow-ups
    #[config(default = 100)]
    pub(super) agent_per_hour: Setting,

    /// Whether the platform counts job starts and follow-ups together: shared or separate
    ///
    /// Docket tells administrators when the platform seems to have one limit for both.
    ///
    /// Example: shared
    #[config(default = "separate")]
    pub(super) agent_limit: Setting,

    /// Analytics requests per hour, all projects together
    #[config(default = 100)]
    pub(super) analytics_per_hour: Setting,

    /// How many of those the background history leaves to people
    #[config(default = 30)]
    pub(super) analytics_reserve: Setting,

    /// Analytics requests that one person may cause per hour
    #[config(default = 20)]
    pub(super) analytics_per_person: Setting,

    /// Prompts that one person may have in the queue
    #[config(default = 500)]
    pub(super) queued_per_person: Setting,

    /// Days of daily history to keep up to date
    #[config(default = 90)]
    pub(super) history_days: Setting,

    /// Days before those to fetch once, with what the budget leaves, to compare with; 0 fetches none
    ///
    /// Default: {history_days}
    /// Example: 90
    pub(super) history_before: Option<Setting>,

    /// Shortest time between two polls of one job, in seconds
    #[config(default = 3)]
    pub(super) poll_seconds: Setting,

    /// Longest prompt, in characters; at most 100000
    #[config(default = 32768)]
    pub(super) prompt_max: Setting,

    /// Deadline for one exchange with the platform, retries included, in seconds; at most 100
    #[config(default = 30)]
    pub(super) upstream_timeout_seconds: Setting,

    /// Whether webhooks may use private networks, and plain http to this machine: true or false
    ///
    /// An administrator of Docket may have no rights in its network.
    ///
    /// Example: true
    #[config(default = false)]
    pub(super) webhook_private: Setting,

    /// Web address of GitHub, or of a GitHub Enterprise server
    ///
    /// Pull requests have a state with a token, or with an App: its id and its private key. Both are read-only.
    ///
    /// Example: https://github.example.com
    #[config(default = "https://github.com")]
    pub(super) github_url: Setting,

    /// File with a read-only token of GitHub, for the state of pull requests; read again when it changes
    ///
    /// Example: /run/secrets/docket-github
    pub(super) github_token_file: Option<Setting>,

    /// Id of a GitHub App, in place of a token
    ///
    /// Example: 123456
    pub(super) github_app_id: Option<Setting>,

    /// File with the private key of that App
    ///
    /// Example: /run/secrets/docket-github.pem
    pub(super) github_app_key_file: Option<Setting>,

    /// Web address of GitLab
    ///
    /// Example: https://gitlab.example.com
    #[config(default = "https://gitlab.com")]
    pub(super) gitlab_url: Setting,

    /// File with a read-only token of GitLab, for the state of merge requests; read again when it changes
    ///
    /// Example: /run/secrets/docket-gitlab
    pub(super) gitlab_token_file: Option<Setting>,

    /// Days after which an open pull request that waits is stale; at most 365
    #[config(default = 3)]
    pub(super) review_stale_days: Setting,

    /// OpenID Connect provider for single sign-on
    ///
    /// Its client id, its secret and the roles are required with it. Register the redirect URI /login/sso/callback of the public address
    /// at the provider. People in none of the groups are refused.
    ///
    /// Example: https://id.example.com
    pub(super) oidc_issuer: Option<Setting>,

    /// Docket's id at the provider
    ///
    /// Example: docket
    pub(super) oidc_client_id: Option<Setting>,

    /// Docket's secret at the provider; this or oidc_client_secret_file
    ///
    /// Example: …
    pub(super) oidc_client_secret: Option<Setting>,

    /// File with that secret
    ///
    /// Example: /run/secrets/docket-oidc
    pub(super) oidc_client_secret_file: Option<Setting>,

    /// Role of each group of the provider, as group=role, a group with commas in double quotes; required with a provider
    ///
    /// Example: writers=operator,leads=admin
    pub(super) oidc_roles: Option<Setting>,

    /// Projects of each group, as group=project; * is every project; without it people see no project
    ///
    /// Example: writers=docs,leads=*
    pub(super) oidc_projects: Option<Setting>,

    /// Claim with a person's groups, or the path to it, with dots
    #[config(default = "groups")]
    pub(super) oidc_groups_claim: Setting,

    /// Whether to accept e-mail addresses that the provider does not say to have verified: true or false
    ///
    /// For a directory whose addresses only administrators set, such as Microsoft Entra.
    ///
    /// Example: false
    #[config(default = false)]
    pub(super) oidc_trust_email: Setting,

    /// Scopes to request besides openid
    ///
    /// Example: email profile groups
    #[config(default = "email profile")]
    pub(super) oidc_scopes: Setting,

    /// Name of the provider on the sign-in page
    ///
    /// Example: Example Account
    #[config(default = "single sign-on")]
    pub(super) oidc_name: Setting,

    /// Header in which a trusted proxy sends the username
    ///
    /// The proxy must be one of trusted_proxies. Everybody needs an account first.
    ///
    /// Example: x-forwarded-user
    pub(super) trusted_header: Option<Setting>,

    /// Header in which it sends the groups; without it people need accounts
    ///
    /// With it, accounts are created at the first request, and the role is set from the groups.
    ///
    /// Example: x-forwarded-groups
    pub(super) trusted_groups_header: Option<Setting>,

    /// Role of each of those groups, as group=role
    ///
    /// Example: writers=operator,leads=admin
    pub(super) trusted_roles: Option<Setting>,

    /// Projects of each of those groups, as oidc_projects
    ///
    /// Example: writers=docs,leads=*
    pub(super) trusted_projects: Option<Setting>,

    /// Secret that the proxy sends in the header docket-proxy-secret; required with trusted_header
    ///
    /// A file is better: trusted_secret_file.
    ///
    /// Example: …
    pub(super) trusted_secret: Option<Setting>,

    /// File with that secret
    ///
    /// Example: /run/secrets/docket-proxy
    pub(super) trusted_secret_file: Option<Setting>,

    /// Days after their last change until finished jobs are removed, unless they need attention; 0 removes none
    ///
    /// Example: 400
    #[config(default = 0)]
    pub(super) jobs_days: Setting,

    /// Days of stored daily history, with its notes; at least history_days; 0 removes none
    ///
    /// Example: 400
    #[config(default = 0)]
    pub(super) history_keep_days: Setting,

    /// Days until records of the audit log are removed; 0 removes none
    #[config(default = 400)]
    pub(super) audit_days: Setting,

    /// Listener for /metrics only, without a token: a port of this machine, or HOST:PORT
    ///
    /// Example: 9464
    pub(super) metrics_addr: Option<Setting>,

    /// File with the bearer token for /metrics at the listen address
    ///
    /// Example: /run/secrets/docket-metrics
    pub(super) metrics_token_file: Option<Setting>,

    /// Whether requests to the platform carry the id of their trace, in the header traceparent: true or false
    ///
    /// Traces themselves are switched on by OTEL_EXPORTER_OTLP_ENDPOINT.
    ///
    /// Example: true
    #[config(default = false)]
    pub(super) trace_upstream: Setting,

    /// Log filter, in the syntax of tracing
    ///
    /// Example: info,docket=debug
    #[config(default = "info")]
    pub(super) log: Setting,

    /// text or json
    ///
    /// Example: json
    #[config(default = "text")]
    pub(super) log_format: Setting,
}
