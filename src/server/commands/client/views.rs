//! `docket views`: page views of a range of days.

use anyhow::ensure;
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use super::connection::{ApiRequest, parsed};
use super::{Connection, project_or_only};
use crate::server::commands::output::{in_one_line, inform, print_csv, print_json, print_line};
use model::day::{Day, DayRange, InvalidDay};
use model::page_views::PageViews;

/// The rows of one request.
const ROWS: usize = 250;
/// The maximum size of all rows in memory, in bytes.
const SIZE_MAX: usize = 256 * 1024 * 1024;

#[derive(Args)]
pub struct ViewsArguments {
    /// The first day, as 2026-11-01; a range has at most 1,100 days [default: 27 days before --to]
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
    missing_days: Vec<DayRange>,
}

pub async fn views(connection: &Connection, arguments: ViewsArguments) -> anyhow::Result<()> {
    let ViewsArguments { from, to, project, q, csv, json } = arguments;
    let project = project_or_only(connection, project).await?;
    let (mut rows, mut first): (Vec<PageViews>, Option<Value>) = (Vec::new(), None);
    let mut size = 0;
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
        size += response.rows.iter().map(|row| row.path.len() + size_of::<PageViews>()).sum::<usize>();
        ensure!(size <= SIZE_MAX, "there are too many pages: restrict them with --q, or the days");
        rows.extend(response.rows);
        first.get_or_insert(body);
        if is_last {
            break;
        }
    }
    match first {
        Some(mut body) if json => {
            body["rows"] = json!(rows);
            print_json(&body.to_string());
        }
        _ if csv => print_rows_as_csv(&rows),
        _ => print_table(&rows),
    }
    Ok(())
}

fn day(text: &str) -> Result<Day, String> {
    text.parse().map_err(|error: InvalidDay| error.to_string())
}

fn warn_of_missing(ranges: &[DayRange]) {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return };
    let (from, to) = (first.from(), last.to());
    match ranges.iter().map(|range| range.days()).sum::<i64>() {
        1 => inform(&format!("{from} is not in Docket’s history; its views are not counted")),
        days => inform(&format!(
            "{days} days from {from} to {to} are not in Docket’s history; their views are not counted"
        )),
    }
}

fn print_rows_as_csv(rows: &[PageViews]) {
    print_csv(&["path", "human", "ai", "total"]);
    for PageViews { path, human, ai, total } in rows {
        print_csv(&[path, &human.to_string(), &ai.to_string(), &total.to_string()]);
    }
}

fn print_table(rows: &[PageViews]) {
    let line = |human: &str, ai: &str, total: &str, path: &str| {
        print_line(&format!("{human:>10}  {ai:>10}  {total:>10}  {}", in_one_line(path)));
    };
    line("people", "AI", "all", "page");
    for PageViews { path, human, ai, total } in rows {
        line(&human.to_string(), &ai.to_string(), &total.to_string(), path);
    }
}
