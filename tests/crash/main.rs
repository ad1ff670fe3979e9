//! `docket serve` is killed at random moments while several people post prompts, and restarted on the same database:
//! every prompt ends accepted, rejected or unknown, and none reaches the upstream twice. `make test` runs a few rounds,
//! `make crash` three hundred.
//!
//! The seed determines what people do, how the upstream behaves and when the process is killed, but not the
//! interleaving of threads: runs with the same seed are similar, not identical. Must not use Docket's own types: it
//! checks the responses of the process and the content of its database.

#![expect(clippy::print_stdout, reason = "it reports what it has checked")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed check")]

#[path = "../databases/mod.rs"]
mod databases;
mod people;
mod random;
mod server;
mod upstream;
mod verdict;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use people::{Book, People};
use random::Random;
use server::Server;
use upstream::Upstream;

/// The default number of rounds, as in `make test`.
const FEW_ROUNDS: u64 = 15;
const PEOPLE: u64 = 6;

/// One kill in this many happens while the process is still starting.
const KILLED_WHILE_STARTING: u64 = 8;

#[tokio::main]
async fn main() -> ExitCode {
    // Tools ask for a list of tests; there is none.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let rounds = number("CRASH_ROUNDS").unwrap_or(FEW_ROUNDS);
    let seed = number("CRASH_SEED").unwrap_or(4);
    println!("\n{rounds} kills, SEED={seed}");
    let began = Instant::now();
    let upstream = Upstream::start(Random::of(seed, 0)).await;
    let mut server = Server::new(&upstream.url()).await;
    server.start().await;
    server.sign_in().await;
    let book = Arc::new(Book::default());
    let people = People::begin(PEOPLE, seed, &server, &book);
    kill(&mut server, rounds, &mut Random::of(seed, 1)).await;
    people.end().await;
    server.settled().await;
    let verdict = verdict::on(&server, &upstream, &book, rounds).await;
    println!("{} s", began.elapsed().as_secs());
    server.stop();
    verdict.end()
}

/// Kills the process `rounds` times; it is running afterwards.
async fn kill(server: &mut Server, rounds: u64, random: &mut Random) {
    for round in 1..=rounds {
        tokio::time::sleep(Duration::from_millis(random.below(400))).await;
        server.kill().await;
        if random.one_in(KILLED_WHILE_STARTING) {
            server.spawn();
            tokio::time::sleep(Duration::from_millis(random.below(60))).await;
            server.kill().await;
        }
        server.start().await;
        if round % 50 == 0 {
            println!("    {round} rounds");
        }
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a whole number, not “{text}”")))
}
