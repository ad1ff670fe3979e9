//! Rate limits of sign-in attempts: ten, then one a minute, for each account and for each address. A successful attempt is
//! refunded. Challenges for passkeys have a limit for each address. The memory is of a fixed size, whatever is tried.
//!
//! The limit per account does not apply to an address from which its person signed in recently; only the limit per address does, so
//! that nobody can lock somebody else out by trying their name.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::{Quota, RateLimiter};
use moka::future::Cache;

use super::hashing::Asker;
use crate::server::clock::Clock;

/// The burst: attempts without a wait.
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);
/// Attempts per minute after the burst.
const PER_MINUTE: NonZeroU32 = NonZeroU32::MIN;
const ONE_TRY: u64 = 60_000_000_000;

/// Challenges for passkeys that an address is given without a wait; then one a second. Each is a row, and people cancel some.
const CHALLENGES: NonZeroU32 = NonZeroU32::MIN.saturating_add(59);

/// Counters for each kind of limit. Keys that share one slow each other; the hash is secret, so that happens only by chance.
const CELLS: usize = 1 << 16;

/// How many pairs of an account and a known address are kept.
const KNOWN: u64 = 10_000;
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

const OVERLOAD_EVERY: Duration = Duration::from_secs(3600);

/// Cloning gives another handle.
#[derive(Clone)]
pub struct Attempts {
    accounts: Limit,
    addresses: Limit,
    challenges: Limit,
    known: Cache<(u64, IpAddr), ()>,
    overload: Arc<Mutex<Option<Duration>>>,
}

/// A counted attempt.
pub struct Attempt<'a> {
    of: &'a Attempts,
    account: u64,
    address: IpAddr,
    is_known: bool,
    counted: Vec<(&'a Limit, u64)>,
}

impl Attempts {
    pub fn new(clock: Clock) -> Self {
        let known = Cache::builder().max_capacity(KNOWN).time_to_live(KNOWN_FOR).build();
        let tries = Quota::per_minute(PER_MINUTE).allow_burst(BURST);
        let (accounts, addresses) = (Limit::new(tries, clock.clone()), Limit::new(tries, clock.clone()));
        let challenges = Limit::new(Quota::per_second(NonZeroU32::MIN).allow_burst(CHALLENGES), clock);
        Self { accounts, addresses, challenges, known, overload: Arc::default() }
    }

    /// Counts a challenge for a passkey that `address` is given, or returns how long to wait.
    pub fn challenge(&self, address: IpAddr) -> Result<(), Duration> {
        self.challenges.take(self.challenges.key(network(address)))
    }

    /// Counts an attempt to sign in to `account` from `address`, or returns how long to wait.
    pub fn begin(&self, account: &str, address: IpAddr) -> Result<Attempt<'_>, Duration> {
        let account = self.accounts.key(account);
        let is_known = self.known.contains_key(&(account, address));
        let mut attempt = Attempt { of: self, account, address, is_known, counted: Vec::new() };
        let mut limits = vec![(&self.addresses, self.addresses.key(network(address)))];
        if !is_known {
            limits.push((&self.accounts, account));
        }
        for (limit, key) in limits {
            match limit.take(key) {
                Ok(()) => attempt.counted.push((limit, key)),
                Err(wait) => {
                    attempt.give_back();
                    return Err(wait);
                }
            }
        }
        Ok(attempt)
    }

    /// Whether this is the first overload within an hour: one is written down, and the many that follow are not.
    pub fn is_new_overload(&self) -> bool {
        let now = self.addresses.limiter.clock().now();
        let mut overload = self.overload.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = overload.is_none_or(|last| now.saturating_sub(last) > OVERLOAD_EVERY);
        if is_new {
            *overload = Some(now);
        }
        is_new
    }
}

impl Attempt<'_> {
    /// The queue for hashing serves people at an address from which they signed in lately first.
    pub fn asker(&self) -> Asker {
        Asker::new(self.address, self.is_known)
    }

    /// The password was right: refunds the attempt, and remembers the address as known.
    pub async fn succeeded(self) {
        self.give_back();
        self.of.known.insert((self.account, self.address), ()).await;
    }

    /// As [`Attempt::succeeded`], of an attempt that named no account: it was that of `account`.
    pub async fn succeeded_as(self, account: &str) {
        self.give_back();
        self.of.known.insert((self.of.accounts.key(account), self.address), ()).await;
    }

    /// Refunds the attempt without remembering the address: a second factor is required, or nothing was tried.
    pub fn passed(self) {
        self.give_back();
    }

    fn give_back(&self) {
        self.counted.iter().for_each(|(limit, key)| limit.cells.give_back(*key));
    }
}

/// A person can have any number of IPv6 addresses, but usually one /64 network.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
    }
}

