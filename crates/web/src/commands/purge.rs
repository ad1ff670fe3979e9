//! `docket purge`: removes now the data that the daily retention would remove, or only counts it. Works while the
//! server runs.

use anyhow::{Context, bail};

use crate::commands::print_line;
use base::clock::Clock;
use base::config::{Database, RetentionConfig};
use base::failures::Failures;
use base::instruments::Instruments;
use base::work::{Docket, Work};
use service::clock_check::{ClockCheck, ClockError};
use service::retention::Retention;
use store::Store;
use store::maintenance::retention::RowCounts;

/// The reason why nothing is removed, and what to do.
const CHECK_THE_TIME: &str = "nothing was removed. Check the time of this machine and of the database. If it is right, add --trust-clock";

pub struct Options {
    pub dry_run: bool,
    /// Whether the clock is right although it jumped ahead.
    pub trusts_clock: bool,
}

pub async fn purge(
    database: &Database,
    config: RetentionConfig,
    options: Options,
    docket: &Docket,
) -> anyhow::Result<()> {
    let store = match options.dry_run {
        true => Store::open_to_read(&database.url).await?,
        false => Store::open_within(&database.url, database.patience, database.copy).await?,
    };
    let clock = Clock::system();
    let work = docket.command("docket purge", clock.clone());
    let clock_check = ClockCheck::new(store.clone(), clock, Failures::default());
    let outcome = run(&store, clock_check, config, options, work).await;
    store.close().await;
    print_line(&outcome?);
    Ok(())
}

async fn run(
    store: &Store,
    clock_check: ClockCheck,
    config: RetentionConfig,
    options: Options,
    work: Work,
) -> anyhow::Result<String> {
    let instruments = Instruments::default();
    let retention = Retention::new(store.clone(), clock_check.clone(), config, instruments, work.clone());
    if options.dry_run {
        let due = retention.due().await.context("reading what is old")?;
        let (_, jump) = clock_check.inspect().await?;
        let note = jump.map(|jump| format!("\nNOTE  {}: {CHECK_THE_TIME}", ClockError::Jumped(jump)));
        return Ok(table(&due, "would be removed") + &note.unwrap_or_default());
    }
    if options.trusts_clock {
        clock_check.trust((&work).into()).await?;
    }
    match retention.remove().await {
        Ok(removed) => match retention.failures() {
            0 => Ok(table(&removed, "removed")),
            failures => {
                print_line(&table(&removed, "removed"));
                bail!("{failures} rows could not be removed; the lines above say why")
            }
        },
        Err(error @ ClockError::Jumped(_)) => Err(error).context(CHECK_THE_TIME),
        Err(error) => Err(error).context("removing what is old"),
    }
}

fn table(counts: &RowCounts, verb: &str) -> String {
    if counts.is_empty() {
        return format!("Nothing {verb}.");
    }
    let lines = counts.iter().map(|(table, rows)| format!("{rows:>10}  {table}\n"));
    format!("{}{:>10}  rows {verb}", lines.collect::<String>(), counts.values().sum::<u64>())
}
