//! Rate limits of sign-in attempts: ten, then one a minute, for each account and for each address. A successful attempt is
//! refunded. Challenges for passkeys, and responses of the single sign-on provider, have a limit for each address. In the database, for all processes; the space is of a fixed size,
//! whatever is tried.
//!
//! The limit per account does not apply to an address from which its person signed in recently; only the limit per address does, so
//! that nobody can lock somebody else out by trying their name.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;

use super::hashing::Asker;
use super::retry_later;
use super::shared_key::SharedKey;
use crate::error::AppError;
use crate::model::time::Timestamp;
use crate::server::process::clock::Clock;
use crate::server::store::accounts::rate_limits::Quota;
use crate::server::store::{Store, StoreError};

/// Ten attempts without a wait, then one a minute.
const TRIES: Quota = Quota { burst: 10, every: Duration::from_secs(60) };

/// Challenges for passkeys that an address is given without a wait; then one a second. Each is a row, and people cancel some.
const CHALLENGES: Quota = Quota { burst: 60, every: Duration::from_secs(1) };

/// Responses of the single sign-on provider that an address may bring without a wait; then one every ten seconds. Each is checked with the
/// provider. Those that sign somebody in are refunded, because many people may share an address.
const CALLBACKS: Quota = Quota { burst: 30, every: Duration::from_secs(10) };

/// Cells for each kind of limit. Keys that share one slow each other; the hash is secret, so that happens only by chance.
const CELLS: u64 = 1 << 16;

/// How many pairs of an account and a known address are kept.
const KNOWN: u32 = 10_000;
const KNOWN_FOR_SECONDS: i64 = 30 * 24 * 3600;

const OVERLOAD_EVERY: Duration = Duration::from_secs(3600);

/// Cloning gives another handle.
#[derive(Clone)]
pub struct Attempts {
    store: Store,
    clock: Clock,
    key: SharedKey,
    overload: Arc<Mutex<Option<Duration>>>,
}

/// A counted attempt.
pub struct Attempt<'a> {
    of: &'a Attempts,
    account: String,
    address: IpAddr,
    is_known: bool,
    /// The cells in which it is counted.
    cells: Vec<String>,
}

/// A counted response of the single sign-on provider.
pub struct Callback<'a> {
    of: &'a Attempts,
    cell: String,
}

impl Attempts {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { key: SharedKey::new(store.clone(), "sign-in limits"), store, clock, overload: Arc::default() }
    }

    /// Counts a challenge for a passkey that `address` is given, or says how long to wait.
    pub async fn challenge(&self, address: IpAddr) -> Result<(), AppError> {
        let cell = self.cell("challenge", &network(address).to_string()).await?;
        self.store.count_attempt(&cell, CHALLENGES, self.clock.now()).await?.map_err(retry_later::too_often)
    }

    /// Counts a response of the single sign-on provider that `address` brings, or says how long to wait.
    pub async fn callback(&self, address: IpAddr) -> Result<Callback<'_>, AppError> {
        let cell = self.cell("callback", &network(address).to_string()).await?;
        self.store
            .count_attempt(&cell, CALLBACKS, self.clock.now())
            .await?
            .map_err(retry_later::too_often)?;
        Ok(Callback { of: self, cell })
    }

    /// Counts an attempt to sign in to `account` from `address`, or says how long to wait.
    pub async fn begin(&self, account: &str, address: IpAddr) -> Result<Attempt<'_>, AppError> {
        let is_known =
            self.store.is_known_address(&self.pair(account, address).await?, self.known_since()).await?;
        let mut cells = vec![self.cell("address", &network(address).to_string()).await?];
        if !is_known {
            cells.push(self.cell("account", account).await?);
        }
        let account = account.to_owned();
        let mut attempt = Attempt { of: self, account, address, is_known, cells: Vec::new() };
        for cell in cells {
            if let Err(wait) = self.store.count_attempt(&cell, TRIES, self.clock.now()).await? {
                attempt.give_back().await;
                return Err(retry_later::too_often(wait));
            }
            attempt.cells.push(cell);
        }
        Ok(attempt)
    }

    /// Whether this is the first overload within an hour: one is written down, and the many that follow are not.
    pub fn is_new_overload(&self) -> bool {
        let now = self.clock.elapsed();
        let mut overload = self.overload.lock().unwrap_or_else(PoisonError::into_inner);
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

    async fn pair(&self, account: &str, address: IpAddr) -> Result<String, StoreError> {
        Ok(HEXLOWER.encode(&self.key.hash(&format!("{address} {account}")).await?))
    }
}

impl Callback<'_> {
    /// It signed a person in: it does not count.
    pub async fn succeeded(self) {
        self.of.refund(&self.cell, CALLBACKS).await;
    }
}

