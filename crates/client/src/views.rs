//! `docket views`: page views of a range of days.

use anyhow::{bail, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::connection::{Connection, parsed};
use crate::failure::Refusal;
use crate::output::{in_one_line, inform, print_csv, print_json, print_line};
use crate::project_or_only;
use crate::request::{ApiRequest, id};
use model::day::{Day, DayRange, InvalidDay};
use model::page_views::PageViews;

/// How often a table is fetched while its figures change.
const STARTS_MAX: usize = 5;
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
    #[arg(long, value_name = "ID", value_parser = id)]
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

/// A page of the table.
#[derive(Deserialize)]
struct Response {
    from: Day,
    to: Day,
    rows: Vec<Row>,
    rows_total: usize,
    next_cursor: Option<String>,
    missing_days: Vec<DayRange>,
    provisional_days: Vec<DayRange>,
}

/// A row of the table. With `--json`, it is printed as the server sent it.
#[derive(Serialize, Deserialize)]
struct Row {
    #[serde(flatten)]
    views: PageViews,
    /// Of later versions. The other fields are taken before.
    #[serde(flatten)]
    added: Map<String, Value>,
}

/// The days of all requests, and where a request continues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Position {
    from: Option<Day>,
    to: Option<Day>,
    cursor: Option<String>,
}

/// The first response, and the rows of all.
struct Table {
    first: Value,
    missing_days: Vec<DayRange>,
    provisional_days: Vec<DayRange>,
    rows: Vec<Row>,
}

pub(super) async fn views(connection: &Connection, arguments: ViewsArguments) -> anyhow::Result<()> {
    let ViewsArguments { from, to, project, q, csv, json } = arguments;
    let project = project_or_only(connection, project, None).await?;
    let fetch = async |position: &Position| {
        let request = ApiRequest::get(&["projects", &project, "page-views"])
            .with("from", position.from)
            .with("to", position.to)
            .with("q", q.as_ref())
            .with("limit", Some(ROWS))
            .with("cursor", position.cursor.as_ref());
        connection.send(&request, None).await
    };
    let Table { mut first, missing_days, provisional_days, rows } = table(from, to, fetch).await?;
    warn_of(&missing_days, "not in Docket’s history; {its} views are not counted");
    warn_of(&provisional_days, "provisional: the platform may still change {its} views");
    if json {
        (first["rows"], first["next_cursor"]) = (json!(rows), Value::Null);
        print_json(&first.to_string());
    } else if csv {
        print_rows_as_csv(&rows);
    } else {
        print_table(&rows);
    }
    Ok(())
}

/// All rows of one table: if its figures change meanwhile, it is fetched again, over the same days.
async fn table(
    from: Option<Day>,
    to: Option<Day>,
    fetch: impl AsyncFn(&Position) -> anyhow::Result<Value>,
) -> anyhow::Result<Table> {
    let mut position = Position { from, to, cursor: None };
    for _ in 0..STARTS_MAX {
        match table_once(&mut position, &fetch).await {
            Err(error) if Refusal::is(&error, "figures_changed") => position.cursor = None,
            table => return table,
        }
    }
    bail!("the figures change too often at the moment: try again later")
}

async fn table_once(
    position: &mut Position,
    fetch: &impl AsyncFn(&Position) -> anyhow::Result<Value>,
) -> anyhow::Result<Table> {
    let first = fetch(position).await?;
    let Response { from, to, mut rows, rows_total, next_cursor, missing_days, provisional_days } =
        parsed(&first)?;
    *position = Position { from: Some(from), to: Some(to), cursor: next_cursor };
    let mut total = size(&rows);
    while position.cursor.is_some() {
        let next: Response = parsed(&fetch(position).await?)?;
        total += size(&next.rows);
        ensure!(total <= SIZE_MAX, "there are too many pages: restrict them with --q, or the days");
        rows.extend(next.rows);
        position.cursor = next.next_cursor;
    }
    ensure!(rows.len() == rows_total, "the server sent {} of {rows_total} pages", rows.len());
    Ok(Table { first, missing_days, provisional_days, rows })
}

/// About how much memory rows take, in bytes.
fn size(rows: &[Row]) -> usize {
    let added =
        |row: &Row| row.added.iter().map(|(name, value)| name.len() + value.to_string().len()).sum::<usize>();
    rows.iter().map(|row| size_of::<Row>() + row.views.path.len() + added(row)).sum()
}

fn day(text: &str) -> Result<Day, String> {
    text.parse().map_err(|error: InvalidDay| error.to_string())
}

