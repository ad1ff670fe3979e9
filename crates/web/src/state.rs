//! The application state: everything that requests may need, created once at startup. Cheap to clone, because each
//! layer around a request clones it.

mod services;

use std::ops::Deref;
use std::sync::Arc;

use axum::extract::FromRef;
use leptos::config::{Env, LeptosOptions};
use tokio_util::sync::CancellationToken;

use self::services::{
    AuthServices, BaseServices, UpstreamServices, code_host_connections, history, jobs, webhook_sender,
};
use crate::auth::client_ip::UnknownProxy;
use crate::request::flash::FlashStore;
use crate::telemetry::figures::LatestFigures;
use base::clock::Clock;
use base::config::{CodeHostsConfig, PublicUrl, UpstreamConfig, WebhookConfig};
use base::instruments::Instruments;
use base::query_permits::QueryPermits;
use base::settings::{LiveSettings, Settings};
use base::tasks::Tasks;
use base::work::Docket;
use clients::upstream::Upstream;
use clients::upstream::governor::Governor;
use clients::upstream::page_views::PageViewsCache;
use model::day::Day;
use model::user::Project;
use service::analytics::Analytics;
use service::analytics::agreement::Agreements;
use service::analytics::annotations::Annotations;
use service::analytics::report::Reports;
use service::audit::page::AuditLog;
use service::auth::arrivals::Arrivals;
use service::auth::attempts::Attempts;
use service::auth::current_password::CurrentPassword;
use service::auth::passkeys::Passkeys;
use service::auth::password::Passwords;
use service::auth::presence::Presence;
use service::auth::refusal_record::RefusalRecord;
use service::auth::second_factor::SecondFactors;
use service::auth::single_sign_on::SingleSignOn;
use service::clock_check::ClockCheck;
use service::heartbeat::Heartbeat;
use service::history::History;
use service::jobs::{Jobs, Timing};
use service::people::People;
use service::people::account::OwnAccount;
use service::people::api_tokens::ApiTokens;
use service::pull_requests::CodeHosts;
use service::retention::Retention;
use service::saved_views::SavedViews;
use service::webhooks::Webhooks;
use store::Store;

#[derive(Clone)]
pub struct AppState(Arc<Shared>);

/// The content that all clones of a state share.
pub struct Shared {
    /// The settings that may change while the server runs.
    pub settings: LiveSettings,
    pub upstream: Upstream,
    pub public_url: PublicUrl,
    pub store: Store,
    pub clock: Clock,
    pub clock_check: ClockCheck,
    pub governor: Governor,
    pub jobs: Jobs,
    pub heartbeat: Heartbeat,
    pub page_views: PageViewsCache,
    pub history: History,
    pub analytics: Analytics,
    pub annotations: Annotations,
    pub reports: Reports,
    pub agreements: Agreements,
    pub saved_views: SavedViews,
    pub audit_log: AuditLog,
    pub people: People,
    pub own_account: OwnAccount,
    pub api_tokens: ApiTokens,
    pub webhooks: Webhooks,
    pub code_hosts: CodeHosts,
    pub flash: FlashStore,
    pub attempts: Attempts,
    pub refusals: RefusalRecord,
    pub passwords: Passwords,
    pub query_permits: QueryPermits,
    pub tasks: Tasks,
    pub retention: Retention,
    pub presence: Presence,
    pub arrivals: Arrivals,
    pub unknown_proxy: UnknownProxy,
    pub current_password: CurrentPassword,
    pub second_factors: SecondFactors,
    pub passkeys: Passkeys,
    /// `None`: people sign in with passwords.
    pub single_sign_on: Option<SingleSignOn>,
    pub instruments: Instruments,
    pub figures: LatestFigures,
    /// Cancelled when the process receives a stop signal. Requests are still served, but none waits.
    pub leaving: CancellationToken,
    leptos: LeptosOptions,
}

/// The configuration of the application state.
pub struct AppStateConfig<'a> {
    pub settings: Settings,
    pub public_url: PublicUrl,
    pub upstream: &'a UpstreamConfig,
    pub webhooks: WebhookConfig,
    pub code_hosts: &'a CodeHostsConfig,
    /// The folder, without slashes around it, from which pages load their assets. Its name changes with the content.
    pub package_dir: String,
}

