//! `docket views`: page views of a range of days.

use std::io::Write;

use anyhow::Context;
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::{ApiRequest, parsed};
use super::{Connection, inform, project_or_only};
use crate::model::day::{Day, InvalidDay};
use crate::model::page_views::PageViews;
use crate::server::commands::print_line;

/// The rows of one request.
const ROWS: usize = 250;

#[derive(Args)]
pub struct ViewsArguments {
    /// The first day, as 2026-11-01 [default: 27 days before --to]
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: Option<Day>,
    /// The last day, inclusive [default: today]
    #[arg(long, value_name = "DAY", value_parser = day)]
    to: Option<Day>,
    /// The project [default: the only one of the token]
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// A part of the path
    #[arg(long)]
    q: Option<String>,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct Response {
    rows: Vec<PageViews>,
    rows_total: usize,
    missing_days: Vec<Day>,
}

pub async fn views(connection: &Connection, arguments: ViewsArguments) -> anyhow::Result<()> {
    let ViewsArguments { from, to, project, q, csv, json } = arguments;
    let project = project_or_only(connection, project).await?;
    let (mut rows, mut first): (Vec<PageViews>, Option<Value>) = (Vec::new(), None);
    loop {
        let request = ApiRequest::get(&["projects", &project, "page-views"])
            .with("from", from)
            .with("to", to)
            .with("q", q.as_ref())
            .with("limit", Some(ROWS))
            .with("offset", Some(rows.len()));
        let body = connection.send(&request).await?;
        let response: Response = parsed(&body)?;
        let is_last = response.rows.is_empty() || rows.len() + response.rows.len() >= response.rows_total;
        if first.is_none() {
            warn_of_missing(&response.missing_days);
        }
        rows.extend(response.rows);
        first.get_or_insert(body);
        if is_last {
            break;
        }
    }
    match first {
        Some(mut body) if json => {
            body["rows"] = json!(rows);
            print_line(&body.to_string());
        }
        _ if csv => write_csv(&rows)?,
        _ => write_table(&rows)?,
    }
    Ok(())
}

fn day(text: &str) -> Result<Day, String> {
    text.parse().map_err(|error: InvalidDay| error.to_string())
}

fn warn_of_missing(days: &[Day]) {
    match days {
        [] => {}
        [day] => inform(&format!("{day} is not in Docket’s history; its views are not counted")),
        [first, .., last] => inform(&format!(
            "{} days from {first} to {last} are not in Docket’s history; their views are not counted",
            days.len()
        )),
    }
}

fn write_csv(rows: &[PageViews]) -> anyhow::Result<()> {
    let mut csv = csv::Writer::from_writer(std::io::stdout().lock());
    for row in rows {
        csv.serialize(row).context("writing CSV")?;
    }
    csv.flush().context("writing CSV")
}

fn write_table(rows: &[PageViews]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let line = |out: &mut dyn Write, human: &str, ai: &str, total: &str, path: &str| {
        writeln!(out, "{human:>10}  {ai:>10}  {total:>10}  {path}").context("writing the table")
    };
    line(&mut out, "people", "AI", "all", "page")?;
    for PageViews { path, human, ai, total } in rows {
        line(&mut out, &human.to_string(), &ai.to_string(), &total.to_string(), path)?;
    }
    Ok(())
}
