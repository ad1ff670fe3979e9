//! [`TestApp`]: a running app with its own database and upstream.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base::clock::Clock;
use base::config::{
    AccessConfig, ApiKey, Budget, CodeHostsConfig, IdentityConfig, PublicUrl, RetentionConfig,
    UpstreamConfig, WebhookConfig, parse_projects,
};
use base::settings::Settings as LiveOnes;
use base::waits::Waits;
use docket::server::http::router::SITE;
use model::budget::AgentLimit;
use model::time::Timestamp;
use model::user::Role;
use secrecy::SecretString;
use service::auth::password;
use store::Store;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use web::commands::serve::{self, Served};
use web::process::listen;
use web::state::{AppState, AppStateConfig};

use super::browser::Browser;
use super::ledger::Ledger;
use super::secrets::{KEY, PASSWORD};
use super::upstream::Upstream;
use super::{leaks, logs, within_deadline};
use crate::databases::TestDatabase;
use crate::helpers::work::{docket, work_at};

/// No test waits until the server closes an unread response.
const LONG_UNREAD: Duration = Duration::from_secs(600);

/// So long that a busy machine does not fail a test.
const LONG_WAITS: Waits = {
    let long = Duration::from_secs(60);
    Waits { connection: long, turn: long, lock: long, ready: long, query: long, unread: LONG_UNREAD }
};

/// All accounts. They share one password.
const PEOPLE: [(&str, Role); 4] =
    [("ada", Role::Admin), ("olga", Role::Operator), ("otto", Role::Operator), ("vera", Role::Viewer)];

/// The settings that tests can change.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) budget: Budget,
    pub(crate) retention: RetentionConfig,
    /// The deadline of one upstream exchange.
    pub(crate) timeout: Duration,
    /// Long, so that the upstream sees polls only in tests about polling.
    pub(crate) poll_interval: Duration,
    /// The longest prompt, in characters.
    pub(crate) prompt_max: u32,
    /// Effectively never, except in tests about it: many tests make the upstream fail repeatedly.
    pub(crate) breaks_after: u32,
    /// An upstream other than the scripted one.
    pub(crate) upstream_url: Option<String>,
    pub(crate) public_url: Option<String>,
    /// In the format of `DOCKET_PROJECTS`.
    pub(crate) projects: String,
    /// The ids of those projects that are published directly.
    pub(crate) direct_projects: Vec<&'static str>,
    /// The URL of the published pages of each project.
    pub(crate) site: Option<String>,
    /// The file from which the key is reloaded when it changes.
    pub(crate) api_key_file: Option<PathBuf>,
    pub(crate) webhooks: WebhookConfig,
    pub(crate) access: AccessConfig,
    pub(crate) identity: IdentityConfig,
    pub(crate) metrics_token: Option<SecretString>,
    pub(crate) code_hosts: CodeHostsConfig,
    pub(crate) review_stale_after: Duration,
    pub(crate) clock: Clock,
    /// Long, except in tests of a wait.
    pub(crate) waits: Waits,
}

impl Default for Settings {
    fn default() -> Self {
        let budget = Budget {
            agent_per_hour: 1_000,
            agent_limit: AgentLimit::Separate,
            analytics_per_hour: 1_000,
            analytics_reserve: 0,
            history_days: 90,
            history_before: 0,
        };
        Self {
            budget,
            retention: RetentionConfig::default(),
            timeout: Duration::from_secs(10),
            poll_interval: Duration::from_secs(3_600),
            prompt_max: 32_768,
            breaks_after: u32::MAX,
            upstream_url: None,
            public_url: None,
            projects: "docs=Docs,api=API reference".to_owned(),
            direct_projects: Vec::new(),
            site: None,
            api_key_file: None,
            // Receivers of tests are on this machine.
            webhooks: WebhookConfig { private: true },
            // Many tests send many requests as one user.
            access: AccessConfig { analytics_per_person: 1_000, ..AccessConfig::default() },
            identity: IdentityConfig::default(),
            metrics_token: None,
            code_hosts: CodeHostsConfig::default(),
            review_stale_after: Duration::from_secs(3 * 24 * 3_600),
            clock: Clock::system(),
            waits: LONG_WAITS,
        }
    }
}

