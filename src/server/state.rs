//! The application state: what every request may need, created once at startup. Cheap to clone: each layer around a request
//! clones it.

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use leptos::config::{Env, LeptosOptions};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::model::day::Day;
use crate::model::user::Project;
use crate::server::analytics::Analytics;
use crate::server::assets;
use crate::server::auth::address::UnknownProxy;
use crate::server::auth::arrivals::Arrivals;
use crate::server::auth::attempts::Attempts;
use crate::server::auth::current_password::CurrentPassword;
use crate::server::auth::passkeys::Passkeys;
use crate::server::auth::password::Passwords;
use crate::server::auth::presence::Presence;
use crate::server::auth::second_factor::SecondFactors;
use crate::server::auth::single_sign_on::SingleSignOn;
use crate::server::clock::Clock;
use crate::server::config::{
    AccessConfig, Budget, IdentityConfig, PublicUrl, RetentionConfig, TrustedHeaderConfig, UpstreamConfig,
    WebhookConfig,
};
use crate::server::figures::LatestFigures;
use crate::server::flash::FlashStore;
use crate::server::heartbeat::Heartbeat;
use crate::server::history::History;
use crate::server::instruments::Instruments;
use crate::server::jobs::{Jobs, PromptLimits, Timing};
use crate::server::retention::Retention;
use crate::server::store::Store;
use crate::server::tasks::Tasks;
use crate::server::turns::Turns;
use crate::server::upstream::Upstream;
use crate::server::upstream::governor::Governor;
use crate::server::upstream::health::Health;
use crate::server::upstream::page_views::PageViewsCache;
use crate::server::webhooks::Webhooks;

#[derive(Clone)]
pub struct AppState(Arc<Shared>);

/// What a state is a handle on.
pub struct Shared {
    /// Never empty.
    pub projects: Arc<[Project]>,
    pub public_url: PublicUrl,
    pub store: Store,
    pub clock: Clock,
    pub governor: Governor,
    pub jobs: Jobs,
    pub heartbeat: Heartbeat,
    pub page_views: PageViewsCache,
    pub history: History,
    pub analytics: Analytics,
    /// The maximum length of a prompt, in characters.
    pub prompt_max: u32,
    pub webhooks: Webhooks,
    pub flash: FlashStore,
    pub attempts: Attempts,
    pub passwords: Passwords,
    pub turns: Turns,
    pub tasks: Tasks,
    pub retention: Retention,
    pub presence: Presence,
    pub arrivals: Arrivals,
    pub unknown_proxy: UnknownProxy,
    pub access: Arc<AccessConfig>,
    pub current_password: CurrentPassword,
    pub second_factors: SecondFactors,
    pub passkeys: Passkeys,
    /// `None`: people sign in with passwords.
    pub single_sign_on: Option<SingleSignOn>,
    pub trusted_header: Option<Arc<TrustedHeaderConfig>>,
    pub instruments: Instruments,
    /// `None`: `/metrics` is not on the main listener.
    pub metrics_token: Option<Arc<SecretString>>,
    pub figures: LatestFigures,
    /// Cancelled when the process is told to stop.
    pub leaving: CancellationToken,
    leptos: LeptosOptions,
}

/// The configuration of the application state.
pub struct AppStateConfig<'a> {
    pub projects: Vec<Project>,
    pub public_url: PublicUrl,
    pub upstream: &'a UpstreamConfig,
    pub budget: Budget,
    pub retention: RetentionConfig,
    pub webhooks: WebhookConfig,
    pub access: AccessConfig,
    pub identity: IdentityConfig,
    /// The token with which `/metrics` is read on the main listener.
    pub metrics_token: Option<SecretString>,
}