impl Attempt<'_> {
    /// The queue for hashing serves people at an address from which they signed in lately first.
    pub fn asker(&self) -> Asker {
        Asker::new(self.address, self.is_known)
    }

    /// The password was right: refunds the attempt, and remembers the address as known.
    pub async fn succeeded(self) {
        let account = self.account.clone();
        self.succeeded_as(&account).await;
    }

    /// As [`Attempt::succeeded`], of an attempt that named no account: it was that of `account`.
    pub async fn succeeded_as(self, account: &str) {
        self.give_back().await;
        if let Err(error) = self.remember(account).await {
            tracing::warn!(%error, "an address from which a person signed in could not be remembered");
        }
    }

    /// Refunds the attempt without remembering the address: a second factor is required, or nothing was tried.
    pub async fn passed(self) {
        self.give_back().await;
    }

    async fn remember(&self, account: &str) -> Result<(), StoreError> {
        let pair = self.of.pair(account, self.address).await?;
        self.of.store.remember_address(&pair, (self.of.known_since(), KNOWN), self.of.clock.now()).await
    }

    async fn give_back(&self) {
        for cell in &self.cells {
            self.of.refund(cell, TRIES).await;
        }
    }
}

/// A person can have any number of IPv6 addresses, but usually one /64 network.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn address(last: u8) -> IpAddr {
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
            let attempts = Attempts::new(store(&folder).await, clock.clone());
            Self { folder, clock, attempts }
        }

        /// What another process on the database counts with.
        async fn other_process(&self) -> Attempts {
            Attempts::new(store(&self.folder).await, self.clock.clone())
        }
    }

    async fn store(folder: &tempfile::TempDir) -> Store {
        Store::open(&format!("sqlite://{}", folder.path().join("docket.db").display())).await.unwrap()
    }

    /// How many tries in a row are counted, at most 50.
    async fn tries(attempts: &Attempts, account: &str, address: IpAddr) -> usize {
        for tries in 0..50 {
            if attempts.begin(account, address).await.is_err() {
                return tries;
            }
        }
        50
    }

    #[tokio::test]
    async fn after_ten_tries_there_is_one_a_minute_whichever_process_counts() {
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
        // Before a clock rollback.
        scene.clock.set(Timestamp::from_millis(1_794_000_000_000));
        assert_eq!(tries(attempts, "olga", HERE).await, 10);
    }

    #[tokio::test]
    async fn many_addresses_have_one_limit_for_an_account_and_one_address_has_one_for_many_accounts() {
        let Scene { attempts, folder: _folder, .. } = Scene::new().await;
        let (mut by_many, mut of_many) = (0, 0);
        for n in 0..30 {
            by_many += usize::from(attempts.begin("olga", address(n)).await.is_ok());
            of_many += usize::from(attempts.begin(&format!("user {n}"), HERE).await.is_ok());
        }
        assert_eq!((by_many, of_many), (10, 10));
    }

    #[tokio::test]
    async fn after_sixty_challenges_there_is_one_a_second_and_they_are_no_tries() {
        let scene = Scene::new().await;
        let given = async || {
            let mut given = 0;
            while given < 100 && scene.attempts.challenge(HERE).await.is_ok() {
                given += 1;
            }
            given
        };
        assert_eq!(given().await, 60);
        assert!(scene.attempts.challenge(address(1)).await.is_ok(), "another address waits too");
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
            while counted < 100 && attempts.callback(HERE).await.is_ok() {
                counted += 1;
            }
            counted
        };
        assert_eq!(counted(&scene.attempts).await, 30);
        assert_eq!(counted(&scene.other_process().await).await, 0);
        assert!(scene.attempts.callback(address(1)).await.is_ok());
        scene.clock.advance(Duration::from_secs(20));
        assert_eq!(counted(&scene.attempts).await, 2);
        assert_eq!(tries(&scene.attempts, "olga", HERE).await, 10);
    }

    #[tokio::test]
    async fn whoever_gets_in_has_the_try_back_and_is_kept_out_by_nobody_else_at_any_process() {
        let scene = Scene::new().await;
        let (attempts, other) = (&scene.attempts, &scene.other_process().await);
        for _ in 0..30 {
            attempts.begin("olga", HERE).await.ok().unwrap().succeeded().await;
        }
        assert_eq!(tries(other, "olga", address(1)).await, 10);
        assert_eq!(tries(attempts, "olga", address(2)).await, 0);
        assert_eq!(tries(other, "olga", HERE).await, 10);
        scene.clock.advance(Duration::from_secs(31 * 24 * 3600));
        assert_eq!(tries(other, "olga", address(3)).await, 10);
        assert_eq!(tries(other, "olga", HERE).await, 0, "it is known for ever");
    }

    #[tokio::test]
    async fn a_network_of_ipv6_is_one_address() {
        let Scene { attempts, folder: _folder, .. } = Scene::new().await;
        let mut tried = 0;
        for last in 0..30 {
            let address = IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
            tried += usize::from(attempts.begin(&format!("user {last}"), address).await.is_ok());
        }
        assert_eq!(tried, 10);
    }
}
