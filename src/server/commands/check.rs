//! `docket check`: tests everything Docket depends on. Prints one line per check, with what to do about a failure.

use anyhow::bail;

use crate::model::day::{Day, DayRange};
use crate::model::paging::PageLimit;
use crate::model::user::Project;
use crate::server::clock::Clock;
use crate::server::config::{Config, PublicUrl};
use crate::server::instruments::Instruments;
use crate::server::store::Store;
use crate::server::upstream::governor::{Governor, Scope};
use crate::server::upstream::health::Health;
use crate::server::upstream::page_views::PageViewsQuery;
use crate::server::upstream::{Upstream, UpstreamError};

/// Opens the database and makes one authenticated call per project; fails unless all succeed.
pub async fn check(config: Config) -> anyhow::Result<()> {
    say("configuration", Ok("every value is understood".to_owned()));
    say_proxies(&config);
    let store = match Store::open_within(&config.database.url, config.database.patience).await {
        Ok(store) => store,
        Err(error) => {
            say(
                "database",
                Err(format!(
                    "{}. Check DOCKET_DATABASE_URL, and that a file's folder exists and is writable.",
                    error.to_string().trim_end_matches('.')
                )),
            );
            bail!("a check failed");
        }
    };
    say("database", Ok(format!("{} opens and is up to date", config.database.place())));
    let clock = Clock::system();
    let health = Health::new(store.clone(), clock.clone(), config.upstream.breaks_after);
    let governor = Governor::new(
        store.clone(),
        clock.clone(),
        config.budget,
        config.access.analytics_per_person,
        health,
    );
    let upstream = Upstream::new(&config.upstream, governor.clone(), clock.clone(), Instruments::default())?;
    let mut good = true;
    for project in &config.projects {
        let outcome = read_one(&upstream, &governor, project, Day::of(clock.now())).await;
        good &= outcome.is_ok();
        say(&format!("project {}", project.id), outcome);
    }
    store.close().await;
    if good { Ok(()) } else { bail!("a check failed") }
}

/// Docket itself speaks http only, so that an https address has a proxy in front. It may still be right to trust none.
#[expect(clippy::print_stdout, reason = "it is what the command is asked for")]
fn say_proxies(config: &Config) {
    let trusted: Vec<String> = config.access.trusted_proxies.iter().map(ToString::to_string).collect();
    let is_https = config.http.public_url.as_ref().is_some_and(PublicUrl::is_https);
    match (trusted.is_empty(), is_https) {
        (false, _) => say("proxies", Ok(format!("X-Forwarded-For is believed from {}", trusted.join(", ")))),
        (true, false) => say("proxies", Ok("none is trusted; each client has its own address".to_owned())),
        (true, true) => println!(
            "NOTE    proxies: DOCKET_PUBLIC_URL is https, so there is a proxy, but DOCKET_TRUSTED_PROXIES is empty: all people share the \
             proxy's address, and a few wrong passwords keep everybody out. Set it to the proxy's address, for example 127.0.0.1."
        ),
    }
}

async fn read_one(
    upstream: &Upstream,
    governor: &Governor,
    project: &Project,
    today: Day,
) -> Result<String, String> {
    let permit = governor.acquire(&Scope::Analytics).await.map_err(|error| error.message)?;
    let question = PageViewsQuery {
        project: project.id.clone(),
        range: DayRange::ending(today, 1),
        limit: PageLimit::DEFAULT,
        offset: 0,
    };
    match upstream.page_views(permit, &question).await {
        Ok(answer) => Ok(format!("the upstream answers; {} page views today", answer.totals.total)),
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
        UpstreamError::Refused { .. } => "Check DOCKET_UPSTREAM_URL and DOCKET_PROJECTS.",
        UpstreamError::TimedOut => "It may be busy: try again, or raise DOCKET_UPSTREAM_TIMEOUT_SECONDS.",
        UpstreamError::Status(500..) => "It may be down: try again later, and check DOCKET_UPSTREAM_URL.",
        UpstreamError::Status(_) | UpstreamError::BrokenOff | UpstreamError::BadAnswer(_) => {
            "Check that DOCKET_UPSTREAM_URL is the admin API's base address."
        }
    }
}

#[expect(clippy::print_stdout, reason = "it is what the command is asked for")]
fn say(what: &str, outcome: Result<String, String>) {
    match outcome {
        Ok(good) => println!("ok      {what}: {good}"),
        Err(bad) => println!("FAILED  {what}: {bad}"),
    }
}
