//! Rate limits of sign-in attempts: ten, then one a minute, per account and per IP. A successful attempt is refunded.
//! Challenges for passkeys, responses of the single sign-on provider and unknown API tokens have a limit per IP. The counters are in the
//! database, for all processes, and have a fixed size.
//!
//! The limit per account does not apply to a network from which its person signed in recently, only the limit per IP. So
//! nobody can lock out another person by trying their name. A network is an IPv4 address or an IPv6 /64, for both limits.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use parking_lot::Mutex;

use super::hashing::Requester;
use super::shared_key::SharedKey;
use base::clock::Clock;
use model::audit::{Action, Actor, AuditEvent};
use model::error::{AppError, ErrorCode};
use model::time::Timestamp;
use store::accounts::rate_limits::{Counted, KnownAddressLimits, Quota};
use store::{Store, StoreError};

/// Ten attempts without a wait, then one a minute.
const TRIES: Quota = Quota { burst: 10, every: Duration::from_secs(60) };

/// Passkey challenges that one IP may request without a wait; then one a second. Each is a row, and people cancel some.
const CHALLENGES: Quota = Quota { burst: 60, every: Duration::from_secs(1) };

/// Requests with an unknown API token that one IP may send without a wait; then one a second. Each is recorded.
const UNKNOWN_TOKENS: Quota = Quota { burst: 30, every: Duration::from_secs(1) };

/// Responses of the single sign-on provider that one IP may submit without a wait; then one every ten seconds. Each is
/// checked with the provider. Successful ones are refunded, because many people may share an IP.
const CALLBACKS: Quota = Quota { burst: 30, every: Duration::from_secs(10) };

/// Cells for each kind of limit. Keys in the same cell share its limit. The hash is secret, so collisions are random.
const CELLS: u64 = 1 << 16;

/// The maximum number of stored pairs of an account and a known IP.
const KNOWN: u32 = 10_000;
const KNOWN_FOR_SECONDS: i64 = 30 * 24 * 3600;

/// The name of the key that makes the hashes secret.
const SHARED_KEY: &str = "sign-in limits";

const OVERLOAD_EVERY: Duration = Duration::from_secs(3600);

/// Clones share their state.
#[derive(Clone)]
pub struct Attempts {
    store: Store,
    clock: Clock,
    key: SharedKey,
    overload: Arc<Mutex<Option<Duration>>>,
    tell_wait: TellWait,
}

/// Tells the client of the current request how many seconds to wait before the next one.
pub type TellWait = fn(u64);

/// A counted attempt.
pub struct Attempt<'a> {
    of: &'a Attempts,
    account: String,
    client_ip: IpAddr,
    is_known: bool,
    /// The cells that count it.
    cells: Vec<String>,
}

/// A counted response of the single sign-on provider.
pub struct Callback<'a> {
    of: &'a Attempts,
    cell: String,
}

impl Attempts {
    pub fn new(store: Store, clock: Clock, tell_wait: TellWait) -> Self {
        let key = SharedKey::new(store.clone(), SHARED_KEY);
        Self { store, clock, key, overload: Arc::default(), tell_wait }
    }

    /// Tells the client of the current request how many seconds to wait.
    pub(super) fn tell_wait(&self, seconds: u64) {
        (self.tell_wait)(seconds);
    }

    /// The error for a person who has to wait before the next attempt.
    fn too_often(&self, wait: Duration) -> AppError {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        self.tell_wait(seconds);
        AppError::new(
            ErrorCode::TooManyAttempts,
            format!("Too many tries. Wait {seconds} seconds, then try again."),
        )
    }

    /// Counts a passkey challenge for `client_ip`. Fails with the remaining wait.
    pub async fn challenge(&self, client_ip: IpAddr) -> Result<(), AppError> {
        let cell = self.cell("challenge", &network(client_ip).to_string()).await?;
        let counted = self.store.count_attempt(&cell, CHALLENGES, self.clock.now()).await?;
        counted.or_refuse(|wait| self.too_often(wait)).map(drop)
    }

