//! The queue in front of password hashing, which needs a core and much memory for each password. Two threads hash and
//! reuse their memory. At most [`WAITING_MAX`] passwords wait, for a limited time.
//!
//! The queue is fair: known clients go first, then those whose network was served least recently. A network is a /24 of
//! IPv4, or for IPv6 a /48, a /56 within it, and a /64 within that. A full queue refuses the last in that order.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use argon2::Block;
use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::oneshot;

use base::allocator;

/// More than two at once would slow down pages.
const AT_ONCE: usize = 2;
/// A few seconds of work.
const WAITING_MAX: usize = 200;
/// How long a thread keeps its memory without work.
const IDLE: Duration = Duration::from_secs(10);
/// How long served requests of a network count against it.
const SERVED_FOR: Duration = Duration::from_secs(60);

/// The client whose password is to be hashed.
#[derive(Debug, Clone, Copy)]
pub struct Requester {
    /// Whether the client has a session, a valid link, or an IP from which the person signed in recently.
    known: bool,
    networks: [IpAddr; 3],
}

/// Too many passwords are waiting.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// Reused memory for hashing. It is returned to the system on drop: otherwise the allocator divides it into many small blocks.
#[derive(Default)]
pub(super) struct Memory(pub(super) Vec<Block>);

impl Drop for Memory {
    fn drop(&mut self) {
        self.0 = Vec::new();
        allocator::purge();
    }
}

type Work = Box<dyn FnOnce(&mut Memory) + Send>;

pub(super) struct Hashing(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    arrival: Condvar,
    waiting_max: usize,
    deadline: Duration,
}

#[derive(Default)]
struct Queue {
    /// In the order of arrival.
    waiting: Vec<Waiting>,
    arrivals: u64,
    threads: usize,
    idle: usize,
    served: HashMap<IpAddr, u32>,
    served_since: Option<Instant>,
}

struct Waiting {
    number: u64,
    requester: Requester,
    work: Work,
}

impl Requester {
    pub fn new(client_ip: IpAddr, known: bool) -> Self {
        let networks = match client_ip {
            IpAddr::V4(client_ip) => [IpAddr::V4(Ipv4Addr::from(u32::from(client_ip) >> 8 << 8)); 3],
            IpAddr::V6(client_ip) => {
                [80, 72, 64].map(|bits| IpAddr::V6(Ipv6Addr::from(u128::from(client_ip) >> bits << bits)))
            }
        };
        Self { known, networks }
    }
}

impl Hashing {
    /// `deadline`: how long a password waits for others.
    pub(super) fn new(deadline: Duration) -> Self {
        Self::with(WAITING_MAX, deadline)
    }

    fn with(waiting_max: usize, deadline: Duration) -> Self {
        let (queue, arrival) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { queue, arrival, waiting_max, deadline }))
    }

    /// Runs `work` when it is first in the queue. Waits for work that has begun. Drops waiting work if the caller is
    /// cancelled.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&mut Memory) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let (done, mut outcome) = oneshot::channel();
        let number = self.add(requester, Box::new(move |memory| drop(done.send(work(memory)))));
        let position = QueueEntry { shared: &self.0, number };
        if let Ok(outcome) = tokio::time::timeout(self.0.deadline, &mut outcome).await {
            return outcome.map_err(|_| Busy);
        }
        drop(position);
        outcome.await.map_err(|_| Busy)
    }

    /// Adds work. If the queue is too long then, drops the last in order.
    fn add(&self, requester: Requester, work: Work) -> u64 {
        let shared = &self.0;
        let mut queue = shared.lock();
        let number = queue.arrivals;
        queue.arrivals += 1;
        queue.waiting.push(Waiting { number, requester, work });
        if queue.waiting.len() > shared.waiting_max {
            queue.take_last();
        }
        if queue.idle == 0 && queue.threads < AT_ONCE {
            let thread = shared.clone();
            let started = thread::Builder::new().name("hashing".to_owned()).spawn(move || thread.work());
            match started {
                Ok(_) => queue.threads += 1,
                Err(error) => tracing::error!(%error, "no thread for passwords could be started"),
            }
        }
        shared.arrival.notify_one();
        number
    }
}