impl Settings {
    /// With the waits of an installation for permits and checks of passwords, for tests in which one runs out. On a busy machine, a
    /// connection to the database may take longer.
    pub(crate) fn with_real_turns(self) -> Self {
        Self { waits: Waits { turn: Waits::default().turn, ..self.waits }, ..self }
    }
}

pub(crate) struct TestApp {
    pub(crate) upstream: Upstream,
    settings: Settings,
    /// Removed when this is dropped.
    _folder: TempDir,
    database: TestDatabase,
    running: Option<Running>,
    /// Whether the last run was killed.
    crashed: bool,
}

/// One run of the app, in its own runtime with one worker, so that it can be killed like a process.
struct Running {
    state: AppState,
    assemble: Assemble,
    address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<anyhow::Result<()>>,
    runtime: Runtime,
}

/// Creates an application state as configured, except for its clock and its poll interval.
type Assemble = Box<dyn Fn(Store, Clock, Duration) -> AppState + Send + Sync>;

impl TestApp {
    pub(crate) async fn start() -> Self {
        Self::with(Settings::default()).await
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let mut app = Self::prepared(settings).await;
        app.begin().await;
        app
    }

    /// Everything except the running app: for tests of its start.
    pub(crate) async fn prepared(settings: Settings) -> Self {
        logs::capture();
        let folder = tempfile::tempdir().unwrap();
        let (template, add_people) = with_people(settings.clock.now());
        let database = TestDatabase::copied(&folder.path().join("docket.db"), &template, add_people).await;
        Self::on(settings, folder, database).await
    }

    /// On a copy of `template`, which `fill` fills once by requests to an app with these settings.
    pub(crate) async fn on_copy(settings: Settings, template: &str, fill: impl AsyncFn(&Self)) -> Self {
        logs::capture();
        let make = async |url: String| {
            let (_, add_people) = with_people(settings.clock.now());
            add_people(url.clone()).await;
            let folder = tempfile::tempdir().unwrap();
            let mut app = Self::on(settings.clone(), folder, TestDatabase::at(url)).await;
            app.begin().await;
            fill(&app).await;
            app.stop().await;
        };
        let folder = tempfile::tempdir().unwrap();
        let database = TestDatabase::copied(&folder.path().join("docket.db"), template, make).await;
        let mut app = Self::on(settings, folder, database).await;
        app.begin().await;
        app
    }

    /// On a file, whatever database is under test: for features of files only.
    pub(crate) async fn in_file() -> Self {
        Self::in_file_with(Settings::default()).await
    }

    pub(crate) async fn in_file_with(settings: Settings) -> Self {
        logs::capture();
        let folder = tempfile::tempdir().unwrap();
        let (template, add_people) = with_people(settings.clock.now());
        let file = folder.path().join("docket.db");
        let database = TestDatabase::copied_file(&file, &template, add_people).await;
        let mut app = Self::on(settings, folder, database).await;
        app.begin().await;
        app
    }

    /// On the empty database at this URL.
    pub(crate) async fn at(url: String) -> Self {
        logs::capture();
        let settings = Settings::default();
        let (_, add_people) = with_people(settings.clock.now());
        add_people(url.clone()).await;
        let mut app = Self::on(settings, tempfile::tempdir().unwrap(), TestDatabase::at(url)).await;
        app.begin().await;
        app
    }

    async fn on(settings: Settings, folder: TempDir, database: TestDatabase) -> Self {
        Self {
            upstream: Upstream::start().await,
            settings,
            _folder: folder,
            database,
            running: None,
            crashed: false,
        }
    }

