//! Refused requests in the audit log. The first ones of each network in an hour are recorded at once. The others are counted in memory, and the
//! counts are written each minute: otherwise a refused request costs more than an admitted one, because each commit waits for the disk.
//!
//! Limits of attempts are not counted here: they are in the database, for all processes (`attempts`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::attempts::network;
use super::refusal_pace::RefusalPace;
use base::clock::Clock;
use base::tasks::{Task, Tasks};
use model::audit::{Action, Actor, AuditEvent, ROWS_OF_AN_HOUR};
use model::time::Timestamp;
use store::audit::Refused;
use store::{Store, StoreError};

/// How many refusals of one network are recorded at once in an hour, and how many of all networks.
const AT_ONCE_OF_NETWORK: u32 = ROWS_OF_AN_HOUR;
const AT_ONCE: u32 = 500;

const HOUR: Duration = Duration::from_secs(3_600);

/// The interval of writing the counts.
const WRITE_EVERY: Duration = Duration::from_secs(60);

/// How many counts have an actor and a client IP of their own. Beyond that, the actors share one for all their IPs; beyond twice as many, all do.
const COUNTS_MAX: usize = 200;

/// Clones share their state.
#[derive(Clone)]
pub struct RefusalRecord {
    store: Store,
    clock: Clock,
    tasks: Tasks,
    refusals: Arc<Mutex<Refusals>>,
    pace: RefusalPace,
    /// The refusals that are being recorded.
    recording: TaskTracker,
    /// Cancelled when the process receives a stop signal: no response waits any longer.
    leaving: CancellationToken,
}

#[derive(Default)]
struct Refusals {
    hour_began: Duration,
    /// The number recorded at once in this hour, in all and by network.
    at_once: u32,
    networks: HashMap<IpAddr, u32>,
    /// What is to be written.
    counts: HashMap<(Actor, Action), Count>,
}

#[derive(Clone, Copy)]
struct Count {
    number: u64,
    since: Timestamp,
}

impl RefusalRecord {
    pub fn new(store: Store, clock: Clock, tasks: Tasks, leaving: CancellationToken) -> Self {
        let (refusals, pace, recording) = (Arc::default(), RefusalPace::default(), TaskTracker::new());
        Self { store, clock, tasks, refusals, pace, recording, leaving }
    }

    /// Records a refused request, at once or as part of a count. A failure does not change the response: the refusal is counted, and written later.
    /// Waits during a flood.
    pub async fn note(&self, by: &Actor, event: &AuditEvent) {
        self.add(by, event).await;
        self.leaving.run_until_cancelled(self.pace.keep(network_of(by))).await;
    }

    async fn add(&self, by: &Actor, event: &AuditEvent) {
        let count = Count { number: 1, since: self.clock.now() };
        if !self.refusals.lock().is_at_once(by, self.clock.elapsed()) {
            self.refusals.lock().count(by, event.action, count);
            return;
        }
        // A task of its own: a client that leaves ends its request, but not the record of it.
        let (record, by, event) = (self.clone(), by.clone(), event.clone());
        let recorded = self.recording.spawn(
            async move {
                let refused = Refused::One { by: by.clone(), event: event.clone() };
                if let Err(error) = record.store.record_refused(&[refused], count.since).await {
                    tracing::error!(%error, "a refused request could not be recorded");
                    record.refusals.lock().count(&by, event.action, count);
                }
            }
            .in_current_span(),
        );
        if let Err(error) = recorded.await {
            tracing::error!(%error, "the record of a refused request failed");
        }
    }

    /// Writes the counts each minute until `stop`, and once more then.
    pub async fn run(&self, stop: CancellationToken) {
        self.tasks.supervise(Task::Refusals, &stop, || self.write_until(&stop)).await;
        self.recording.close();
        self.recording.wait().await;
        if let Err(error) = self.write().await {
            tracing::error!(%error, "the last refused requests could not be recorded");
        }
    }

    async fn write_until(&self, stop: &CancellationToken) {
        let mut tick = tokio::time::interval(WRITE_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            self.tasks.pass("refusals");
            match self.write().await {
                Ok(()) => self.tasks.succeeded(Task::Refusals),
                Err(error) => self.tasks.failed(Task::Refusals, error),
            }
        }
    }

    /// Writes all counts in one transaction. They remain if that fails.
    pub async fn write(&self) -> Result<(), StoreError> {
        let counts = std::mem::take(&mut self.refusals.lock().counts);
        if counts.is_empty() {
            return Ok(());
        }
        let refused = counts.iter().map(|((by, action), count)| Refused::Many {
            by: by.clone(),
            action: *action,
            number: count.number,
            since: count.since,
        });
        let refused: Vec<Refused> = refused.collect();
        let written = self.store.record_refused(&refused, self.clock.now()).await;
        if written.is_err() {
            let mut refusals = self.refusals.lock();
            for ((by, action), count) in counts {
                refusals.count(&by, action, count);
            }
        }
        written
    }
}

