//! The invariants at the end, and a summary. Ends like Rust's own tests, so that one count covers both.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::process::ExitCode;

use sqlx::{AnyConnection, Row};

use super::databases::is_postgres;
use super::people::{Book, Entry};
use super::server::Server;
use super::upstream::{Seen, Upstream};

pub(crate) struct Verdict {
    passed: usize,
    broken: usize,
}

/// A prompt in the database.
struct Message {
    prompt: String,
    job: String,
    state: String,
}

pub(crate) async fn on(
    server: &Server,
    upstream: &Upstream,
    book: &Book,
    stuck: Vec<String>,
    rounds: u64,
) -> Verdict {
    let mut ledger = server.ledger().await;
    let integrity = integrity(&mut ledger).await;
    let rows =
        sqlx::query("SELECT prompt, job_id, state FROM messages").fetch_all(&mut ledger).await.unwrap();
    let messages: Vec<Message> = rows
        .iter()
        .map(|row| Message { prompt: row.get("prompt"), job: row.get("job_id"), state: row.get("state") })
        .collect();
    let (seen, people) = (upstream.prompts(), book.entries());
    summarise(&messages, &seen, &people, rounds);

    let mut verdict = Verdict { passed: 0, broken: 0 };
    verdict.none("the database is sound", integrity);
    verdict.none("the chain of the audit log is whole", server.audit_faults());
    verdict.none("every prompt has ended", unended(&messages));
    verdict.none("no prompt came upstream twice", twice(&seen));
    verdict.none("nothing was sent that is not in the ledger", unrecorded(&messages, &seen));
    verdict.none(
        "nothing that was answered is lost, and every response named one job",
        lost(&messages, &people),
    );
    verdict.none("accepted prompts were received, and rejected prompts were not", untrue(&messages, &seen));
    verdict.none("every form got a response that forms can get", strange(&people));
    if let Some(lost) = server.lost_commits() {
        println!("{lost} replies to COMMIT were lost");
        verdict.none("replies to commits were lost", (lost == 0).then(|| "none was".to_owned()));
    }
    verdict.none("no prompt was being sent for more than a minute", stuck);
    let harmless = interrupted(&messages, &seen).count() == 0;
    verdict.none("the kills came while prompts were on their way", harmless.then(|| "none did".to_owned()));
    verdict
}

/// The database's own report of its errors.
async fn integrity(ledger: &mut AnyConnection) -> Vec<String> {
    let check = if is_postgres() {
        "SELECT CAST(indexrelid::regclass AS TEXT) FROM pg_index WHERE NOT (indisvalid AND indisready)"
    } else {
        "PRAGMA integrity_check"
    };
    let mut lines: Vec<String> = sqlx::query_scalar(check).fetch_all(ledger).await.unwrap();
    lines.retain(|line| line != "ok");
    lines
}

fn summarise(
    messages: &[Message],
    seen: &HashMap<String, Seen>,
    people: &HashMap<String, Entry>,
    rounds: u64,
) {
    let mut states = BTreeMap::<&str, usize>::new();
    messages.iter().for_each(|message| *states.entry(&message.state).or_default() += 1);
    let states: Vec<String> = states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let forms: u64 = people.values().map(|entry| entry.posts).sum();
    let posts: u64 = seen.values().map(|seen| seen.posts).sum();
    println!("\n{rounds} rounds; {} prompts, posted {forms} times by people", people.len());
    println!("{} in the ledger: {}", messages.len(), states.join(", "));
    println!("{posts} came upstream; {} were cut off by a kill", interrupted(messages, seen).count());
    println!("{} never reached the ledger and were never sent\n", people.len() - messages.len());
}

/// Prompts whose outcome can be unknown only because of a kill.
fn interrupted<'a>(
    messages: &'a [Message],
    seen: &'a HashMap<String, Seen>,
) -> impl Iterator<Item = &'a Message> {
    let cut_off = |message: &&Message| seen.get(&message.prompt).is_none_or(|seen| seen.well);
    messages.iter().filter(|message| message.state == "unknown").filter(cut_off)
}

fn unended(messages: &[Message]) -> impl Iterator<Item = String> {
    let ends = ["accepted", "rejected", "unknown"];
    let rest = messages.iter().filter(move |message| !ends.contains(&message.state.as_str()));
    rest.map(|message| format!("{} is {}", message.prompt, message.state))
}

fn twice(seen: &HashMap<String, Seen>) -> impl Iterator<Item = String> {
    let often = seen.iter().filter(|(_, seen)| seen.posts > 1);
    often.map(|(prompt, seen)| format!("{prompt} came {} times", seen.posts))
}

fn unrecorded(messages: &[Message], seen: &HashMap<String, Seen>) -> impl Iterator<Item = String> {
    let recorded: HashSet<&str> = messages.iter().map(|message| message.prompt.as_str()).collect();
    seen.keys().filter(move |prompt| !recorded.contains(prompt.as_str())).cloned()
}

fn lost(messages: &[Message], people: &HashMap<String, Entry>) -> Vec<String> {
    let mut problems = Vec::new();
    for (prompt, entry) in people {
        let mut named = entry.jobs.clone();
        named.sort();
        named.dedup();
        let recorded: Vec<&str> = messages
            .iter()
            .filter(|message| message.prompt == *prompt)
            .map(|message| message.job.as_str())
            .collect();
        if recorded.len() > 1 || (!named.is_empty() && named != recorded) {
            problems.push(format!("{prompt}: responses named {named:?}, the ledger holds {recorded:?}"));
        }
    }
    problems
}

fn untrue(messages: &[Message], seen: &HashMap<String, Seen>) -> impl Iterator<Item = String> {
    let wrong = messages.iter().filter(|message| {
        let accepted = seen.get(&message.prompt).map_or(0, |seen| seen.accepted);
        matches!((message.state.as_str(), accepted), ("accepted", 0) | ("rejected", 1..))
    });
    wrong.map(|message| format!("{} is {}", message.prompt, message.state))
}

fn strange(people: &HashMap<String, Entry>) -> impl Iterator<Item = String> {
    people
        .iter()
        .flat_map(|(prompt, entry)| entry.strange.iter().map(move |text| format!("{prompt}: {text}")))
}

impl Verdict {
    /// An invariant that holds if there are no problems.
    fn none(&mut self, promise: &str, problems: impl IntoIterator<Item = String>) {
        let problems: Vec<String> = problems.into_iter().collect();
        if problems.is_empty() {
            println!("point {promise} ... ok");
            self.passed += 1;
            return;
        }
        println!("point {promise} ... FAILED, {} times", problems.len());
        problems.iter().take(10).for_each(|problem| println!("    {problem}"));
        self.broken += 1;
    }

    pub(crate) fn is_good(&self) -> bool {
        self.broken == 0
    }

    pub(crate) fn end(self) -> ExitCode {
        let (word, code) =
            if self.broken == 0 { ("ok", ExitCode::SUCCESS) } else { ("FAILED", ExitCode::FAILURE) };
        println!(
            "test result: {word}. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out\n",
            self.passed, self.broken
        );
        code
    }
}