    /// Starts the app on the existing database.
    pub(crate) async fn begin(&mut self) {
        assert!(self.running.is_none());
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (settings, database) = (self.settings.clone(), self.database_url().to_owned());
        let base_url = settings.upstream_url.clone().unwrap_or_else(|| self.upstream.url());
        let stop = CancellationToken::new();
        let until = stop.clone();
        let started = runtime.spawn(async move {
            let store = Store::open_with(&database, settings.waits).await.unwrap();
            let listener = listen::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
            let address = listener.local_addr().unwrap();
            let public_url = settings.public_url.map(|url| PublicUrl::parse(&url).unwrap());
            let mut projects = parse_projects(&settings.projects).unwrap();
            for project in &mut projects {
                project.is_direct = settings.direct_projects.contains(&project.id.as_str());
            }
            projects.iter_mut().for_each(|project| project.site.clone_from(&settings.site));
            let public_url = public_url.unwrap_or_else(|| PublicUrl::of(address));
            let (clock, poll_interval) = (settings.clock.clone(), settings.poll_interval);
            let assemble: Assemble = Box::new(move |store, clock, poll_interval| {
                let upstream = UpstreamConfig {
                    base_url: base_url.parse().unwrap(),
                    api_key: ApiKey::parse(KEY).unwrap(),
                    api_key_file: settings.api_key_file.clone(),
                    certificate_authorities: Vec::new(),
                    timeout: settings.timeout,
                    poll_interval,
                    prompt_max: settings.prompt_max,
                    breaks_after: settings.breaks_after,
                    pass_trace: false,
                };
                let state_config = AppStateConfig {
                    settings: LiveOnes {
                        projects: projects.clone().into(),
                        budget: settings.budget,
                        retention: settings.retention,
                        access: settings.access.clone().into(),
                        prompt_max: settings.prompt_max,
                        single_sign_on: settings.identity.single_sign_on.clone().map(Arc::new),
                        trusted_header: settings.identity.trusted_header.clone().map(Arc::new),
                        review_stale_after: settings.review_stale_after,
                        metrics_token: settings.metrics_token.clone().map(Arc::new),
                    },
                    public_url: public_url.clone(),
                    upstream: &upstream,
                    webhooks: settings.webhooks,
                    code_hosts: &settings.code_hosts,
                    package_dir: (SITE.package_dir)(),
                };
                AppState::new(state_config, store, clock, docket()).unwrap()
            });
            let state = assemble(store, clock, poll_interval);
            serve::begin(&state).await.unwrap();
            let server = tokio::spawn(serve::run(state.clone(), Served { site: SITE, listener }, until));
            (state, assemble, address, server)
        });
        let (state, assemble, address, server) = within_deadline("the start", started).await.unwrap();
        self.running = Some(Running { state, assemble, address, stop, server, runtime });
        // A response shows that the start is complete.
        assert_eq!(self.anonymous().get("/healthz").await.status, 200);
        if std::mem::take(&mut self.crashed) {
            let ledger = self.ledger();
            ledger.grace_is_over().await;
            let abandoned = "SELECT COUNT(*) FROM messages WHERE state = 'sending' AND sender NOT IN (SELECT id FROM instances)";
            super::until("what was being sent is unknown", async || {
                (ledger.count(abandoned).await == 0).then_some(())
            })
            .await;
        }
    }

    /// Stops the app as a signal does.
    pub(crate) async fn stop(&mut self) {
        let Running { stop, server, runtime, state, .. } = self.running.take().unwrap();
        drop(state);
        stop.cancel();
        within_deadline("the stop", server).await.unwrap().unwrap();
        runtime.shutdown_background();
    }

    /// Starts the stopped app on another database.
    pub(crate) async fn move_to(&mut self, database: TestDatabase) {
        self.database = database;
        self.begin().await;
    }

    /// Kills the app as a power failure does: all its work is abandoned.
    pub(crate) fn crash(&mut self) {
        self.running.take().unwrap().runtime.shutdown_background();
        self.crashed = true;
    }

    /// Restarts the app on the same database, with other settings.
    pub(crate) async fn restart_with(&mut self, change: impl FnOnce(&mut Settings)) {
        self.stop().await;
        change(&mut self.settings);
        self.begin().await;
    }

    pub(crate) async fn restart(&mut self) {
        self.restart_with(|_| ()).await;
    }

