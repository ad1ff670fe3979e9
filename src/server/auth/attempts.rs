//! How often somebody may try a password: ten times, then once a minute, for each account and for each address. Whoever got in has
//! the try back. What is kept is of a fixed size, whoever tries what.
//!
//! An account is slowed for strangers only: an address from which its person got in lately has just the limit of the address, so
//! that nobody can keep somebody else out by trying their name.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::{Quota, RateLimiter};
use moka::future::Cache;

use crate::server::clock::Clock;

/// Tries that may follow each other at once.
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);
/// What is added after that.
const PER_MINUTE: NonZeroU32 = NonZeroU32::MIN;
const ONE_TRY: u64 = 60_000_000_000;

/// Counters for each kind of limit. Keys that share one slow each other: with a secret hash, by chance alone.
const CELLS: usize = 1 << 16;

/// Pairs of an account and an address that are known to belong together.
const KNOWN: u64 = 10_000;
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// Cloning gives another handle.
#[derive(Clone)]
pub struct Attempts {
    accounts: Limit,
    addresses: Limit,
    known: Cache<(u64, IpAddr), ()>,
}

/// A try that was counted.
pub struct Attempt<'a> {
    of: &'a Attempts,
    account: u64,
    address: IpAddr,
    counted: Vec<(&'a Limit, u64)>,
}

impl Attempts {
    pub fn new(clock: Clock) -> Self {
        let known = Cache::builder().max_capacity(KNOWN).time_to_live(KNOWN_FOR).build();
        Self { accounts: Limit::new(clock.clone()), addresses: Limit::new(clock), known }
    }

    /// Counts a try to get into `account` from `address`, or says how long to wait.
    pub fn begin(&self, account: &str, address: IpAddr) -> Result<Attempt<'_>, Duration> {
        let account = self.accounts.key(account);
        let mut attempt = Attempt { of: self, account, address, counted: Vec::new() };
        let mut limits = vec![(&self.addresses, self.addresses.key(network(address)))];
        if !self.known.contains_key(&(account, address)) {
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
}

impl Attempt<'_> {
    /// It was the right password: the try does not count, and the address is known from now on.
    pub async fn succeeded(self) {
        self.give_back();
        self.of.known.insert((self.account, self.address), ()).await;
    }

    /// It was right, but more is asked for: the try does not count, and the address is not known yet.
    pub fn passed(self) {
        self.give_back();
    }

    fn give_back(&self) {
        self.counted.iter().for_each(|(limit, key)| limit.cells.give_back(*key));
    }
}

/// One person has as many addresses of IPv6 as they want, but one network.
fn network(address: IpAddr) -> IpAddr {
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
    fn new(clock: Clock) -> Self {
        let cells = Cells((0..CELLS).map(|_| AtomicU64::new(0)).collect());
        let quota = Quota::per_minute(PER_MINUTE).allow_burst(BURST);
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

/// When each key may try again, in nanoseconds.
#[derive(Clone)]
struct Cells(Arc<[AtomicU64]>);

impl Cells {
    fn of(&self, key: u64) -> &AtomicU64 {
        &self.0[key as usize % CELLS]
    }

    fn give_back(&self, key: u64) {
        let earlier = |at: u64| Some(at.saturating_sub(ONE_TRY));
        // It never fails: there is always a value.
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

/// The panel's clock, as the limiter wants it.
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
