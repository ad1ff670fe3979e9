//! The settings that may change while the server runs, as one value that is replaced as a whole. `reload` reads the
//! configuration.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use secrecy::SecretString;

use crate::config::{AccessConfig, Budget, Config, RetentionConfig, SingleSignOnConfig, TrustedHeaderConfig};
use model::time::Timestamp;
use model::user::Project;

#[derive(Clone)]
pub struct Settings {
    /// Never empty.
    pub projects: Arc<[Project]>,
    pub budget: Budget,
    pub retention: RetentionConfig,
    pub access: Arc<AccessConfig>,
    /// The maximum length of a prompt, in characters.
    pub prompt_max: u32,
    /// `None`: people sign in with passwords.
    pub single_sign_on: Option<Arc<SingleSignOnConfig>>,
    pub trusted_header: Option<Arc<TrustedHeaderConfig>>,
    /// How long an open pull request may wait until it is stale.
    pub review_stale_after: Duration,
    /// `None`: `/metrics` is not on the main listener.
    pub metrics_token: Option<Arc<SecretString>>,
}

/// The current settings. Clones share them.
#[derive(Clone)]
pub struct LiveSettings(Arc<RwLock<Stored>>);

struct Stored {
    settings: Arc<Settings>,
    read: LastRead,
}

/// The current values of the settings that one service uses.
#[derive(Clone)]
pub struct Live<T> {
    settings: LiveSettings,
    part: fn(&Settings) -> T,
}

/// The configured projects; never empty.
pub type LiveProjects = Live<Arc<[Project]>>;

/// The results of reading the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastRead {
    /// When it was last valid.
    pub succeeded_at: Timestamp,
    /// When it was last found invalid; `None` once it is valid again.
    pub refused_at: Option<Timestamp>,
}

impl Settings {
    pub fn of(config: &Config) -> Self {
        Self {
            projects: config.projects.clone().into(),
            budget: config.budget,
            retention: config.retention,
            access: Arc::new(config.access.clone()),
            prompt_max: config.upstream.prompt_max,
            single_sign_on: config.identity.single_sign_on.clone().map(Arc::new),
            trusted_header: config.identity.trusted_header.clone().map(Arc::new),
            review_stale_after: config.review_stale_after,
            metrics_token: config.metrics.token.clone().map(Arc::new),
        }
    }

    /// [`Self::review_stale_after`] in days.
    pub fn review_stale_days(&self) -> u32 {
        u32::try_from(self.review_stale_after.as_secs() / (24 * 3_600)).unwrap_or(u32::MAX)
    }
}

impl LiveSettings {
    pub fn new(settings: Settings, now: Timestamp) -> Self {
        let read = LastRead { succeeded_at: now, refused_at: None };
        Self(Arc::new(RwLock::new(Stored { settings: Arc::new(settings), read })))
    }

    /// The settings for one piece of work. The next one must call this again.
    pub fn current(&self) -> Arc<Settings> {
        self.0.read().settings.clone()
    }

    /// The settings of a service: `part` takes them out of all settings.
    pub fn part<T>(&self, part: fn(&Settings) -> T) -> Live<T> {
        Live { settings: self.clone(), part }
    }

    pub fn projects(&self) -> LiveProjects {
        self.part(|settings| settings.projects.clone())
    }

    pub fn replace(&self, settings: Settings, now: Timestamp) {
        let read = LastRead { succeeded_at: now, refused_at: None };
        self.change(|stored| *stored = Stored { settings: Arc::new(settings), read });
    }

    /// Records that a new configuration was invalid and changed nothing.
    pub fn refuse(&self, now: Timestamp) {
        self.change(|stored| stored.read.refused_at = Some(now));
    }

    pub fn last_read(&self) -> LastRead {
        self.0.read().read.clone()
    }

    fn change(&self, change: impl FnOnce(&mut Stored)) {
        change(&mut self.0.write());
    }
}

impl<T> Live<T> {
    /// The settings for one piece of work. The next one must call this again.
    pub fn current(&self) -> T {
        (self.part)(&self.settings.current())
    }
}
