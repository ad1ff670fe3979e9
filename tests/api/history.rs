//! How the daily history is written: days are complete and equal to the upstream's, with the minimum of calls, even
//! after failures. The tests make single steps on a frozen clock.

mod endpoints;
mod final_days;
mod odd;
mod sync;
mod troubles;

use std::collections::BTreeMap;

use base::clock::Clock;
use model::time::Timestamp;
use serde_json::Value;
use service::history::Step;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Settings, TestApp, json};

const HOUR: u64 = 3_600;

/// Human, AI and total views of each path and day.
type Rows = BTreeMap<String, BTreeMap<String, [i64; 3]>>;

/// A Monday at ten, with a history of `days` days and more budget than it can use.
fn keeping(days: u32) -> Settings {
    let clock = Clock::frozen("2025-03-10T10:00:00Z".parse::<Timestamp>().unwrap());
    let mut settings = Settings { clock, ..Settings::default() };
    settings.budget.history_days = days;
    settings
}

/// Makes steps until nothing is due or possible. Returns their number.
async fn steps(app: &TestApp) -> usize {
    let history = app.state().history.clone();
    for made in 0..10_000 {
        if let Step::Wait(_) = history.step().await.unwrap() {
            return made;
        }
    }
    panic!("the steps do not end");
}

async fn later(app: &TestApp, seconds: u64) -> usize {
    app.clock().advance(std::time::Duration::from_secs(seconds));
    steps(app).await
}

/// A site of `pages(project, day)` pages. The n-th page has two human views and one AI view.
fn site(
    pages: impl Fn(&str, &str) -> usize + Send + Sync + 'static,
) -> impl Fn(&Request) -> ResponseTemplate {
    move |request| {
        let RequestedDays { project, day, offset } = requested(request);
        let pages = pages(&project, &day);
        let here = offset.min(pages)..pages.min(offset + 250);
        let row = |n| json!({"path": format!("/page/{n}"), "human": 2, "ai": 1, "total": 3});
        ResponseTemplate::new(200).set_body_json(json!({
            "totals": {"human": 2 * pages, "ai": pages, "total": 3 * pages},
            "hasMore": here.end < pages,
            "views": here.map(row).collect::<Vec<Value>>(),
        }))
    }
}

/// The parameters of one call: always a single day, and the maximum number of rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RequestedDays {
    project: String,
    day: String,
    offset: usize,
}

fn requested(request: &Request) -> RequestedDays {
    let query: BTreeMap<String, String> = request.url.query_pairs().into_owned().collect();
    let day: model::day::Day = query["dateFrom"].parse().unwrap();
    assert_eq!(query["dateTo"], day.plus_days(1).to_string());
    assert_eq!(query["limit"], "250");
    let project = request.url.path().split('/').nth(3).unwrap().to_owned();
    RequestedDays { project, day: day.to_string(), offset: query["offset"].parse().unwrap() }
}

/// All calls for a project since the upstream was last reset.
async fn calls(app: &TestApp, project: &str) -> Vec<RequestedDays> {
    let all = app.upstream.requests().await;
    all.iter().map(requested).filter(|requested| requested.project == project).collect()
}

/// The fetched days in order. Each takes a single call.
async fn requested_days(app: &TestApp, project: &str) -> Vec<String> {
    calls(app, project).await.into_iter().map(|requested| requested.day).collect()
}

async fn rows(app: &TestApp, project: &str) -> Rows {
    let mut database = app.ledger().connection().await;
    let all: Vec<(String, String, i64, i64, i64)> = sqlx::query_as(
        "SELECT day, path, human, ai, total FROM page_views JOIN page_paths ON id = path_id
         WHERE page_views.project = $1 AND version = (SELECT version FROM history_days h
             WHERE h.project = page_views.project AND h.day = page_views.day)",
    )
    .bind(project)
    .fetch_all(&mut database)
    .await
    .unwrap();
    let mut rows = Rows::new();
    for (day, path, human, ai, total) in all {
        rows.entry(day).or_default().insert(path, [human, ai, total]);
    }
    rows
}

/// The value of one column of a day.
async fn of_day<T>(app: &TestApp, column: &str, day: &str) -> T
where
    T: for<'r> sqlx::Decode<'r, sqlx::Any> + sqlx::Type<sqlx::Any> + Send + Unpin,
{
    let sql = format!("SELECT {column} FROM history_days WHERE project = 'docs' AND day = $1");
    let query = sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).bind(day.to_owned());
    query.fetch_one(&mut app.ledger().connection().await).await.unwrap()
}

async fn state(app: &TestApp) -> Value {
    app.sign_in("vera").await.post_json("/api/history/state", &[("project", "docs")]).await
}
