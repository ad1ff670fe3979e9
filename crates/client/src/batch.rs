//! `docket batch`: starts, shows and cancels batches. A batch is the same prompt for many pages or other values, one job for each.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::Misconfigured;
use crate::connection::{Connection, parsed};
use crate::idempotency_key::IdempotencyKey;
use crate::job::{Common, PAUSE, ShownJob, Waiting, latest, or_unknown, read, text};
use crate::output::{StatusLine, in_one_line, inform, is_lost, print_json, print_line};
use crate::request::{ApiRequest, id};
use crate::{Outcome, project_or_only};
use model::links;

const VALUES: &str = "reading the values";

#[derive(Subcommand)]
pub enum BatchCommand {
    /// Start a batch: a job for each --values, or for each line of a file; prints its id, progress and address, and with --wait its end too
    ///
    /// Exits 0 if its prompts were queued (with --wait: if all jobs completed), 3 if a job failed, was rejected or cancelled, 4 if the outcome of a job is
    /// unknown, or whether Docket received the batch, 5 if not all jobs ended in time.
    Start(StartArguments),
    /// Show a batch and its jobs; exits 3 if a job failed, was rejected or cancelled, 4 if the outcome of a job is unknown
    Show {
        #[arg(value_parser = id)]
        batch: String,
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        waiting: Waiting,
    },
    /// Cancel the queued prompts of a batch; what was sent cannot be cancelled
    ///
    /// Exits 0 if none is queued any more, 4 if it is unknown whether Docket received the request.
    Cancel {
        #[arg(value_parser = id)]
        batch: String,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Args)]
#[command(group(ArgGroup::new("list").required(true).multiple(true).args(["values", "file"])))]
pub struct StartArguments {
    /// The prompt, with placeholders such as {{page}}; - reads standard input. Optional with --template
    #[arg(required_unless_present = "template")]
    prompt: Option<String>,
    #[command(flatten)]
    common: Common,
    /// The name of a template
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// The values of one job in the order of the placeholders, separated by commas: quotes stand around a value with a comma. May be repeated
    #[arg(long, value_name = "VALUES")]
    values: Vec<String>,
    /// A file with the values of one job on each line, before those of --values; - reads standard input. A first line with the names of the
    /// placeholders is no job
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Runs with the same key start the batch once: any text, such as the id of a CI run or release/v1.2.3 [default: a new key, which is printed]
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    key: Option<String>,
    #[command(flatten)]
    waiting: Waiting,
}

/// The fields of a batch that are printed. Without the scope `jobs:read`, a response has few of them.
#[derive(Deserialize)]
struct ShownBatch {
    id: String,
    ended: bool,
    progress: ShownProgress,
    #[serde(default)]
    items: Vec<ShownItem>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ShownProgress {
    jobs: u64,
    ended: u64,
    queued: u64,
    running: u64,
    completed: u64,
    failed: u64,
    rejected: u64,
    unknown: u64,
    cancelled: u64,
    archived: u64,
    other: u64,
    resolved: u64,
}

#[derive(Deserialize)]
struct ShownItem {
    #[serde(default)]
    values: BTreeMap<String, String>,
    job: Option<ShownJob>,
}

/// What a command shows and awaits.
struct Shown<'a> {
    project: &'a str,
    waiting: &'a Waiting,
    /// When the wait is over; `None` without one.
    until: Option<Instant>,
    as_json: bool,
}

pub(super) async fn batch(connection: &Connection, command: BatchCommand) -> anyhow::Result<Outcome> {
    or_unknown(run(connection, command).await)
}

async fn run(connection: &Connection, command: BatchCommand) -> anyhow::Result<Outcome> {
    match command {
        BatchCommand::Start(arguments) => start(connection, arguments).await,
        BatchCommand::Show { batch, common, waiting } => {
            let until = waiting.until();
            let project = project_or_only(connection, common.project, until).await?;
            let path = ["projects", &project, "batches", &batch];
            let body = connection.send(&ApiRequest::get(&path), until).await?;
            let shown = Shown { project: &project, waiting: &waiting, until, as_json: common.json };
            finish(connection, body, shown).await
        }
        BatchCommand::Cancel { batch, common } => {
            let project = project_or_only(connection, common.project, None).await?;
            let path = ["projects", &project, "batches", &batch, "cancel"];
            let body = connection.send(&ApiRequest::post(&path), None).await?;
            show(connection, &project, &body, common.json)?;
            Ok(Outcome::Done)
        }
    }
}