    /// Counts a request with an unknown API token from `client_ip`.
    pub async fn unknown_token(&self, client_ip: IpAddr) -> Result<Counted, StoreError> {
        let cell = self.cell("unknown token", &network(client_ip).to_string()).await?;
        self.store.count_attempt(&cell, UNKNOWN_TOKENS, self.clock.now()).await
    }

    /// Counts a response of the single sign-on provider from `client_ip`. Fails with the remaining wait.
    pub async fn callback(&self, client_ip: IpAddr) -> Result<Callback<'_>, AppError> {
        let cell = self.cell("callback", &network(client_ip).to_string()).await?;
        let counted = self.store.count_attempt(&cell, CALLBACKS, self.clock.now()).await?;
        counted.or_refuse(|wait| self.too_often(wait))?;
        Ok(Callback { of: self, cell })
    }

    /// Counts an attempt to sign in to `account` from `client_ip`. Fails with the remaining wait.
    pub async fn begin(&self, account: &str, client_ip: IpAddr) -> Result<Attempt<'_>, AppError> {
        let is_known =
            self.store.is_known_client(&self.pair(account, client_ip).await?, self.known_since()).await?;
        let mut cells = vec![self.cell("address", &network(client_ip).to_string()).await?];
        if !is_known {
            cells.push(self.cell("account", account).await?);
        }
        let account = account.to_owned();
        let mut attempt = Attempt { of: self, account, client_ip, is_known, cells: Vec::new() };
        for cell in cells {
            if let Counted::Exceeded(wait) = self.store.count_attempt(&cell, TRIES, self.clock.now()).await? {
                attempt.give_back().await;
                return Err(self.too_often(wait));
            }
            attempt.cells.push(cell);
        }
        Ok(attempt)
    }

    /// Writes to the log and the audit log, once an hour, that too many passwords wait to be checked. `ip`: of a client
    /// that was refused.
    pub async fn record_overload(&self, ip: IpAddr) {
        if !self.is_new_overload() {
            return;
        }
        tracing::warn!("too many passwords wait to be checked; some sign-ins are turned away");
        let event = AuditEvent::new(Action::SignIn).refused().with_detail("Too many sign-ins at once");
        let by = Actor::unknown(&ip.to_string());
        if let Err(error) = self.store.observe(&by, &event, self.clock.now()).await {
            tracing::error!(%error, "an overload could not be recorded");
        }
    }

    /// Whether this is the first overload within an hour.
    fn is_new_overload(&self) -> bool {
        let now = self.clock.elapsed();
        let mut overload = self.overload.lock();
        let is_new = overload.is_none_or(|last| now.saturating_sub(last) > OVERLOAD_EVERY);
        if is_new {
            *overload = Some(now);
        }
        is_new
    }

    async fn refund(&self, cell: &str, quota: Quota) {
        if let Err(error) = self.store.refund_attempt(cell, quota).await {
            tracing::warn!(%error, "an attempt to sign in could not be refunded");
        }
    }

    fn known_since(&self) -> Timestamp {
        self.clock.now().plus_seconds(-KNOWN_FOR_SECONDS)
    }

    async fn cell(&self, kind: &str, key: &str) -> Result<String, StoreError> {
        let hash = self.key.hash(&format!("{kind} {key}")).await?;
        let number = hash.iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        Ok(format!("{kind} {}", number % CELLS))
    }

    async fn pair(&self, account: &str, client_ip: IpAddr) -> Result<String, StoreError> {
        Ok(HEXLOWER.encode(&self.key.hash(&format!("{} {account}", network(client_ip))).await?))
    }
}

impl Callback<'_> {
    /// The response signed a person in, so it does not count.
    pub async fn succeeded(self) {
        self.of.refund(&self.cell, CALLBACKS).await;
    }
}