impl AppState {
    pub fn new(config: AppStateConfig, store: Store, clock: Clock) -> anyhow::Result<Self> {
        let AppStateConfig {
            projects,
            public_url,
            upstream,
            budget,
            retention,
            webhooks,
            access,
            identity,
            metrics_token,
        } = config;
        let instruments = Instruments::default();
        let health = Health::new(store.clone(), clock.clone(), upstream.breaks_after);
        let share = access.analytics_per_person;
        let governor = Governor::new(store.clone(), clock.clone(), budget, share, health);
        let client = Upstream::new(upstream, governor.clone(), clock.clone(), instruments.clone())?;
        let timing = Timing {
            poll_interval: upstream.poll_interval,
            exchange: upstream.timeout,
            session: access.session_lifetime,
        };
        let projects: Arc<[Project]> = projects.into();
        let tasks = Tasks::new(clock.clone());
        let history = History::new(
            store.clone(),
            client.clone(),
            governor.clone(),
            clock.clone(),
            projects.clone(),
            tasks.clone(),
            (budget, retention.history_days),
        );
        let prompt_max = upstream.prompt_max;
        let limits = PromptLimits { prompt_max, queue_max: access.queued_per_person };
        let jobs = Jobs::new(
            store.clone(),
            client.clone(),
            governor.clone(),
            clock.clone(),
            tasks.clone(),
            instruments.clone(),
            (timing, limits),
        );
        let attempts = Attempts::new(store.clone(), clock.clone());
        let passwords = Passwords::default();
        let current_password =
            CurrentPassword::new(store.clone(), clock.clone(), attempts.clone(), passwords.clone());
        let second_factors = SecondFactors::new(
            store.clone(),
            clock.clone(),
            attempts.clone(),
            current_password.clone(),
            &public_url,
        );
        let passkeys = Passkeys::new(
            store.clone(),
            clock.clone(),
            attempts.clone(),
            second_factors.clone(),
            current_password.clone(),
            &public_url,
        );
        let authorities = &upstream.certificate_authorities;
        let single_sign_on = identity
            .single_sign_on
            .map(|config| SingleSignOn::new(config, authorities, &public_url, store.clone(), clock.clone()));
        Ok(Self(Arc::new(Shared {
            projects,
            history,
            analytics: Analytics::new(store.clone()),
            heartbeat: Heartbeat::new(store.clone(), clock.clone(), jobs.clone(), tasks.clone()),
            jobs,
            webhooks: Webhooks::new(
                webhooks,
                authorities,
                public_url.clone(),
                store.clone(),
                clock.clone(),
                tasks.clone(),
                instruments.clone(),
            ),
            current_password,
            second_factors,
            passkeys,
            single_sign_on: single_sign_on.transpose()?,
            trusted_header: identity.trusted_header.map(Arc::new),
            instruments,
            metrics_token: metrics_token.map(Arc::new),
            figures: LatestFigures::default(),
            leaving: CancellationToken::new(),
            page_views: PageViewsCache::new(client, governor.clone(), clock.clone()),
            public_url,
            governor,
            prompt_max,
            flash: FlashStore::new(store.clone(), clock.clone()),
            attempts,
            passwords,
            turns: Turns::default(),
            tasks,
            retention: Retention::new(store.clone(), clock.clone(), retention),
            presence: Presence::new(store.clone(), clock.clone()),
            arrivals: Arrivals::new(access.session_idle),
            unknown_proxy: UnknownProxy::default(),
            access: Arc::new(access),
            store,
            clock,
            leptos: leptos_options(),
        })))
    }

    /// The current UTC day.
    pub fn today(&self) -> Day {
        Day::of(self.clock.now())
    }

    pub fn leptos(&self) -> &LeptosOptions {
        &self.leptos
    }
}

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl FromRef<AppState> for LeptosOptions {
    fn from_ref(state: &AppState) -> Self {
        state.leptos.clone()
    }
}

/// Pages load their assets from a path that changes with the content.
fn leptos_options() -> LeptosOptions {
    LeptosOptions::builder()
        .output_name("docket")
        .site_pkg_dir(assets::package_dir())
        .env(if std::env::var_os("LEPTOS_WATCH").is_some() { Env::DEV } else { Env::PROD })
        .build()
}
