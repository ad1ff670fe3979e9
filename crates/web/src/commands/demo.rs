//! `docket demo`: Docket against the built-in emulator, over HTTP like any upstream, with sample
//! projects, people and jobs. Needs no configuration, no key and no network.

mod samples;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use secrecy::{ExposeSecret, SecretString};
use strum::VariantArray;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::serve::{Served, Upkeep, begin, run_with_history, stop_on};
use crate::commands::print_line;
use crate::http::Site;
use crate::process::listen;
use crate::process::stop_signals::StopSignals;
use crate::state::{AppState, AppStateConfig};
use base::clock::Clock;
use base::config::{
    ApiKey, AuditConfig, BREAKS_AFTER, Budget, CodeHostsConfig, GitHubAccess, GitHubConfig, PublicUrl,
    RetentionConfig, UpstreamConfig, WebhookConfig, parse_projects,
};
use base::settings::Settings;
use base::work::{Docket, Work};
use docket_emulator::{CodeHostConfig, DEFAULT_PAGES, DEFAULT_SEED, Emulator, EmulatorConfig};
use model::api_token::{Scope, Scopes, TokenDays};
use model::budget::AgentLimit;
use model::id::ProjectId;
use model::time::Timestamp;
use model::user::{GivenProjects, Role};
use service::auth::api_token::TokenText;
use service::auth::{first_admin, password};
use store::accounts::api_tokens::NewApiToken;
use store::{Store, url_of};

const PROJECTS: &str = "acme-docs=Acme Docs,acme-api=Acme API";

/// The base URL of the sample projects' published pages.
const SITE: &str = "https://docs.example.com";

/// Enough to fetch the history of both projects within a minute or two: 90 days of three calls each.
const PER_HOUR: u32 = 2_000;

/// The name of the sample token.
const TOKEN_NAME: &str = "Demonstration";

/// How often the temporary folder is removed, if that fails, and the pause before each further attempt.
const REMOVALS: usize = 20;
const REMOVAL_PAUSE: Duration = Duration::from_millis(50);

pub struct Options {
    pub addr: SocketAddr,
    /// The folder of the database; `None`: a temporary one.
    pub data: Option<PathBuf>,
    /// The time that does not pass; `None`: that of this machine.
    pub at: Option<Timestamp>,
    /// The administrator's password; `None`: a new one each time.
    pub password: Option<SecretString>,
}

/// A demonstration that can accept requests.
struct Ready {
    state: AppState,
    served: Served,
    work: Work,
    /// Stops the emulator.
    emulator_stop: CancellationToken,
    password: SecretString,
    token: TokenText,
    project: ProjectId,
}