impl AppState {
    /// `docket`: for the background tasks of the services. Handlers cannot reach it.
    pub fn new(config: AppStateConfig, store: Store, clock: Clock, docket: &Docket) -> anyhow::Result<Self> {
        let AppStateConfig {
            settings,
            public_url,
            upstream: upstream_config,
            webhooks,
            code_hosts,
            package_dir,
        } = config;
        let (access, retention) = (settings.access.clone(), settings.retention);
        let provider = settings.single_sign_on.clone();
        let base = BaseServices {
            settings: LiveSettings::new(settings, clock.now()),
            instruments: Instruments::default(),
            tasks: Tasks::new(clock.clone()),
            leaving: CancellationToken::new(),
            store,
            work: docket.task("services", clock.clone()),
            clock,
        };
        let authorities = &upstream_config.certificate_authorities;
        let UpstreamServices { upstream, governor } = UpstreamServices::new(&base, upstream_config)?;
        let auth = AuthServices::new(&base, provider.as_deref(), authorities, &public_url)?;
        let history = history(&base, &upstream, &governor);
        let timing = Timing {
            poll_interval: upstream_config.poll_interval,
            exchange: upstream_config.timeout,
            session: access.session_lifetime,
        };
        let jobs = jobs(&base, &upstream, &governor, timing);
        let code_hosts = code_host_connections(&base, code_hosts, authorities)?;
        let webhooks = webhook_sender(&base, webhooks, authorities, &public_url);
        let BaseServices { settings, store, clock, tasks, instruments, work, leaving } = base;
        let waits = store.waits();
        let analytics = Analytics::new(store.clone());
        let page_views = PageViewsCache::new(upstream.clone(), governor.clone(), clock.clone());
        let projects = settings.projects();
        let clock_check = ClockCheck::new(store.clone(), clock.clone(), tasks.failures().clone());
        Ok(Self(Arc::new(Shared {
            annotations: Annotations::new(store.clone()),
            reports: Reports::new(analytics.clone(), history.clone(), page_views.clone(), clock.clone()),
            agreements: Agreements::new(analytics.clone(), history.clone(), page_views.clone()),
            saved_views: SavedViews::new(store.clone(), clock.clone()),
            audit_log: AuditLog::new(store.clone(), projects.clone()),
            people: People::new(store.clone(), clock.clone(), public_url.clone(), projects),
            own_account: OwnAccount::new(
                store.clone(),
                clock.clone(),
                auth.attempts.clone(),
                auth.passwords.clone(),
                auth.current_password.clone(),
                auth.second_factors.clone(),
                auth.passkeys.clone(),
            ),
            api_tokens: ApiTokens::new(store.clone(), clock.clone(), auth.current_password.clone()),
            history,
            analytics,
            heartbeat: Heartbeat::new(
                store.clone(),
                clock.clone(),
                clock_check.clone(),
                jobs.clone(),
                tasks.clone(),
                work.part("heartbeat"),
            ),
            jobs,
            webhooks,
            code_hosts,
            current_password: auth.current_password,
            second_factors: auth.second_factors,
            passkeys: auth.passkeys,
            single_sign_on: auth.single_sign_on,
            figures: LatestFigures::default(),
            leaving,
            page_views,
            upstream,
            public_url,
            governor,
            flash: FlashStore::new(store.clone(), clock.clone()),
            attempts: auth.attempts,
            refusals: auth.refusals,
            passwords: auth.passwords,
            query_permits: QueryPermits::new(waits.turn),
            tasks,
            retention: Retention::new(
                store.clone(),
                clock_check.clone(),
                retention,
                instruments.clone(),
                work.part("retention"),
            ),
            instruments,
            presence: Presence::new(store.clone(), clock.clone()),
            arrivals: Arrivals::new(access.session_idle),
            unknown_proxy: UnknownProxy::default(),
            settings,
            store,
            clock,
            clock_check,
            leptos: leptos_options(package_dir),
        })))
    }

    /// The current settings.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.current()
    }

    /// The configured projects; never empty.
    pub fn projects(&self) -> Arc<[Project]> {
        self.settings().projects.clone()
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

fn leptos_options(package_dir: String) -> LeptosOptions {
    LeptosOptions::builder()
        .output_name("docket")
        .site_pkg_dir(package_dir)
        .env(if std::env::var_os("LEPTOS_WATCH").is_some() { Env::DEV } else { Env::PROD })
        .build()
}