/// A position in the queue, freed on drop.
struct QueueEntry<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        self.shared.lock().waiting.retain(|waiting| waiting.number != self.number);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    /// The loop of a thread, which ends after some time without work.
    fn work(&self) {
        let mut memory = Memory::default();
        while let Some(work) = self.next() {
            // After a panic, the waiting caller gets an error because the channel is closed.
            let _ = catch_unwind(AssertUnwindSafe(|| work(&mut memory)));
        }
    }

    fn next(&self) -> Option<Work> {
        let mut queue = self.lock();
        loop {
            if let Some(waiting) = queue.take_first() {
                queue.count(&waiting.requester);
                return Some(waiting.work);
            }
            queue.idle += 1;
            let waited = self.arrival.wait_for(&mut queue, IDLE);
            queue.idle -= 1;
            if waited.timed_out() && queue.waiting.is_empty() {
                queue.threads -= 1;
                return None;
            }
        }
    }
}

/// The position in the order: smaller goes first. Among equals, the newest goes first, because its client has the most
/// time left.
type Rank = (bool, [(u32, u32); 3], Reverse<u64>);

impl Queue {
    fn take_first(&mut self) -> Option<Waiting> {
        let (_, at) = self.ranks().into_iter().min()?;
        Some(self.waiting.remove(at))
    }

    fn take_last(&mut self) -> Option<Waiting> {
        let (_, at) = self.ranks().into_iter().max()?;
        Some(self.waiting.remove(at))
    }

    /// The rank of each waiting entry, with its index.
    fn ranks(&self) -> Vec<(Rank, usize)> {
        let mut waiting_by_network: HashMap<(usize, IpAddr), u32> = HashMap::new();
        for waiting in &self.waiting {
            for network in waiting.requester.networks.into_iter().enumerate() {
                *waiting_by_network.entry(network).or_default() += 1;
            }
        }
        let rank = |waiting: &Waiting| {
            let networks = waiting.requester.networks;
            let share = |level: usize| {
                let network = networks[level];
                let served = self.served.get(&network).copied().unwrap_or_default();
                (served, waiting_by_network.get(&(level, network)).copied().unwrap_or_default())
            };
            (!waiting.requester.known, [share(0), share(1), share(2)], Reverse(waiting.number))
        };
        self.waiting.iter().enumerate().map(|(at, waiting)| (rank(waiting), at)).collect()
    }

