//! `docket job` and `docket views`: the command line client of `/api/v1`. Results are written to standard output, and
//! diagnostics to standard error.

mod connection;
mod failure;
mod idempotency_key;
pub mod job;
pub mod views;

use anyhow::bail;
use serde::Deserialize;

use self::connection::ApiRequest;
pub use self::connection::Connection;
use crate::commands::output::inform;

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