/// Informs about some days of the range. `what`: what they are, with `{its}` for “its” or “their”.
fn warn_of(ranges: &[DayRange], what: &str) {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return };
    let (from, to) = (first.from(), last.to());
    match ranges.iter().map(|range| range.days()).sum::<i64>() {
        1 => inform(&format!("{from} is {}", what.replace("{its}", "its"))),
        days => inform(&format!("{days} days from {from} to {to} are {}", what.replace("{its}", "their"))),
    }
}

fn print_rows_as_csv(rows: &[Row]) {
    print_csv(&["path", "human", "ai", "total"]);
    for PageViews { path, human, ai, total } in rows.iter().map(|row| &row.views) {
        print_csv(&[path, &human.to_string(), &ai.to_string(), &total.to_string()]);
    }
}

fn print_table(rows: &[Row]) {
    let line = |human: &str, ai: &str, total: &str, path: &str| {
        print_line(&format!("{human:>10}  {ai:>10}  {total:>10}  {}", in_one_line(path)));
    };
    line("people", "AI", "all", "page");
    for PageViews { path, human, ai, total } in rows.iter().map(|row| &row.views) {
        line(&human.to_string(), &ai.to_string(), &total.to_string(), path);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn day(text: &str) -> Option<Day> {
        text.parse().ok()
    }

    /// A response with the page `path`, of three.
    fn response(path: &str, views: u64, next: Option<&str>) -> anyhow::Result<Value> {
        let row = json!({"path": path, "human": views, "ai": 0, "total": views});
        Ok(
            json!({"from": "2026-10-25", "to": "2026-11-21", "rows": [row], "rows_total": 3, "next_cursor": next, "missing_days": [], "provisional_days": []}),
        )
    }

    /// The table from these responses, with the position of each request.
    async fn fetched(responses: Vec<anyhow::Result<Value>>) -> (anyhow::Result<Table>, Vec<Position>) {
        let (responses, positions) = (RefCell::new(responses.into_iter()), RefCell::new(Vec::new()));
        let fetch = async |position: &Position| {
            positions.borrow_mut().push(position.clone());
            responses.borrow_mut().next().unwrap_or_else(|| bail!("no more responses"))
        };
        let table = table(None, None, fetch).await;
        (table, positions.into_inner())
    }

    #[tokio::test]
    async fn table_starts_again_over_the_same_days_if_its_figures_change() {
        let conflict = || Err(Refusal::new("figures_changed").into());
        let (table, positions) = fetched(vec![
            response("/a", 3, Some("after a")),
            response("/b", 2, Some("after b")),
            conflict(),
            response("/b", 9, Some("after b, again")),
            response("/a", 3, Some("after a, again")),
            response("/c", 1, None),
        ])
        .await;
        let rows = table.map(|table| table.rows).unwrap_or_else(|error| panic!("{error}"));
        let rows: Vec<_> = rows.iter().map(|row| (row.views.path.as_str(), row.views.total)).collect();
        assert_eq!(rows, [("/b", 9), ("/a", 3), ("/c", 1)]);
        let cursors: Vec<_> = positions.iter().map(|position| position.cursor.as_deref()).collect();
        assert_eq!(
            cursors,
            [None, Some("after a"), Some("after b"), None, Some("after b, again"), Some("after a, again")]
        );
        assert_eq!(positions[0], Position::default());
        let days = (day("2026-10-25"), day("2026-11-21"));
        assert!(positions[1..].iter().all(|position| (position.from, position.to) == days), "{positions:?}");

        let again = |_| [response("/a", 3, Some("after a")), conflict()];
        let (table, positions) = fetched((0..STARTS_MAX).flat_map(again).collect()).await;
        assert!(table.is_err_and(|error| error.to_string().contains("change too often")));
        assert_eq!(positions.len(), 2 * STARTS_MAX);
    }

    #[test]
    fn row_keeps_the_fields_of_later_versions() {
        let sent = json!({"path": "/a", "human": 1, "ai": 2, "total": 3, "bots": u64::MAX, "by": {"day": [1, null]}});
        let row: Row = serde_json::from_value(sent.clone()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((row.views.total, row.added.len()), (3, 2));
        assert_eq!(json!(row), sent);
    }

    #[tokio::test]
    async fn other_refusals_and_incomplete_tables_are_errors() {
        let (table, positions) = fetched(vec![Err(Refusal::new("bad_input").into())]).await;
        assert!(table.is_err() && positions.len() == 1);
        let (table, _) = fetched(vec![response("/a", 3, None)]).await;
        assert!(table.is_err_and(|error| error.to_string() == "the server sent 1 of 3 pages"));
    }
}