/// The network of a request. All without a client IP count as one.
fn network_of(by: &Actor) -> IpAddr {
    by.client_ip.parse().map_or(IpAddr::from([0, 0, 0, 0]), network)
}

impl Refusals {
    /// Whether the next refusal of `by` is recorded at once. It counts as recorded then.
    fn is_at_once(&mut self, by: &Actor, now: Duration) -> bool {
        if now.saturating_sub(self.hour_began) >= HOUR {
            (self.hour_began, self.at_once) = (now, 0);
            self.networks.clear();
        }
        if self.at_once >= AT_ONCE {
            return false;
        }
        let of_network = self.networks.entry(network_of(by)).or_default();
        if *of_network >= AT_ONCE_OF_NETWORK {
            return false;
        }
        *of_network += 1;
        self.at_once += 1;
        true
    }

    fn count(&mut self, by: &Actor, action: Action, count: Count) {
        let without_ip = || Actor { client_ip: String::new(), ..by.clone() };
        let wanted = [by.clone(), without_ip(), Actor::unknown("")];
        for (level, by) in (1..).zip(wanted) {
            let has_room = level == 3 || self.counts.len() < level * COUNTS_MAX;
            match self.counts.entry((by, action)) {
                Entry::Occupied(mut counted) => {
                    let counted = counted.get_mut();
                    counted.number += count.number;
                    counted.since = counted.since.min(count.since);
                    return;
                }
                Entry::Vacant(free) if has_room => {
                    free.insert(count);
                    return;
                }
                Entry::Vacant(_) => {}
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    fn of(user: usize, ip: usize) -> Actor {
        Actor {
            id: format!("user {user}"),
            name: format!("user {user}"),
            client_ip: format!("2001:db8:0:{ip:x}::1"),
        }
    }

    #[test]
    fn first_refusals_of_a_network_are_recorded_at_once_each_hour() {
        let mut refusals = Refusals::default();
        let mut at_once = |from: &str, minute: u64| {
            let now = Duration::from_secs(60 * minute);
            (0..1_000).filter(|_| refusals.is_at_once(&Actor::unknown(from), now)).count()
        };
        assert_eq!(at_once("192.0.2.1", 0), 20);
        assert_eq!((at_once("2001:db8::1", 1), at_once("2001:db8::2", 1)), (20, 0), "one network");
        assert_eq!((at_once("192.0.2.1", 59), at_once("192.0.2.1", 60)), (0, 20));
        let all: usize = (0..100).map(|n| at_once(&format!("198.51.100.{n}"), 61)).sum();
        assert_eq!(all, 500 - 20);
        assert!(refusals.networks.len() <= 500);
    }

    #[test]
    fn counts_are_limited_and_none_is_lost() {
        let mut refusals = Refusals::default();
        for n in 0..10_000 {
            refusals.count(
                &of(n % 1_000, n),
                Action::Denied,
                Count { number: 2, since: NOON.plus_seconds(n as i64) },
            );
        }
        assert!(refusals.counts.len() <= 2 * COUNTS_MAX + 1, "{}", refusals.counts.len());
        assert_eq!(refusals.counts.values().map(|count| count.number).sum::<u64>(), 20_000);
        let own = &refusals.counts[&(of(7, 7), Action::Denied)];
        assert_eq!((own.number, own.since), (2, NOON.plus_seconds(7)));
        let shared = Actor { client_ip: String::new(), ..of(207, 0) };
        assert!(refusals.counts[&(shared, Action::Denied)].number > 2);
    }

    #[tokio::test]
    async fn counts_remain_while_the_database_refuses_them() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("docket.db").display());
        let store = Store::open(&url).await.unwrap();
        let clock = Clock::frozen(NOON);
        let to_read = Store::open_to_read(&url).await.unwrap();
        let record =
            RefusalRecord::new(to_read, clock.clone(), Tasks::new(clock.clone()), CancellationToken::new());
        for _ in 0..30 {
            record.note(&Actor::unknown("192.0.2.1"), &AuditEvent::new(Action::Denied).refused()).await;
        }
        assert!(record.write().await.is_err());
        let record = RefusalRecord { store: store.clone(), ..record };
        record.write().await.unwrap();
        record.write().await.unwrap();
        let counts = store.audit_counts().await.unwrap();
        assert_eq!(counts.iter().map(|count| count.count).collect::<Vec<_>>(), [30]);
    }
}
