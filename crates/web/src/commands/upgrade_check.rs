//! `docket upgrade-check`: what this version would change in the database, and what to do first. Changes nothing.

use std::path::Path;

use anyhow::{Context, bail};
use serde::Serialize;

use base::clock::Clock;
use base::config::Database;
use client::output::{print_json, print_line};
use store::maintenance::upgrade::{PendingMigration, Upgrade};
use store::{Store, file_of, free_bytes};

/// The number of rows that migrations process in a second. Measured: 600,000 rows of a SQLite database with 50,000 jobs took 17 s, on
/// two busy cores.
const ROWS_PER_SECOND: u64 = 30_000;

/// The report, in the order of output.
#[derive(Serialize)]
struct Report {
    database: String,
    step: i64,
    newest_step: i64,
    pending: Vec<Pending>,
    /// Rows of all pending migrations.
    rows: u64,
    /// The approximate duration of all migrations.
    seconds: u64,
    rows_per_second: u64,
    bytes: u64,
    /// Space beside the file, for a backup and for the migration.
    needed_bytes: Option<u64>,
    free_bytes: Option<u64>,
    /// Processes that are using the database.
    processes: u64,
    /// Whether these processes cannot continue during the upgrade.
    stops_processes: bool,
    queued: u64,
    sending: u64,
    /// The command for a backup.
    backup: String,
    /// The reasons against the upgrade.
    against: Vec<String>,
    ready: bool,
}

#[derive(Serialize)]
struct Pending {
    step: i64,
    does: String,
    rows: u64,
    tables: Vec<String>,
}

/// Prints the report; fails if there are reasons against the upgrade.
pub async fn upgrade_check(database: &Database, as_json: bool) -> anyhow::Result<()> {
    let store = Store::open_to_read(&database.url).await?;
    let redacted_url = database.redacted_url().to_string();
    let upgrade = store.upgrade(Clock::system().now()).await;
    store.close().await;
    let upgrade = upgrade.with_context(|| format!("{redacted_url} cannot be upgraded"))?;
    let report = report(redacted_url, file_of(&database.url).as_deref(), upgrade)?;
    if as_json {
        print_json(&serde_json::to_string_pretty(&report)?);
    } else {
        report.print();
    }
    match report.against.as_slice() {
        [] => Ok(()),
        against => bail!("do not upgrade yet: {}", against.join("; ")),
    }
}

fn report(redacted_url: String, file: Option<&Path>, upgrade: Upgrade) -> anyhow::Result<Report> {
    let Upgrade { step, pending, bytes, processes, stops_processes, queued, sending } = upgrade;
    let newest_step = pending.last().map_or(step, |last| last.number).max(step);
    let rows = pending.iter().flat_map(|step| &step.tables).map(|(_, rows)| rows).sum::<u64>();
    let needed_bytes = file.filter(|_| !pending.is_empty()).map(|_| 2 * bytes);
    let free_bytes =
        file.map(free_bytes).transpose().context("how much room the disk has cannot be known")?;
    let mut against = Vec::new();
    if let (Some(needed), Some(free)) = (needed_bytes, free_bytes)
        && free < needed
    {
        against.push(format!("the disk has {} free, and {} are needed", size(free), size(needed)));
    }
    let backup = match file {
        Some(_) => "docket backup docket-before-upgrade.db".to_owned(),
        None => format!("pg_dump --format=custom --file=docket-before-upgrade.dump '{redacted_url}'"),
    };
    Ok(Report {
        database: redacted_url,
        step,
        newest_step,
        seconds: rows.div_ceil(ROWS_PER_SECOND),
        rows,
        rows_per_second: ROWS_PER_SECOND,
        pending: pending.into_iter().map(named).collect(),
        bytes,
        needed_bytes,
        free_bytes,
        processes,
        stops_processes,
        queued,
        sending,
        backup,
        ready: against.is_empty(),
        against,
    })
}

fn named(PendingMigration { number, does, tables }: PendingMigration) -> Pending {
    let rows = tables.iter().map(|(_, rows)| rows).sum();
    Pending { step: number, does, rows, tables: tables.into_iter().map(|(table, _)| table).collect() }
}

impl Report {
    fn print(&self) {
        let Self { database, step, newest_step, bytes, .. } = self;
        print_line(&format!("database  {database}: step {step} of {newest_step}, {}", size(*bytes)));
        for Pending { step, does, rows, tables } in &self.pending {
            print_line(&format!("step {step:<4} {does}"));
            if *rows > 0 {
                print_line(&format!("          goes through {rows} rows of {}", tables.join(", ")));
            }
        }
        if self.pending.is_empty() {
            print_line("READY     nothing is to be migrated");
            return;
        }
        print_line(&format!(
            "time      about {} s: {} rows at {} a second, as measured with 50,000 jobs on two busy cores",
            self.seconds.max(1),
            self.rows,
            self.rows_per_second
        ));
        if let (Some(needed), Some(free)) = (self.needed_bytes, self.free_bytes) {
            print_line(&format!(
                "room      {} beside the file, for a backup and what is written meanwhile; {} are free",
                size(needed),
                size(free)
            ));
        }
        print_line(&format!("prompts   {} wait in the queue, {} are being sent", self.queued, self.sending));
        match self.processes {
            0 => print_line("running   no `docket serve` uses it"),
            processes if self.stops_processes => print_line(&format!(
                "running   {processes} `docket serve` use it: stop them before the new version starts; they finish what they are sending first"
            )),
            processes => print_line(&format!(
                "running   {processes} `docket serve` use it: restart one after another, as in docs/deploy"
            )),
        }
        print_line(&format!("backup    {}", self.backup));
        if self.ready {
            print_line(
                "READY     make the backup, then start the new version, which migrates in one transaction",
            );
        }
    }
}

fn size(bytes: u64) -> String {
    const MEGABYTE: u64 = 1_000_000;
    match bytes {
        0..MEGABYTE => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{} MB", bytes.div_ceil(MEGABYTE)),
    }
}