/// Runs until one of `signals`, which may come while it starts.
pub async fn demo(
    options: Options,
    site: Site,
    docket: Docket,
    mut signals: StopSignals,
) -> anyhow::Result<()> {
    let temporary = tempfile::Builder::new().prefix("docket-demo-").tempdir()?;
    let ended = match signals.unless_stopped(prepare(options, temporary.path(), site, docket)).await {
        Ok(Some(ready)) => run(ready, signals).await,
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    remove(temporary).await;
    ended
}

async fn run(ready: Ready, signals: StopSignals) -> anyhow::Result<()> {
    let Ready { state, served, work, emulator_stop, password, token, project } = ready;
    let (stop, public_url) = (stop_on(signals), state.public_url.clone());
    // The server does not wait for the reader of the output.
    thread::spawn(move || print_ready(&public_url, &password, &token, &project));
    let upkeep = Upkeep { audit: AuditConfig { days: 0 }, backups: None, work };
    let ended = run_with_history(state, upkeep, served, stop).await;
    emulator_stop.cancel();
    ended
}

/// Removes the folder. A thread of SQLite may still write into it if the start was stopped.
async fn remove(folder: TempDir) {
    for _ in 0..REMOVALS {
        match std::fs::remove_dir_all(folder.path()) {
            Err(error) if error.kind() != ErrorKind::NotFound => tokio::time::sleep(REMOVAL_PAUSE).await,
            _ => return,
        }
    }
    let path = folder.path().display().to_string();
    if let Err(error) = folder.close() {
        tracing::warn!(%error, "the temporary folder {path} could not be removed");
    }
}

async fn prepare(options: Options, temporary: &Path, site: Site, docket: Docket) -> anyhow::Result<Ready> {
    let listener = listen::bind(options.addr).await?;
    let folder = options.data.unwrap_or_else(|| temporary.to_owned());
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let clock = options.at.map_or_else(Clock::system, Clock::frozen);
    let work = docket.task("demonstration", clock.clone());
    let store = Store::open(&url_of(&folder.join("demo.db"))?).await?;

    let upstream = bind_after(options.addr).await?;
    let web_address = format!("http://{}", upstream.local_addr()?);
    let code_host_token = uuid::Uuid::new_v4().simple().to_string();
    let code_hosts = CodeHostsConfig {
        github: Some(GitHubConfig {
            url: web_address.parse()?,
            access: GitHubAccess::Token {
                token: ApiKey::parse(&code_host_token).map_err(anyhow::Error::msg)?,
                file: None,
            },
        }),
        gitlab: None,
    };
    let mut projects = parse_projects(PROJECTS).map_err(anyhow::Error::msg)?;
    projects.iter_mut().for_each(|project| project.site = Some(SITE.to_owned()));
    let key = uuid::Uuid::new_v4().simple().to_string();
    let config = EmulatorConfig {
        key: format!("mint_{key}"),
        projects: projects.iter().map(|project| project.id.as_str()).collect::<Vec<_>>().join(","),
        pages: DEFAULT_PAGES,
        per_hour: PER_HOUR as usize,
        seed: DEFAULT_SEED,
        code_host: Some(CodeHostConfig { address: web_address.clone(), token: code_host_token }),
    };
    let api_key = ApiKey::parse(&config.key).map_err(anyhow::Error::msg)?;
    let same_clock = clock.clone();
    let emulator = Emulator::new(config, docket_emulator::Clock::new(move || same_clock.now().as_millis()));
    let sample_project = projects[0].id.clone();
    samples::fill(&store, &work, &projects, &web_address).await.context("writing the sample jobs")?;
    samples::seed_emulator(&emulator, &store, &clock, &projects).await?;

    let password = options.password.unwrap_or_else(readable_password);
    set_password(&store, &work, &password).await?;
    let token = sample_token(&store, &work).await.context("creating the sample token")?;
    let emulator_stop = CancellationToken::new();
    super::emulator::in_background(&emulator, upstream, emulator_stop.clone());
    let upstream = UpstreamConfig {
        breaks_after: BREAKS_AFTER,
        pass_trace: false,
        base_url: format!("{web_address}/").parse()?,
        api_key,
        api_key_file: None,
        certificate_authorities: Vec::new(),
        timeout: Duration::from_secs(30),
        poll_interval: Duration::from_secs(3),
        prompt_max: 32_768,
    };
    let budget = Budget {
        agent_per_hour: 100,
        agent_limit: AgentLimit::Separate,
        analytics_per_hour: PER_HOUR,
        analytics_reserve: 30,
        history_days: 90,
        history_before: 90,
    };
    let settings = Settings {
        projects: projects.into(),
        budget,
        retention: RetentionConfig::default(),
        access: Arc::default(),
        prompt_max: upstream.prompt_max,
        single_sign_on: None,
        trusted_header: None,
        review_stale_after: Duration::from_secs(3 * 24 * 3_600),
        metrics_token: None,
    };
    let public_url = PublicUrl::with_name(listener.local_addr()?);
    let state_config = AppStateConfig {
        settings,
        public_url,
        upstream: &upstream,
        // Demonstrations may have receivers on this machine.
        webhooks: WebhookConfig { private: true },
        code_hosts: &code_hosts,
        package_dir: (site.package_dir)(),
    };
    let state = AppState::new(state_config, store, clock, &docket)?;
    begin(&state).await?;
    let served = Served { site, listener };
    Ok(Ready { state, served, work, emulator_stop, password, token, project: sample_project })
}

/// Binds a port of this machine for the emulator: the next one after that of the demonstration if possible, so that the links of an earlier run stay valid.
async fn bind_after(addr: SocketAddr) -> anyhow::Result<TcpListener> {
    let next = addr.port().checked_add(1).filter(|_| addr.port() != 0).unwrap_or_default();
    let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
    match listen::bind(local(next)).await {
        Ok(listener) => Ok(listener),
        Err(_) => listen::bind(local(0)).await,
    }
}

/// Sets this password for `admin`, so that the printed password always works.
async fn set_password(store: &Store, work: &Work, password: &SecretString) -> anyhow::Result<()> {
    let hash = password::hash(password.clone()).await?;
    if !store.add_user(work.into(), first_admin::NAME, Role::Admin, &hash).await? {
        store.set_password_hash(work.into(), first_admin::NAME, &hash).await?;
    }
    Ok(())
}

/// Creates an API token of the administrator, and revokes those of earlier runs, which were printed too.
async fn sample_token(store: &Store, work: &Work) -> anyhow::Result<TokenText> {
    let now = work.now();
    let owner = store.user_by_name(first_admin::NAME).await?.context("the administrator")?;
    for earlier in store.api_tokens(Some(&owner.id), u32::MAX, now).await? {
        if earlier.name == TOKEN_NAME {
            store.revoke_api_token(work.into(), &earlier.id, None).await?;
        }
    }
    let token = TokenText::random();
    let scopes = Scopes::of(Scope::VARIANTS.iter().copied()).context("scopes")?;
    let new = NewApiToken {
        owner: &owner,
        name: TOKEN_NAME,
        hash: &token.hash(),
        last_four: token.last_four(),
        scopes: &scopes,
        projects: &GivenProjects::All,
        expires_at: TokenDays::default().after(now),
    };
    store.add_api_token(work.into(), &new).await?;
    Ok(token)
}

/// Four groups of four characters that are not easily confused.
fn readable_password() -> SecretString {
    const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
    let letters =
        || (0..4).map(|_| char::from(LETTERS[rand::random_range(0..LETTERS.len())])).collect::<String>();
    SecretString::from([letters(), letters(), letters(), letters()].join("-"))
}

fn print_ready(address: &PublicUrl, password: &SecretString, token: &TokenText, project: &ProjectId) {
    let origin = address.origin();
    print_line(&format!(
        "\nDocket's demonstration is ready: sample projects, people and jobs, and a year of page views.\n\n  \
         Address   {origin}\n  Username  {}\n  Password  {}\n\n\
         Start a job from a script:\n\n  \
         curl {origin}/api/v1/projects/{project}/jobs -H 'Authorization: Bearer {}' \\\n    \
         -H 'Idempotency-Key: first' --json '{{\"prompt\": \"Fix typos in the quickstart\"}}'\n\n\
         Stop it with Ctrl+C.\n",
        first_admin::NAME,
        password.expose_secret(),
        token.expose()
    ));
}
