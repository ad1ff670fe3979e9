//! `docket job list`: one page, or with `--all` every page, printed as it arrives.

use anyhow::ensure;
use clap::Args;
use serde::Deserialize;
use serde_json::Value;

use super::{Common, state};
use crate::connection::{Connection, parsed};
use crate::output::{in_one_line, inform, is_lost, print_json, print_line};
use crate::project_or_only;
use crate::request::ApiRequest;
use model::job::JobState;
use model::time::Timestamp;
use model::title::title;

/// The maximum length of a title.
const TITLE_CHARS: usize = 60;
/// The most jobs of one response.
const PAGE_MAX: u32 = 100;

#[derive(Args)]
pub struct ListArguments {
    #[command(flatten)]
    common: Common,
    /// A state, such as active, completed or failed
    #[arg(long)]
    status: Option<String>,
    /// Words in prompts and names; #256 finds a pull request
    #[arg(long)]
    q: Option<String>,
    #[arg(long)]
    author: Option<String>,
    #[arg(long)]
    tag: Option<String>,
    /// The path of a page
    #[arg(long)]
    page: Option<String>,
    /// open, draft, merged, closed, waiting or conflict
    #[arg(long)]
    pr: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(PAGE_MAX)))]
    limit: u32,
    /// All of them, printed as they arrive
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

/// The fields of a job that are printed.
#[derive(Deserialize)]
struct ListedJob {
    id: String,
    #[serde(deserialize_with = "state")]
    state: JobState,
    prompt: String,
    author: String,
    created_at: Timestamp,
}

pub(super) async fn list(connection: &Connection, arguments: ListArguments) -> anyhow::Result<()> {
    let project = project_or_only(connection, arguments.common.project.clone(), None).await?;
    match (arguments.all, arguments.common.json) {
        (true, as_json) => print_all(connection, &project, &arguments, as_json).await,
        (false, true) => {
            print_json(&page(connection, &project, &arguments, None).await?.to_string());
            Ok(())
        }
        (false, false) => {
            let page = page(connection, &project, &arguments, None).await?;
            print_jobs(&page)?;
            if page["next_cursor"].is_string() {
                inform("there are more jobs; restrict the list, use a larger --limit, or --all");
            }
            Ok(())
        }
    }
}

/// Prints each page when it arrives. As JSON, they are one document, as if the server had sent one page.
async fn print_all(
    connection: &Connection,
    project: &str,
    arguments: &ListArguments,
    as_json: bool,
) -> anyhow::Result<()> {
    let (mut cursor, mut separator) = (None, "{\"jobs\":[");
    loop {
        let page = page(connection, project, arguments, cursor.as_deref()).await?;
        match as_json {
            false => print_jobs(&page)?,
            true => {
                for job in jobs(&page) {
                    print_json(&format!("{separator}{job}"));
                    separator = ",";
                }
            }
        }
        let next = page["next_cursor"].as_str().map(str::to_owned);
        ensure!(next.is_none() || next != cursor, "the server sent the same page twice");
        cursor = next;
        // Nobody reads the rest.
        if cursor.is_none() || is_lost() {
            break;
        }
    }
    if as_json {
        let begin = if separator == "," { "" } else { separator };
        print_json(&format!("{begin}],\"next_cursor\":null}}"));
    }
    Ok(())
}

/// A page of the list.
async fn page(
    connection: &Connection,
    project: &str,
    arguments: &ListArguments,
    cursor: Option<&str>,
) -> anyhow::Result<Value> {
    let limit = if arguments.all { PAGE_MAX } else { arguments.limit };
    let request = ApiRequest::get(&["projects", project, "jobs"])
        .with("status", arguments.status.as_ref())
        .with("q", arguments.q.as_ref())
        .with("author", arguments.author.as_ref())
        .with("tag", arguments.tag.as_ref())
        .with("page", arguments.page.as_ref())
        .with("pr", arguments.pr.as_ref())
        .with("limit", Some(limit))
        .with("cursor", cursor);
    connection.send(&request, None).await
}

fn jobs(page: &Value) -> &[Value] {
    page["jobs"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn print_jobs(page: &Value) -> anyhow::Result<()> {
    for job in jobs(page) {
        let job: ListedJob = parsed(job)?;
        let title: String = title(&job.prompt).chars().take(TITLE_CHARS).collect();
        let line = format!("{}  {}  {}  {}  {title}", job.id, job.state, job.created_at, job.author);
        print_line(&in_one_line(&line));
    }
    Ok(())
}