    fn count(&mut self, requester: &Requester) {
        let now = Instant::now();
        if self.served_since.is_none_or(|since| now.duration_since(since) > SERVED_FOR) {
            self.served.clear();
            self.served_since = Some(now);
        }
        let mut counted = Vec::with_capacity(3);
        for network in requester.networks {
            if !counted.contains(&network) {
                *self.served.entry(network).or_default() += 1;
                counted.push(network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use futures::future::join_all;

    use super::*;

    fn from(client_ip: &str) -> Requester {
        Requester::new(client_ip.parse().expect("an address"), false)
    }

    /// A queue whose threads are blocked until the returned senders are dropped.
    async fn blocked(waiting_max: usize, deadline: Duration) -> (Arc<Hashing>, Vec<mpsc::Sender<()>>) {
        let hashing = Arc::new(Hashing::with(waiting_max, deadline));
        let mut blocked = Vec::new();
        for _ in 0..AT_ONCE {
            let (release, released) = mpsc::channel::<()>();
            let (begun, has_begun) = oneshot::channel();
            let hashing = hashing.clone();
            tokio::spawn(async move {
                let work = move |_: &mut Memory| {
                    let _ = begun.send(());
                    let _ = released.recv_timeout(Duration::from_secs(120));
                };
                hashing.run(from("127.0.0.1"), work).await
            });
            has_begun.await.expect("it begins");
            blocked.push(release);
        }
        (hashing, blocked)
    }

    /// The order in which a blocked queue serves `requesters`, which arrived in this order; `None` for a refused one.
    async fn order(waiting_max: usize, requesters: &[Requester]) -> Vec<Option<usize>> {
        let (hashing, mut blocked) = blocked(waiting_max, Duration::from_secs(60)).await;
        let served = Arc::new(AtomicUsize::new(0));
        let mut waiting = Vec::new();
        for requester in requesters {
            let (hashing, served, requester) = (hashing.clone(), served.clone(), *requester);
            let before = hashing.0.lock().arrivals;
            waiting.push(tokio::spawn({
                let hashing = hashing.clone();
                async move { hashing.run(requester, move |_| served.fetch_add(1, Ordering::SeqCst)).await.ok() }
            }));
            while hashing.0.lock().arrivals == before {
                tokio::task::yield_now().await;
            }
        }
        // With one thread, the order of execution is the order of selection.
        blocked.pop();
        let order = join_all(waiting).await.into_iter().map(|served| served.expect("it ends")).collect();
        drop(blocked);
        order
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn at_most_two_hash_at_once_and_reuse_memory() {
        let hashing = Hashing::new(Duration::from_secs(60));
        let (now, most, grown) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let all = (0..20).map(|_| {
            let (now, most, grown) = (now.clone(), most.clone(), grown.clone());
            hashing.run(from("127.0.0.1"), move |memory| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                if memory.0.is_empty() {
                    grown.fetch_add(1, Ordering::SeqCst);
                    memory.0.resize(8, Block::default());
                }
                thread::sleep(Duration::from_millis(5));
                now.fetch_sub(1, Ordering::SeqCst);
            })
        });
        assert!(join_all(all).await.into_iter().all(|outcome| outcome.is_ok()));
        assert!(most.load(Ordering::SeqCst) <= 2, "{most:?} at once");
        assert!(grown.load(Ordering::SeqCst) <= 2, "memory was made {grown:?} times");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn known_clients_and_quiet_networks_go_first() {
        let crowd = [from("192.0.2.1"), from("192.0.2.2"), from("192.0.2.3")];
        let known = Requester::new(crowd[0].networks[0], true);
        let requesters = [crowd[0], crowd[1], crowd[2], from("198.51.100.1"), known];
        let order = order(10, &requesters).await;
        assert_eq!(order[4], Some(0), "known: {order:?}");
        assert_eq!(order[3], Some(1), "quiet: {order:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn networks_of_ipv6_share_on_three_levels() {
        // Two /48; the first has a /56 with two /64, one of them with two addresses.
        let requesters = [
            from("2001:db8:1:100::1"),
            from("2001:db8:1:100::2"),
            from("2001:db8:1:101::1"),
            from("2001:db8:1:200::1"),
            from("2001:db8:2::1"),
        ];
        let order = order(10, &requesters).await;
        assert_eq!(order[4], Some(0), "{order:?}");
        assert_eq!(order[3], Some(1), "{order:?}");
        assert_eq!(order[2], Some(2), "{order:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn full_queue_refuses_the_busiest_network() {
        let crowd: Vec<Requester> = (0..10).map(|last| from(&format!("192.0.2.{last}"))).collect();
        let requesters = [crowd.as_slice(), &[from("198.51.100.1")]].concat();
        let order = order(4, &requesters).await;
        assert_eq!(order.iter().flatten().count(), 4, "{order:?}");
        assert_eq!(order[10], Some(0), "{order:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn waiting_ends_at_the_deadline_or_when_cancelled() {
        let (hashing, blocked) = blocked(10, Duration::from_millis(50)).await;
        assert_eq!(hashing.run(from("127.0.0.1"), |_| ()).await, Err(Busy));
        assert!(hashing.0.lock().waiting.is_empty());
        let left =
            tokio::time::timeout(Duration::from_millis(5), hashing.run(from("127.0.0.1"), |_| ())).await;
        assert!(left.is_err() && hashing.0.lock().waiting.is_empty());
        drop(blocked);
        assert_eq!(hashing.run(from("127.0.0.1"), |_| 7).await, Ok(7));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn panic_ends_only_its_own_work() {
        let hashing = Hashing::with(10, Duration::from_secs(60));
        for _ in 0..AT_ONCE {
            assert_eq!(hashing.run(from("127.0.0.1"), |_| panic!("of the test")).await, Err::<(), _>(Busy));
        }
        assert_eq!(hashing.run(from("127.0.0.1"), |_| 7).await, Ok(7));
    }
}