impl Attempt<'_> {
    /// The hashing queue prefers people at an IP from which they signed in recently.
    pub fn requester(&self) -> Requester {
        Requester::new(self.client_ip, self.is_known)
    }

    /// The password was right: refunds the attempt and remembers the IP as known.
    pub async fn succeeded(self) {
        let account = self.account.clone();
        self.succeeded_as(&account).await;
    }

    /// Like [`Attempt::succeeded`], for an attempt without an account name that turned out to be for `account`.
    pub async fn succeeded_as(self, account: &str) {
        self.give_back().await;
        if let Err(error) = self.remember(account).await {
            tracing::warn!(%error, "an address from which a person signed in could not be remembered");
        }
    }

    /// Refunds the attempt without remembering the IP: a second factor is required, or nothing was checked.
    pub async fn passed(self) {
        self.give_back().await;
    }

    async fn remember(&self, account: &str) -> Result<(), StoreError> {
        let pair = self.of.pair(account, self.client_ip).await?;
        let limits = KnownAddressLimits { since: self.of.known_since(), most: KNOWN };
        self.of.store.remember_client(&pair, limits, self.of.clock.now()).await
    }

    async fn give_back(&self) {
        for cell in &self.cells {
            self.of.refund(cell, TRIES).await;
        }
    }
}