async fn start(connection: &Connection, arguments: StartArguments) -> anyhow::Result<Outcome> {
    let StartArguments { prompt, common, template, values, file, key, waiting } = arguments;
    if prompt.as_deref() == Some("-") && file.as_deref().is_some_and(is_stdin) {
        let wrong = "The prompt and the values cannot both be on standard input.";
        return Err(Misconfigured(wrong.to_owned()).into());
    }
    let prompt = prompt.map(text).transpose()?;
    // First: the server looks for the names of the placeholders in the first line of all.
    let mut lines = file.as_deref().map(lines_of).transpose()?.unwrap_or(Vec::new());
    lines.extend(values);
    let until = waiting.until();
    let project = project_or_only(connection, common.project, until).await?;
    let mut body = json!({ "values": lines });
    if let Some(prompt) = prompt {
        body["prompt"] = prompt.into();
    }
    if let Some(name) = template {
        // The server finds it, so that a repeated run does not need the template any more.
        body["template"] = json!({ "name": name });
    }
    let key = IdempotencyKey::of_run(key.as_deref());
    let request = ApiRequest::post(&["projects", &project, "batches"]).with_body(body, &key);
    let started = connection.send(&request, until).await?;
    let shown = Shown { project: &project, waiting: &waiting, until, as_json: common.json };
    finish(connection, started, shown).await
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The lines of a file that are not empty.
fn lines_of(file: &Path) -> anyhow::Result<Vec<String>> {
    let list = match is_stdin(file) {
        true => read(std::io::stdin(), VALUES)?,
        false => read(File::open(file).with_context(|| format!("opening {}", file.display()))?, VALUES)?,
    };
    let list = list.trim_start_matches('\u{feff}');
    Ok(list.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect())
}

/// Waits for the end of all jobs if that is wanted, prints the batch, and returns how it ended.
async fn finish(connection: &Connection, mut body: Value, shown: Shown<'_>) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let Shown { project, waiting, as_json, .. } = shown;
    let mut batch: ShownBatch = parsed(&body)?;
    let until = match shown.until {
        Some(until) if !batch.ended => until,
        _ => {
            show(connection, project, &body, as_json)?;
            return Ok(batch.outcome());
        }
    };
    // Before anything else can fail. With --json, standard output is one document.
    match as_json {
        true => inform(&batch.line()),
        false => {
            print_begin(connection, project, &batch);
            inform_if_lost(&batch);
        }
    }
    let mut progress = StatusLine::new(true);
    while !batch.ended {
        let since = humantime::format_duration(Duration::from_secs(started.elapsed().as_secs()));
        progress.show(&format!("{}  {since}", batch.line()));
        // A server that stops responds at once.
        let next = tokio::time::Instant::now() + PAUSE;
        let path = ["projects", project, "batches", &batch.id];
        let Some(latest) = latest(connection, &path, until).await? else { break };
        body = latest;
        batch = parsed(&body)?;
        if !batch.ended {
            tokio::time::sleep_until(next.min(until.into())).await;
        }
    }
    progress.end();
    if !batch.ended {
        let timeout = humantime::format_duration(waiting.timeout);
        inform(&format!("not all jobs of the batch have ended after {timeout}"));
    }
    show_end(&body, as_json)?;
    Ok(if batch.ended { batch.outcome() } else { Outcome::TimedOut })
}

impl ShownBatch {
    /// Its id and its progress.
    fn line(&self) -> String {
        let ShownProgress { jobs, ended, .. } = self.progress;
        let states: Vec<String> = self
            .progress
            .states()
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        format!("{}  {ended} of {jobs} ended: {}", self.id, states.join(", "))
    }

    fn outcome(&self) -> Outcome {
        let ShownProgress { failed, rejected, cancelled, unknown, other, .. } = self.progress;
        match () {
            () if failed + rejected + cancelled > 0 => Outcome::Failed,
            // Docket stopped tracking the others.
            () if unknown > 0 || (self.ended && other > 0) => Outcome::Unknown,
            () => Outcome::Done,
        }
    }
}

impl ShownProgress {
    fn states(&self) -> [(u64, &'static str); 10] {
        [
            (self.queued, "queued"),
            (self.running, "running"),
            (self.completed, "completed"),
            (self.resolved, "resolved by a retry"),
            (self.failed, "failed"),
            (self.rejected, "rejected"),
            (self.unknown, "unknown"),
            (self.cancelled, "cancelled"),
            (self.archived, "archived"),
            (self.other, "other"),
        ]
    }
}

/// Prints a batch: its id and progress, its page, and its jobs.
fn show(connection: &Connection, project: &str, body: &Value, as_json: bool) -> anyhow::Result<()> {
    let batch: ShownBatch = parsed(body)?;
    if as_json {
        print_json(&body.to_string());
    } else {
        print_begin(connection, project, &batch);
        print_items(&batch);
    }
    inform_if_lost(&batch);
    Ok(())
}

/// The batch must be found by somebody who cannot read the output.
fn inform_if_lost(batch: &ShownBatch) {
    if is_lost() {
        inform(&batch.line());
    }
}

/// Prints the end of a batch that was shown before: its id and progress, and its jobs.
fn show_end(body: &Value, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        print_json(&body.to_string());
        return Ok(());
    }
    let batch: ShownBatch = parsed(body)?;
    print_line(&in_one_line(&batch.line()));
    print_items(&batch);
    Ok(())
}

fn print_begin(connection: &Connection, project: &str, batch: &ShownBatch) {
    print_line(&in_one_line(&batch.line()));
    print_line(&in_one_line(&connection.address(&links::batch(project, &batch.id))));
}

/// Prints a line for each item: the id and the state of its job, its values, and its pull request.
fn print_items(batch: &ShownBatch) {
    for ShownItem { values, job } in &batch.items {
        let job = job.as_ref().map_or_else(|| "-  removed".to_owned(), ShownJob::summary);
        let values: Vec<&str> = values.values().map(String::as_str).collect();
        print_line(&in_one_line(&format!("{job}  {}", values.join(", "))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_depends_on_the_worst_job() {
        for (ended, progress, code) in [
            (true, json!({"completed": 2}), 0),
            (true, json!({"completed": 1, "archived": 1, "resolved": 1}), 0),
            (false, json!({"queued": 2, "running": 1, "other": 1}), 0),
            (true, json!({"completed": 1, "failed": 1}), 3),
            (false, json!({"queued": 1, "rejected": 1, "unknown": 1}), 3),
            (true, json!({"completed": 1, "cancelled": 1}), 3),
            (true, json!({"completed": 1, "unknown": 1}), 4),
            (true, json!({"completed": 1, "other": 1}), 4),
            (true, json!({"completed": 1, "new": 1}), 0),
        ] {
            let batch = json!({"id": "1", "ended": ended, "progress": progress});
            let batch: ShownBatch = serde_json::from_value(batch).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(batch.outcome().exit_code(), code, "{progress}");
        }
    }
}
