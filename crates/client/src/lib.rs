//! The command line client of `/api/v1`: `docket job`, `docket batch` and `docket views`, and the program `docket-client`. Results are written to standard output, and
//! diagnostics to standard error. It reads its own variables and the files that they name, and nothing else.

mod batch;
mod config;
mod connection;
mod failure;
mod idempotency_key;
mod job;
pub mod output;
mod request;
mod views;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Subcommand;
use serde::Deserialize;
use tokio::runtime::Runtime;

use self::batch::BatchCommand;
use self::config::{Config, Misconfigured};
use self::connection::Connection;
use self::job::JobCommand;
use self::output::inform;
use self::request::ApiRequest;
use self::views::ViewsArguments;

/// The exit code of wrong usage and configuration.
const MISUSED: u8 = 2;

/// How long the end of a program waits for work that cannot be cancelled, such as the look-up of a name.
const LAST_WORK: Duration = Duration::from_millis(500);

/// Runs the command of a program. Nobody waits for what is left then.
pub fn block_on(runtime: Runtime, command: impl Future<Output = ExitCode>) -> ExitCode {
    let code = runtime.block_on(command);
    runtime.shutdown_timeout(LAST_WORK);
    code
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Start and follow jobs with an API token: set DOCKET_SERVER, and DOCKET_TOKEN or DOCKET_TOKEN_FILE
    Job {
        #[command(subcommand)]
        command: JobCommand,
    },
    /// Start and follow batches, with an API token as for jobs: the same prompt for many pages or other values
    Batch {
        #[command(subcommand)]
        command: BatchCommand,
    },
    /// Print page views, with an API token as for jobs
    Views(ViewsArguments),
}

/// How a command ended that was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    /// The job failed, or its prompt was rejected or cancelled. Of a batch: at least one job.
    Failed,
    /// The platform may have accepted the prompt, or Docket the request.
    Unknown,
    /// The job, or not every job of the batch, had ended in time, or nothing was read until then.
    TimedOut,
}

impl Outcome {
    const fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 3,
            Self::Unknown => 4,
            Self::TimedOut => 5,
        }
    }
}

/// Carries out a command, prints its result or error, and returns its exit code.
pub async fn run(command: Command) -> ExitCode {
    match outcome_of(command).await {
        Ok(Outcome::Done) => output::exit_code(),
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(error) => {
            inform(&format!("{error:#}"));
            if error.is::<Misconfigured>() { ExitCode::from(MISUSED) } else { ExitCode::FAILURE }
        }
    }
}

async fn outcome_of(command: Command) -> anyhow::Result<Outcome> {
    let connection = Connection::new(Config::from_environment()?)?;
    match command {
        Command::Job { command } => job::job(&connection, command).await,
        Command::Batch { command } => batch::batch(&connection, command).await,
        Command::Views(arguments) => {
            views::views(&connection, arguments).await?;
            Ok(Outcome::Done)
        }
    }
}

#[derive(Deserialize)]
struct ProjectList {
    projects: Vec<ListedProject>,
}

#[derive(Deserialize)]
struct ListedProject {
    id: String,
}

/// The given project, or the only one of the token. `until`: when the wait is over that needs it.
async fn project_or_only(
    connection: &Connection,
    given: Option<String>,
    until: Option<Instant>,
) -> anyhow::Result<String> {
    if let Some(project) = given {
        return Ok(project);
    }
    let list = connection.send(&ApiRequest::get(&["projects"]), until).await?;
    let list: ProjectList = serde_json::from_value(list)?;
    let ids: Vec<String> = list.projects.into_iter().map(|project| project.id).collect();
    match ids.as_slice() {
        [id] => Ok(id.clone()),
        [] => bail!("this API token has no project"),
        _ => bail!("name the project with --project: {}", ids.join(", ")),
    }
}
