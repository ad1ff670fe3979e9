//! `docket job` and `docket views`: the command line client of `/api/v1`. Results are written to standard output, and
//! diagnostics to standard error.

mod connection;
mod failure;
mod idempotency_key;
pub mod job;
pub mod views;

use anyhow::bail;
use clap::Subcommand;
use serde::Deserialize;

use self::connection::{ApiRequest, Connection};
use self::job::JobCommand;
use self::views::ViewsArguments;
use crate::commands::output::inform;
use base::config::ClientConfig;

/// The commands that call a server.
#[derive(Subcommand)]
pub enum ClientCommand {
    /// Start and follow jobs with an API token: set DOCKET_SERVER, and DOCKET_TOKEN or DOCKET_TOKEN_FILE
    Job {
        #[command(subcommand)]
        command: JobCommand,
    },
    /// Print page views, with an API token as for docket job
    Views(ViewsArguments),
}

/// How a command ended that was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The job failed, or its prompt was rejected or cancelled.
    Failed,
    /// The platform may have accepted the prompt, or Docket the request.
    Unknown,
    /// The job had not ended in time.
    TimedOut,
}

impl Outcome {
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 3,
            Self::Unknown => 4,
            Self::TimedOut => 5,
        }
    }
}

pub async fn run(config: ClientConfig, command: ClientCommand) -> anyhow::Result<Outcome> {
    let connection = Connection::new(config)?;
    match command {
        ClientCommand::Job { command } => job::job(&connection, command).await,
        ClientCommand::Views(arguments) => {
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

/// The given project, or the only one of the token.
async fn project_or_only(connection: &Connection, given: Option<String>) -> anyhow::Result<String> {
    if let Some(project) = given {
        return Ok(project);
    }
    let list: ProjectList = serde_json::from_value(connection.send(&ApiRequest::get(&["projects"])).await?)?;
    let ids: Vec<String> = list.projects.into_iter().map(|project| project.id).collect();
    match ids.as_slice() {
        [id] => Ok(id.clone()),
        [] => bail!("this API token has no project"),
        _ => bail!("name the project with --project: {}", ids.join(", ")),
    }
}
