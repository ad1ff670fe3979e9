//! `docket check`: tests everything Docket depends on. Each failed check explains what to do, and each check that waits
//! has a deadline. It changes nothing, except that it opens and migrates the database, and counts one analytics request
//! per project.

mod clock;
mod files;
mod report;

use std::path::{Path, PathBuf};

use futures::future::join_all;

use self::report::{Finding, Report};
use base::clock::Clock;
use base::config::{Config, Database, PublicUrl, Source};
use base::instruments::Instruments;
use base::settings::{LiveSettings, Settings};
use base::tasks::Tasks;
use base::work::Docket;
use clients::upstream::governor::{BudgetSettings, Governor, Scope};
use clients::upstream::health::Health;
use clients::upstream::page_views::PageViewsQuery;
use clients::upstream::{Upstream, UpstreamError};
use clients::{provider, webhook};
use model::day::{Day, DayRange};
use model::paging::PageLimit;
use model::user::Project;
use service::pull_requests::{CodeHosts, PullRequestSettings};
use store::{Store, file_of};

/// Runs every check; fails unless all succeed. With `json`, standard output is one document.
pub async fn check(config: Config, source: &Source, json: bool, docket: &Docket) -> anyhow::Result<()> {
    let mut report = Report::new(json);
    report.add("configuration", Finding::Good("every value is understood".to_owned()));
    report.add("proxies", proxies(&config));
    let Database { url, patience, copy } = &config.database;
    let store = Store::open_within(url, *patience, *copy).await;
    report.add("database", database(&config, store.as_ref().err().map(ToString::to_string)));
    // The opened file, or else the one that could not be opened.
    let open = store.as_ref().ok().and_then(Store::file);
    let file = open.map(Path::to_owned).or_else(|| file_of(&config.database.url));
    report.add("permissions", files::permissions(&secrets(source), file.as_deref()));
    if let Some(file) = &file {
        report.add("disk space", files::room(file));
    }
    if let Some(backups) = &config.backups {
        report.add("backups", files::backups(backups, file.as_deref()));
    }
    let authorities = &config.upstream.certificate_authorities;
    if !authorities.is_empty() {
        let number = authorities.len();
        report.add("certificates", Finding::Good(format!("{number} of DOCKET_CA_FILE are trusted as well")));
    }
    if let Some(provider) = &config.identity.single_sign_on {
        let reached = provider::reach(provider, authorities).await;
        let reached = reached.map(|()| format!("{} answers with its metadata", provider.issuer));
        report.add("single sign-on", reached.into());
    }
    if let Ok(store) = store {
        with_store(&mut report, &config, &store, docket).await?;
        store.close().await;
    }
    report.end()
}

async fn with_store(
    report: &mut Report,
    config: &Config,
    store: &Store,
    docket: &Docket,
) -> anyhow::Result<()> {
    let clock = Clock::system();
    if let Ok(Some(time)) = store.time().await {
        let ahead = (clock.now().as_millis() - time.as_millis()) / 1_000;
        report.add("database clock", clock::compared(ahead, "the database's"));
    }
    report.add("webhooks", receivers(config, store).await);
    let settings = LiveSettings::new(Settings::of(config), clock.now());
    let work = docket.command("docket check", clock.clone());
    let code_hosts = CodeHosts::new(
        &config.code_hosts,
        &config.upstream.certificate_authorities,
        store.clone(),
        clock.clone(),
        Tasks::new(clock.clone()),
        settings.part(PullRequestSettings::of),
        work.clone(),
    )?;
    for (host, readable) in code_hosts.examine().await? {
        report.add(format!("code host {host}"), readable.into());
    }
    let health = Health::new(store.clone(), clock.clone(), config.upstream.breaks_after);
    let settings = settings.part(BudgetSettings::of);
    let governor = Governor::new(store.clone(), clock.clone(), settings, health, work);
    let upstream = Upstream::new(&config.upstream, governor.clone(), clock.clone(), Instruments::default())?;
    for project in &config.projects {
        let outcome = read_one(&upstream, &governor, project, Day::of(clock.now())).await;
        report.add(format!("project {}", project.id), outcome.into());
    }
    if let Some(ahead) = upstream.clock_ahead_seconds() {
        report.add("clock", clock::compared(ahead, "the platform's"));
    }
    Ok(())
}