#[derive(Clone)]
struct Limit {
    limiter: Arc<RateLimiter<u64, Cells, Monotonic, NoOpMiddleware<Duration>>>,
    cells: Cells,
    hasher: Arc<RandomState>,
}

impl Limit {
    fn new(quota: Quota, clock: Clock) -> Self {
        let cells = Cells((0..CELLS).map(|_| AtomicU64::new(0)).collect());
        let limiter = Arc::new(RateLimiter::new(quota, cells.clone(), Monotonic(clock)));
        Self { limiter, cells, hasher: Arc::default() }
    }

    fn key(&self, of: impl Hash) -> u64 {
        self.hasher.hash_one(of)
    }

    fn take(&self, key: u64) -> Result<(), Duration> {
        let now = self.limiter.clock().now();
        self.limiter.check_key(&key).map_err(|refused| refused.wait_time_from(now))
    }
}

/// The state of each key's limit, in nanoseconds.
#[derive(Clone)]
struct Cells(Arc<[AtomicU64]>);

impl Cells {
    fn of(&self, key: u64) -> &AtomicU64 {
        &self.0[key as usize % CELLS]
    }

    fn give_back(&self, key: u64) {
        let earlier = |at: u64| Some(at.saturating_sub(ONE_TRY));
        // Cannot fail: the closure always returns a value.
        let _ = self.of(key).fetch_update(Ordering::SeqCst, Ordering::SeqCst, earlier);
    }
}

impl StateStore for Cells {
    type Key = u64;

    fn measure_and_replace<T, F, E>(&self, key: &u64, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let cell = self.of(*key);
        let mut before = cell.load(Ordering::SeqCst);
        loop {
            let (decided, after) = decide((before > 0).then_some(Nanos::new(before)))?;
            match cell.compare_exchange(before, after.as_u64(), Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return Ok(decided),
                Err(now) => before = now,
            }
        }
    }
}

/// Docket's clock, in the form the limiter requires.
struct Monotonic(Clock);

impl governor::clock::Clock for Monotonic {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Timestamp;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn address(last: u8) -> IpAddr {
        IpAddr::from([198, 51, 100, last])
    }

    /// How many tries in a row are counted, at most 50.
    fn tries(attempts: &Attempts, account: &str, address: IpAddr) -> usize {
        (0..50).take_while(|_| attempts.begin(account, address).is_ok()).count()
    }

    #[test]
    fn after_ten_tries_there_is_one_a_minute() {
        let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
        let attempts = Attempts::new(clock.clone());
        assert_eq!(tries(&attempts, "olga", HERE), 10);
        let wait = attempts.begin("olga", HERE).err().expect("a refusal");
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(60), "{wait:?}");
        clock.advance(wait);
        assert_eq!(tries(&attempts, "olga", HERE), 1);
        clock.advance(Duration::from_secs(3600));
        assert_eq!(tries(&attempts, "olga", HERE), 10);
    }

    #[test]
    fn many_addresses_have_one_limit_for_an_account_and_one_address_has_one_for_many_accounts() {
        let attempts = Attempts::new(Clock::system());
        let by_many = (0..30).filter(|last| attempts.begin("olga", address(*last)).is_ok()).count();
        assert_eq!(by_many, 10);
        let of_many = (0..30).filter(|n| attempts.begin(&format!("user {n}"), HERE).is_ok()).count();
        assert_eq!(of_many, 10);
    }

    #[test]
    fn after_sixty_challenges_there_is_one_a_second_and_they_are_no_tries() {
        let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
        let attempts = Attempts::new(clock.clone());
        let given = || (0..100).take_while(|_| attempts.challenge(HERE).is_ok()).count();
        assert_eq!(given(), 60);
        assert!(attempts.challenge(address(1)).is_ok(), "another address waits too");
        clock.advance(Duration::from_secs(2));
        assert_eq!(given(), 2);
        assert_eq!(tries(&attempts, "olga", HERE), 10);
    }

    #[tokio::test]
    async fn whoever_gets_in_has_the_try_back_and_is_kept_out_by_nobody_else() {
        let attempts = Attempts::new(Clock::system());
        for _ in 0..30 {
            let Ok(attempt) = attempts.begin("olga", HERE) else { panic!("refused") };
            attempt.succeeded().await;
        }
        assert_eq!(tries(&attempts, "olga", address(1)), 10);
        assert_eq!(tries(&attempts, "olga", address(2)), 0);
        assert_eq!(tries(&attempts, "olga", HERE), 10);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let attempts = Attempts::new(Clock::system());
        let of = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]);
        let tried = (0..30).filter(|last| attempts.begin(&format!("user {last}"), of(*last)).is_ok()).count();
        assert_eq!(tried, 10);
    }
}