    /// Sets a user's password, as the command line does.
    pub(crate) async fn set_password(&self, name: &str, password: &str) {
        let hash = password::hash(SecretString::from(password)).await.unwrap();
        let work = work_at(self.clock().now());
        assert!(self.state().store.set_password_hash((&work).into(), name, &hash).await.unwrap());
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.running().runtime
    }

    fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    pub(crate) fn state(&self) -> &AppState {
        &self.running().state
    }

    /// Another application state on the same database, without background tasks and with the clock `now`. For tests
    /// that poll step by step and need to wait for each step.
    pub(crate) async fn idle_state(&self, now: Clock, poll_interval: Duration) -> AppState {
        (self.running().assemble)(self.open_store().await, now, poll_interval)
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.settings.clock
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running().address
    }

    /// The number of running tasks of the app.
    pub(crate) fn tasks(&self) -> usize {
        self.running().runtime.metrics().num_alive_tasks()
    }

    /// Removes the pauses left by a 429, for tables in which each row starts afresh.
    pub(crate) async fn lift_pauses(&self) {
        self.ledger().run("DELETE FROM upstream_pauses").await;
        self.ledger().run("DELETE FROM upstream_circuits WHERE circuit LIKE 'refused:%'").await;
    }

    /// The app's own origin.
    pub(crate) fn origin(&self) -> String {
        self.state().public_url.origin().to_owned()
    }

    pub(crate) fn database_url(&self) -> &str {
        self.database.url()
    }

    /// The database from outside.
    pub(crate) fn ledger(&self) -> Ledger {
        Ledger::at(self.database_url())
    }

    /// The database, for actions without an endpoint. Also while the app is stopped.
    pub(crate) async fn open_store(&self) -> Store {
        Store::open_with(self.database_url(), self.settings.waits).await.unwrap()
    }

    /// Everything in the database.
    pub(crate) async fn database_dump(&self) -> String {
        self.ledger().dump().await
    }

    /// A client without a session.
    pub(crate) fn anonymous(&self) -> Browser {
        Browser::new(format!("http://{}", self.address()), self.origin())
    }

    /// A client without a session that connects from `here`.
    pub(crate) fn anonymous_from(&self, here: IpAddr) -> Browser {
        Browser::from(Some(here), format!("http://{}", self.address()), self.origin())
    }

    /// A user who may start jobs.
    pub(crate) async fn operator(&self) -> Browser {
        self.sign_in("olga").await
    }
}

/// A new database of the kind under test, without people.
pub(super) async fn database(file: &Path) -> TestDatabase {
    let migrate = async |url: String| Store::open(&url).await.unwrap().close().await;
    TestDatabase::copied(file, "migrated", migrate).await
}

/// The name of the template with all people for an app that starts at `now`, and what makes it. The people joined before this process made its
/// first template; for an app with an earlier clock, they joined at its start.
fn with_people(now: Timestamp) -> (String, impl AsyncFn(String)) {
    static FIRST: LazyLock<Timestamp> = LazyLock::new(|| Clock::system().now());
    let joined = now.min(*FIRST);
    let fill = async move |url: String| {
        let store = Store::open(&url).await.unwrap();
        let hash = password_hash().await;
        for (name, role) in PEOPLE {
            store.add_user((&work_at(joined)).into(), name, role, hash).await.unwrap();
        }
        store.close().await;
    };
    (format!("people_{}", joined.as_millis()), fill)
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if let Some(Running { stop, runtime, .. }) = self.running.take() {
            stop.cancel();
            runtime.shutdown_background();
        }
        if !std::thread::panicking() {
            assert!(leaks().is_empty(), "secrets in the log: {:#?}", leaks());
        }
    }
}

/// The password's hash. Hashing is slow on purpose, so it happens once.
pub(crate) async fn password_hash() -> &'static str {
    static HASH: OnceCell<String> = OnceCell::const_new();
    HASH.get_or_init(async || password::hash(SecretString::from(PASSWORD)).await.unwrap()).await
}