/// A person can have any number of IPv6 addresses, but usually one /64 network.
pub fn network(client_ip: IpAddr) -> IpAddr {
    match client_ip {
        IpAddr::V4(_) => client_ip,
        IpAddr::V6(client_ip) => IpAddr::V6((u128::from(client_ip) >> 64 << 64).into()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn client_ip(last: u8) -> IpAddr {
        IpAddr::from([198, 51, 100, last])
    }

    struct Scene {
        folder: tempfile::TempDir,
        clock: Clock,
        attempts: Attempts,
    }

    impl Scene {
        async fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
            let store = store(&folder).await;
            // A random key would place two of the tests' addresses into one cell now and then.
            store.shared_secret(SHARED_KEY, "the key of these tests").await.unwrap();
            let attempts = Attempts::new(store, clock.clone(), |_| ());
            Self { folder, clock, attempts }
        }

        /// The attempts as another process with the same database counts them.
        async fn other_process(&self) -> Attempts {
            Attempts::new(store(&self.folder).await, self.clock.clone(), |_| ())
        }
    }

    async fn store(folder: &tempfile::TempDir) -> Store {
        Store::open(&format!("sqlite://{}", folder.path().join("docket.db").display())).await.unwrap()
    }

    /// Whether an attempt counted. Any error but the limit fails the test.
    fn counts<T>(attempt: Result<T, AppError>) -> bool {
        match attempt {
            Ok(_) => true,
            Err(error) if error.code == ErrorCode::TooManyAttempts => false,
            Err(error) => panic!("{error:?}"),
        }
    }

    /// The number of counted tries in a row, at most 50.
    async fn tries(attempts: &Attempts, account: &str, client_ip: IpAddr) -> usize {
        for tries in 0..50 {
            if !counts(attempts.begin(account, client_ip).await) {
                return tries;
            }
        }
        50
    }

    #[tokio::test]
    async fn ten_tries_then_one_a_minute_across_processes() {
        let scene = Scene::new().await;
        let (attempts, other) = (&scene.attempts, &scene.other_process().await);
        assert_eq!(tries(attempts, "olga", HERE).await, 10);
        assert_eq!(tries(other, "olga", HERE).await, 0);
        let error = other.begin("olga", HERE).await.err().unwrap();
        assert_eq!(error.message, "Too many tries. Wait 60 seconds, then try again.");
        scene.clock.advance(Duration::from_secs(59));
        assert_eq!(tries(attempts, "olga", HERE).await, 0);
        scene.clock.advance(Duration::from_secs(1));
        assert_eq!(tries(other, "olga", HERE).await, 1);
        scene.clock.advance(Duration::from_secs(3600));
        assert_eq!(tries(attempts, "olga", HERE).await, 10);
        // A time before a clock rollback.
        scene.clock.set(Timestamp::from_millis(1_794_000_000_000));
        assert_eq!(tries(attempts, "olga", HERE).await, 10);
    }

    #[tokio::test]
    async fn attempts_are_limited_per_account_and_per_ip() {
        let Scene { attempts, folder: _folder, .. } = Scene::new().await;
        let (mut by_many, mut of_many) = (0, 0);
        for n in 0..30 {
            by_many += usize::from(counts(attempts.begin("olga", client_ip(n)).await));
            of_many += usize::from(counts(attempts.begin(&format!("user {n}"), HERE).await));
        }
        assert_eq!((by_many, of_many), (10, 10));
    }

    #[tokio::test]
    async fn challenges_are_limited_apart_from_sign_in_attempts() {
        let scene = Scene::new().await;
        let given = async || {
            let mut given = 0;
            while given < 100 && counts(scene.attempts.challenge(HERE).await) {
                given += 1;
            }
            given
        };
        assert_eq!(given().await, 60);
        assert!(counts(scene.attempts.challenge(client_ip(1)).await), "another address waits too");
        scene.clock.advance(Duration::from_secs(2));
        assert_eq!(given().await, 2);
        assert_eq!(tries(&scene.attempts, "olga", HERE).await, 10);
    }

    #[tokio::test]
    async fn successful_callbacks_are_refunded_and_others_are_limited() {
        let scene = Scene::new().await;
        for _ in 0..100 {
            scene.attempts.callback(HERE).await.ok().unwrap().succeeded().await;
        }
        let counted = async |attempts: &Attempts| {
            let mut counted = 0;
            while counted < 100 && counts(attempts.callback(HERE).await) {
                counted += 1;
            }
            counted
        };
        assert_eq!(counted(&scene.attempts).await, 30);
        assert_eq!(counted(&scene.other_process().await).await, 0);
        assert!(counts(scene.attempts.callback(client_ip(1)).await), "another address waits too");
        scene.clock.advance(Duration::from_secs(20));
        assert_eq!(counted(&scene.attempts).await, 2);
        assert_eq!(tries(&scene.attempts, "olga", HERE).await, 10);
    }

    #[tokio::test]
    async fn successful_sign_in_is_refunded_and_its_ip_stays_admitted() {
        let scene = Scene::new().await;
        let (attempts, other) = (&scene.attempts, &scene.other_process().await);
        for _ in 0..30 {
            attempts.begin("olga", HERE).await.ok().unwrap().succeeded().await;
        }
        assert_eq!(tries(other, "olga", client_ip(1)).await, 10);
        assert_eq!(tries(attempts, "olga", client_ip(2)).await, 0);
        assert_eq!(tries(other, "olga", HERE).await, 10);
        scene.clock.advance(Duration::from_secs(31 * 24 * 3600));
        assert_eq!(tries(other, "olga", client_ip(3)).await, 10);
        assert_eq!(tries(other, "olga", HERE).await, 0, "it is known for ever");
    }

    /// Devices change their IPv6 address within its network daily.
    #[tokio::test]
    async fn known_client_is_a_network_of_ipv6() {
        let Scene { attempts, folder: _folder, .. } = Scene::new().await;
        let at = |network, last| IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, last]);
        attempts.begin("olga", at(1, 1)).await.ok().unwrap().succeeded().await;
        for n in 0..30 {
            drop(attempts.begin("olga", client_ip(n)).await);
        }
        assert_eq!(tries(&attempts, "olga", at(2, 1)).await, 0, "the account is not limited");
        assert_eq!(tries(&attempts, "olga", at(1, 2)).await, 10);
    }

    #[tokio::test]
    async fn ipv6_network_shares_one_limit() {
        let Scene { attempts, folder: _folder, .. } = Scene::new().await;
        let mut tried = 0;
        for last in 0..30 {
            let client_ip = IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
            tried += usize::from(counts(attempts.begin(&format!("user {last}"), client_ip).await));
        }
        assert_eq!(tried, 10);
    }
}
