//! The parts of the application state that are built from several services.

use rustls::pki_types::CertificateDer;
use tokio_util::sync::CancellationToken;

use crate::auth::retry_later::retry_after;
use base::clock::Clock;
use base::config::{CodeHostsConfig, PublicUrl, SingleSignOnConfig, UpstreamConfig, WebhookConfig};
use base::instruments::Instruments;
use base::settings::LiveSettings;
use base::tasks::Tasks;
use base::work::Work;
use clients::upstream::Upstream;
use clients::upstream::governor::{BudgetSettings, Governor};
use clients::upstream::health::Health;
use service::auth::attempts::Attempts;
use service::auth::current_password::CurrentPassword;
use service::auth::passkeys::Passkeys;
use service::auth::password::Passwords;
use service::auth::refusal_record::RefusalRecord;
use service::auth::second_factor::SecondFactors;
use service::auth::single_sign_on::SingleSignOn;
use service::history::{History, HistorySettings};
use service::jobs::{JobServices, JobSettings, Jobs, Timing};
use service::pull_requests::{CodeHosts, PullRequestSettings};
use service::webhooks::{WebhookServices, Webhooks};
use store::Store;

/// The services that the others are built from.
pub(super) struct BaseServices {
    pub(super) settings: LiveSettings,
    pub(super) store: Store,
    pub(super) clock: Clock,
    pub(super) tasks: Tasks,
    pub(super) instruments: Instruments,
    pub(super) work: Work,
    /// Cancelled when the process receives a stop signal.
    pub(super) leaving: CancellationToken,
}

/// The client of the upstream, and the budget of its calls.
pub(super) struct UpstreamServices {
    pub(super) upstream: Upstream,
    pub(super) governor: Governor,
}

impl UpstreamServices {
    pub(super) fn new(base: &BaseServices, config: &UpstreamConfig) -> anyhow::Result<Self> {
        let BaseServices { settings, store, clock, instruments, work, .. } = base;
        let health = Health::new(store.clone(), clock.clone(), config.breaks_after);
        let settings = settings.part(BudgetSettings::of);
        let governor = Governor::new(store.clone(), clock.clone(), settings, health, work.part("budget"));
        let upstream = Upstream::new(config, governor.clone(), clock.clone(), instruments.clone())?;
        Ok(Self { upstream, governor })
    }
}

/// The services that authenticate people.
pub(super) struct AuthServices {
    pub(super) attempts: Attempts,
    pub(super) refusals: RefusalRecord,
    pub(super) passwords: Passwords,
    pub(super) current_password: CurrentPassword,
    pub(super) second_factors: SecondFactors,
    pub(super) passkeys: Passkeys,
    pub(super) single_sign_on: Option<SingleSignOn>,
}

impl AuthServices {
    /// `provider`: the identity provider of single sign-on.
    pub(super) fn new(
        base: &BaseServices,
        provider: Option<&SingleSignOnConfig>,
        authorities: &[CertificateDer<'static>],
        public_url: &PublicUrl,
    ) -> anyhow::Result<Self> {
        let BaseServices { settings, store, clock, tasks, leaving, .. } = base;
        let attempts = Attempts::new(store.clone(), clock.clone(), retry_after);
        let refusals = RefusalRecord::new(store.clone(), clock.clone(), tasks.clone(), leaving.clone());
        let passwords = Passwords::new(store.waits().turn);
        let current_password = CurrentPassword::new(attempts.clone(), refusals.clone(), passwords.clone());
        let second_factors = SecondFactors::new(
            store.clone(),
            clock.clone(),
            attempts.clone(),
            refusals.clone(),
            current_password.clone(),
            public_url,
        );
        let passkeys = Passkeys::new(
            store.clone(),
            clock.clone(),
            attempts.clone(),
            refusals.clone(),
            second_factors.clone(),
            current_password.clone(),
            public_url,
        );
        let single_sign_on = provider.map(|config| {
            SingleSignOn::new(
                config,
                settings.part(|settings| settings.single_sign_on.clone()),
                authorities,
                public_url,
                store.clone(),
                clock.clone(),
                attempts.clone(),
            )
        });
        let single_sign_on = single_sign_on.transpose()?;
        Ok(Self { attempts, refusals, passwords, current_password, second_factors, passkeys, single_sign_on })
    }
}

pub(super) fn history(base: &BaseServices, upstream: &Upstream, governor: &Governor) -> History {
    History::new(
        base.store.clone(),
        upstream.clone(),
        governor.clone(),
        base.clock.clone(),
        base.settings.part(HistorySettings::of),
        base.tasks.clone(),
        base.work.part("history"),
    )
}

pub(super) fn jobs(base: &BaseServices, upstream: &Upstream, governor: &Governor, timing: Timing) -> Jobs {
    let services = JobServices {
        store: base.store.clone(),
        upstream: upstream.clone(),
        governor: governor.clone(),
        clock: base.clock.clone(),
        tasks: base.tasks.clone(),
        instruments: base.instruments.clone(),
        settings: base.settings.part(JobSettings::of),
        work: base.work.part("jobs"),
        leaving: base.leaving.clone(),
    };
    Jobs::new(services, timing)
}

/// The connections to code hosts.
pub(super) fn code_host_connections(
    base: &BaseServices,
    config: &CodeHostsConfig,
    authorities: &[CertificateDer<'static>],
) -> anyhow::Result<CodeHosts> {
    let BaseServices { settings, store, clock, tasks, work, .. } = base;
    let (settings, work) = (settings.part(PullRequestSettings::of), work.part("pull requests"));
    CodeHosts::new(config, authorities, store.clone(), clock.clone(), tasks.clone(), settings, work)
}

pub(super) fn webhook_sender(
    base: &BaseServices,
    config: WebhookConfig,
    authorities: &[CertificateDer<'static>],
    public_url: &PublicUrl,
) -> Webhooks {
    let services = WebhookServices {
        store: base.store.clone(),
        clock: base.clock.clone(),
        tasks: base.tasks.clone(),
        projects: base.settings.projects(),
        instruments: base.instruments.clone(),
        work: base.work.part("webhooks"),
    };
    Webhooks::new(config, authorities, public_url.clone(), services)
}