/// The files with secrets, each with the variable that names it.
fn secrets(source: &Source) -> Vec<(String, PathBuf)> {
    let secret = source.named_files().filter(|(key, _)| key.name != "ca_file");
    secret.map(|(key, file)| (key.variable(), file.to_owned())).collect()
}

fn database(config: &Config, error: Option<String>) -> Finding {
    match error {
        None => Finding::Good(format!("{} opens and is up to date", config.database.redacted_url())),
        Some(error) => Finding::Bad(format!(
            "{}. Check DOCKET_DATABASE_URL, and that a file's folder exists and is writable.",
            error.trim_end_matches('.')
        )),
    }
}

/// Docket itself serves http only, so an https URL needs a proxy in front. It may still be right to trust none.
fn proxies(config: &Config) -> Finding {
    let trusted: Vec<String> = config.access.trusted_proxies.iter().map(ToString::to_string).collect();
    let is_https = config.http.public_url.as_ref().is_some_and(PublicUrl::is_https);
    match (trusted.is_empty(), is_https) {
        (false, _) => Finding::Good(format!("X-Forwarded-For is believed from {}", trusted.join(", "))),
        (true, false) => Finding::Good("none is trusted; each client has its own address".to_owned()),
        (true, true) => Finding::Warning(
            "DOCKET_PUBLIC_URL is https, so there is a proxy, but DOCKET_TRUSTED_PROXIES is empty: all people share the \
             proxy's address, and a few wrong passwords keep everybody out. Set it to the proxy's address, for example 127.0.0.1."
                .to_owned(),
        ),
    }
}

/// Connects to the receiver of each enabled webhook; nothing is delivered.
async fn receivers(config: &Config, store: &Store) -> Finding {
    let all = match store.webhooks().await {
        Ok(webhooks) => webhooks,
        Err(error) => return Finding::Bad(format!("they cannot be read: {error}")),
    };
    let enabled = all.iter().filter(|webhook| webhook.enabled);
    let reached =
        join_all(enabled.map(|webhook| webhook::reach(&webhook.address, webhook.kind, config.webhooks)))
            .await;
    let failed: Vec<&str> = reached.iter().filter_map(|one| one.as_ref().err()).map(String::as_str).collect();
    match (reached.len(), failed.is_empty()) {
        (0, _) => Finding::Good("there are none".to_owned()),
        (number, true) => Finding::Good(format!("{number} can be connected to")),
        (_, false) => Finding::Bad(failed.join("; ")),
    }
}

async fn read_one(
    upstream: &Upstream,
    governor: &Governor,
    project: &Project,
    today: Day,
) -> Result<String, String> {
    let permit = governor.acquire(&Scope::Analytics).await.map_err(|error| error.message)?;
    let query = PageViewsQuery {
        project: project.id.clone(),
        range: Some(DayRange::ending(today, 1)),
        limit: PageLimit::DEFAULT,
        offset: 0,
    };
    match upstream.page_views(permit, &query).await {
        Ok(views) => Ok(format!("the upstream answers; {} page views today", views.totals.total)),
        Err(error) => Err(format!("{error}. {}", advice(&error))),
    }
}

fn advice(error: &UpstreamError) -> &'static str {
    match error {
        UpstreamError::NotConnected(_) => "Check DOCKET_UPSTREAM_URL, the network and any proxy.",
        UpstreamError::Refused { status: 401, .. } => {
            "The key is wrong or has expired: check DOCKET_API_KEY."
        }
        UpstreamError::Refused { status: 403, .. } => {
            "The key's scope or its list of addresses does not allow it."
        }
        UpstreamError::Refused { status: 404, .. } => "Check the project's id in DOCKET_PROJECTS.",
        UpstreamError::LimitReached { .. } => "The hour's limit is used up: try again later.",
        UpstreamError::NoCredits { .. } => "Add AI credits on the platform.",
        UpstreamError::Refused { .. } => "Check DOCKET_UPSTREAM_URL and DOCKET_PROJECTS.",
        UpstreamError::TimedOut => "It may be busy: try again, or raise DOCKET_UPSTREAM_TIMEOUT_SECONDS.",
        UpstreamError::Status { status: 500.., .. } => {
            "It may be down: try again later, and check DOCKET_UPSTREAM_URL."
        }
        UpstreamError::Status { .. } | UpstreamError::BrokenOff | UpstreamError::BadAnswer(_) => {
            "Check that DOCKET_UPSTREAM_URL is the admin API's base address."
        }
    }
}
