//! `docket serve` is killed at random moments while several users post prompts, and restarted on the same database:
//! every prompt ends accepted, rejected or unknown, and none reaches the upstream twice. On PostgreSQL three processes
//! share the database, and requests alternate between them. There the database server also crashes, all processes are replaced one
//! by one, the network between one of them and the database stalls, and replies to commits are lost. `make test` runs a few rounds, `make crash` three hundred.
//!
//! The seed determines what users do, how the upstream behaves and when the process is killed, but not the
//! interleaving of threads: runs with the same seed are similar, not identical. The tests must not use Docket's own
//! types: they check the responses of the process and the content of its database.

#![expect(clippy::print_stdout, reason = "it reports what it has checked")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed check")]

#[path = "../databases/mod.rs"]
mod databases;
mod people;
mod postgres;
mod random;
mod sending;
mod server;
mod upstream;
mod verdict;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use people::{Book, People};
use random::Random;
use sending::Sending;
use server::Server;
use upstream::Upstream;

/// The default number of rounds, as in `make test`.
const FEW_ROUNDS: u64 = 15;
const PEOPLE: u64 = 6;

/// One round in this many kills a process while it sends; in the others the time is random.
const AT_A_BAD_MOMENT: u64 = 7;
/// How long the network between a process and the database stalls, in a long run and in a short one.
const LONG_STALL: Duration = Duration::from_secs(30);
const SHORT_STALL: Duration = Duration::from_secs(4);

/// After this many rounds nothing is disturbed for a while, which is long enough to end every delivery.
const BETWEEN_CALMS: u64 = 100;
const CALM: Duration = Duration::from_secs(75);

/// One kill in this many happens while the process is still starting.
const KILLED_WHILE_STARTING: u64 = 8;

#[tokio::main]
async fn main() -> ExitCode {
    // Tools request a list of tests; there is none.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let rounds = number("CRASH_ROUNDS").unwrap_or(FEW_ROUNDS);
    let seed = number("CRASH_SEED").unwrap_or(4);
    println!("\n{rounds} rounds, SEED={seed}");
    let began = Instant::now();
    let upstream = Upstream::start(Random::of(seed, 0)).await;
    let mut server = Server::new(&upstream.url()).await;
    for replica in 0..server.replicas() {
        server.start(replica).await;
    }
    server.sign_in().await;
    server.lose_commits();
    let book = Arc::new(Book::default());
    let sending = Sending::watch(server.url());
    let people = People::begin(PEOPLE, seed, &server, &book);
    let stall = if rounds > FEW_ROUNDS { LONG_STALL } else { SHORT_STALL };
    disturb(&mut server, &upstream, &sending, rounds, stall, &mut Random::of(seed, 1)).await;
    sending.set_calm(true);
    people.end().await;
    server.until_idle().await;
    let stuck = sending.too_long();
    let verdict = verdict::on(&server, &upstream, &book, stuck, rounds).await;
    println!("{} s", began.elapsed().as_secs());
    if !verdict.is_good() {
        server.errors().iter().for_each(|line| println!("{line}"));
    }
    server.stop();
    verdict.end()
}

/// Kills a process `rounds` times. If several share a database, it also disturbs one of them, all of them or the database in other
/// ways. All are running afterwards.
async fn disturb(
    server: &mut Server,
    upstream: &Upstream,
    sending: &Sending,
    rounds: u64,
    stall: Duration,
    random: &mut Random,
) {
    for round in 1..=rounds {
        tokio::time::sleep(Duration::from_millis(random.below(400))).await;
        if round.is_multiple_of(AT_A_BAD_MOMENT) {
            kill_sending(server, upstream).await;
            continue;
        }
        let replica = random.below(server.replicas() as u64) as usize;
        match random.below(20) {
            0 if server.replicas() > 1 => {
                server.stall_network(replica, true);
                tokio::time::sleep(stall).await;
                server.stall_network(replica, false);
            }
            1..=3 if server.replicas() > 1 => server.restart_database(),
            4..=6 if server.replicas() > 1 => {
                for replica in 0..server.replicas() {
                    server.end(replica).await;
                    server.start(replica).await;
                }
            }
            _ => kill(server, replica, random).await,
        }
        if round.is_multiple_of(50) {
            println!("    {round} rounds");
        }
        if round.is_multiple_of(BETWEEN_CALMS) {
            sending.set_calm(true);
            tokio::time::sleep(CALM).await;
            sending.set_calm(false);
        }
    }
}

/// Kills a process while it sends a prompt.
async fn kill_sending(server: &mut Server, upstream: &Upstream) {
    let sender = server.replica_with_key(&upstream.pause_one().await);
    server.kill(sender);
    upstream.resume();
    server.start(sender).await;
}

/// Kills a process, and starts it again.
async fn kill(server: &mut Server, replica: usize, random: &mut Random) {
    server.kill(replica);
    if random.one_in(KILLED_WHILE_STARTING) {
        server.spawn(replica);
        tokio::time::sleep(Duration::from_millis(random.below(60))).await;
        server.kill(replica);
    }
    server.start(replica).await;
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a whole number, not “{text}”")))
}
