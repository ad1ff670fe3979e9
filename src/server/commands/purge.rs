//! `docket purge`: removes now what the daily retention would remove, or only counts it. Works while the server runs.

use anyhow::Context;

use crate::model::audit::Actor;
use crate::server::clock::Clock;
use crate::server::config::{Database, RetentionConfig};
use crate::server::retention::Retention;
use crate::server::store::Store;
use crate::server::store::retention::RowCounts;

pub async fn purge(database: &Database, config: RetentionConfig, dry_run: bool) -> anyhow::Result<()> {
    let store = match dry_run {
        true => Store::open_to_read(&database.url).await?,
        false => Store::open(&database.url).await?,
    };
    let retention = Retention::new(store.clone(), Clock::system(), config);
    let (counts, verb) = match dry_run {
        true => (retention.due().await, "would be removed"),
        false => (retention.remove(&Actor::command_line()).await, "removed"),
    };
    store.close().await;
    say(&table(&counts.context("reading what is old")?, verb));
    Ok(())
}

fn table(counts: &RowCounts, verb: &str) -> String {
    if counts.is_empty() {
        return format!("Nothing {verb}.");
    }
    let lines = counts.iter().map(|(table, rows)| format!("{rows:>10}  {table}\n"));
    format!("{}{:>10}  rows {verb}", lines.collect::<String>(), counts.values().sum::<u64>())
}

#[expect(clippy::print_stdout, reason = "it is what the command is asked for")]
fn say(text: &str) {
    println!("{text}");
}
