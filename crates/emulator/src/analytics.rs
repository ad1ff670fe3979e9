//! Page-view analytics: one operation, its query and its response. All projects share one allowance. Views are computed for each query and never
//! stored.

mod day;
mod lifecycle;
mod query;
mod season;
mod site;
mod traffic;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use self::query::{RawViewsQuery, ViewsQuery};
pub(super) use self::site::Site;
use self::traffic::{Count, Traffic};
use super::Emulator;
use super::allowance::Exhausted;
use super::key::require_key;
use super::refusal::Refusal;

/// A page-view result as the interface returns it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PageViews {
    totals: Count,
    views: Vec<Row>,
    has_more: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    path: String,
    #[serde(flatten)]
    count: Count,
}

/// The routes under `/v1/analytics`.
pub(super) fn routes(emulator: &Emulator) -> Router<Emulator> {
    Router::new()
        .route("/{project}/views", get(views))
        .method_not_allowed_fallback(|| async {
            Refusal::analytics(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed", vec![]).into_response()
        })
        .route_layer(from_fn_with_state(emulator.clone(), require_key))
        .fallback(|| async { Refusal::analytics(StatusCode::NOT_FOUND, "Not found", vec![]).into_response() })
}

async fn views(
    State(emulator): State<Emulator>,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<RawViewsQuery>, QueryRejection>,
) -> Result<Json<PageViews>, Refusal> {
    let Path(project) = path.map_err(|rejection| bad_request(vec![rejection.body_text()]))?;
    let Query(raw) = query.map_err(|rejection| bad_request(vec![rejection.body_text()]))?;
    if !emulator.ledger().has_project(&project) {
        return Err(Refusal::analytics(StatusCode::NOT_FOUND, "Project not found", vec![]));
    }
    let query = ViewsQuery::parse(&raw).map_err(bad_request)?;
    let now = emulator.now();
    emulator.analytics_calls().acquire(now).map_err(too_many)?;
    let site = &emulator.state.site;
    let counts = Traffic::of(emulator.state.seed, &project, site).over(&query.days, now);
    Ok(Json(response(site, counts, &query)))
}

/// The pages with views, most viewed first, then by path, so that paging is stable.
fn response(site: &Site, counts: Vec<Count>, query: &ViewsQuery) -> PageViews {
    let mut viewed: Vec<_> = site.pages().iter().zip(counts).filter(|(_, count)| count.total > 0).collect();
    viewed.sort_unstable_by(|(page, count), (other_page, other)| {
        other.total.cmp(&count.total).then_with(|| page.path.cmp(&other_page.path))
    });
    let rows = viewed.iter().skip(query.offset).take(query.limit);
    PageViews {
        totals: viewed.iter().map(|(_, count)| *count).sum(),
        views: rows.map(|(page, count)| Row { path: page.path.clone(), count: *count }).collect(),
        has_more: viewed.len() > query.offset.saturating_add(query.limit),
    }
}

fn bad_request(problems: Vec<String>) -> Refusal {
    Refusal::analytics(StatusCode::BAD_REQUEST, "Invalid query parameters", problems)
}

fn too_many(Exhausted { retry_after }: Exhausted) -> Refusal {
    let problem = format!("The next request is taken in {retry_after} seconds");
    Refusal::analytics(StatusCode::TOO_MANY_REQUESTS, "Rate limit exceeded", vec![problem])
        .retry_after(retry_after)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use axum::http::StatusCode;
    use serde_json::{Value, json};

    use super::super::allowance::CALLS_PER_HOUR;
    use super::super::testing::Bench;

    fn rows(body: &Value) -> &Vec<Value> {
        body["views"].as_array().unwrap()
    }

    #[tokio::test]
    async fn each_invalid_parameter_is_a_detail_and_is_not_counted() {
        let bench = Bench::new();
        for (query, problems) in [
            ("dateFrom=yesterday", 1),
            ("dateTo=2026-13-01", 1),
            ("dateFrom=2026-02-02&dateTo=2026-02-01", 1),
            ("limit=0", 1),
            ("limit=251", 1),
            ("limit=ten", 1),
            ("offset=-1", 1),
            ("offset=1&offset=2", 1),
            ("dateFrom=&dateTo=x&limit=-1&offset=1.5", 4),
        ] {
            for _ in 0..=CALLS_PER_HOUR / 8 {
                let response = bench.views("docs", query).await;
                assert_eq!(response.status, StatusCode::BAD_REQUEST, "{query}");
                assert_eq!(response.fields(), ["details", "error"]);
                let details = response.body["details"].as_array().unwrap();
                assert_eq!(details.len(), problems, "{query}");
                assert!(details.iter().all(|detail| detail["message"].is_string()));
            }
        }
        assert_eq!(bench.views("docs", "").await.status, StatusCode::OK);
    }

    #[tokio::test]
    async fn the_101st_request_within_an_hour_is_429_across_projects() {
        let bench = Bench::with(1, 1);
        for n in 0..CALLS_PER_HOUR {
            assert_eq!(bench.views(["docs", "handbook"][n % 2], "").await.status, StatusCode::OK);
        }
        bench.wait(600);
        let refused = bench.views("another", "").await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers["retry-after"], "3000");
        assert_eq!(refused.fields(), ["details", "error"]);
        bench.wait(3000);
        assert_eq!(bench.views("another", "").await.status, StatusCode::OK);
    }

    #[tokio::test]
    async fn response_has_all_totals_and_the_first_50_rows() {
        let bench = Bench::with(200, 1);
        let body = bench.views("docs", "").await.body;
        assert_eq!(rows(&body).len(), 50);
        assert_eq!(body["hasMore"], json!(true));
        let whole = bench.views("docs", "limit=250").await.body;
        assert_eq!(body["totals"], whole["totals"]);
        for count in ["human", "ai", "total"] {
            let sum: u64 = rows(&whole).iter().map(|row| row[count].as_u64().unwrap()).sum();
            assert_eq!(body["totals"][count], json!(sum));
        }
        for row in rows(&whole) {
            let [human, ai, total] = ["human", "ai", "total"].map(|c| row[c].as_u64().unwrap());
            assert_eq!(human + ai, total);
            assert!(total > 0 && row["path"].as_str().unwrap().starts_with('/'));
        }
    }

    #[tokio::test]
    async fn paging_covers_each_row_once_in_order() {
        let bench = Bench::with(200, 1);
        let query = "dateFrom=2026-11-01&dateTo=2026-11-04";
        let whole = bench.views("docs", &format!("{query}&limit=250")).await.body;
        assert_eq!(whole["hasMore"], json!(false));
        let mut paged = Vec::new();
        for page in 0.. {
            let offset = page * 7;
            let body = bench.views("docs", &format!("{query}&limit=7&offset={offset}")).await.body;
            paged.extend(rows(&body).clone());
            if body["hasMore"] == json!(false) {
                break;
            }
        }
        assert_eq!(&paged, rows(&whole));
        let key = |row: &Value| {
            let total = row["total"].as_u64().unwrap();
            (std::cmp::Reverse(total), row["path"].as_str().unwrap().to_owned())
        };
        assert!(paged.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])));
    }

    #[tokio::test]
    async fn has_more_is_false_on_the_last_full_page() {
        let bench = Bench::new();
        let count = rows(&bench.views("docs", "limit=250").await.body).len();
        let exact = bench.views("docs", &format!("limit={count}")).await.body;
        assert_eq!(exact["hasMore"], json!(false));
        let short = bench.views("docs", &format!("limit={}", count - 1)).await.body;
        assert_eq!(short["hasMore"], json!(true));
        let beyond = bench.views("docs", "offset=18446744073709551615").await.body;
        assert_eq!((rows(&beyond).len(), &beyond["hasMore"]), (0, &json!(false)));
    }

    #[tokio::test]
    async fn ranges_without_views_are_answered_with_zeros() {
        let bench = Bench::new();
        let nothing = json!({ "totals": { "human": 0, "ai": 0, "total": 0 }, "views": [], "hasMore": false });
        for query in [
            "dateFrom=2026-11-10&dateTo=2026-11-10",
            "dateFrom=2026-11-22",
            "dateTo=2025-10-18",
            "dateFrom=2030-01-01&dateTo=2031-01-01",
        ] {
            assert_eq!(bench.views("docs", query).await.body, nothing, "{query}");
        }
        assert_eq!(Bench::with(0, 1).views("docs", "").await.body, nothing);
        let first_day = bench.views("docs", "dateTo=2025-10-19").await.body;
        assert_ne!(first_day, nothing);
    }

    #[tokio::test]
    async fn a_site_of_20_000_pages_is_answered() {
        let bench = Bench::with(20_000, 1);
        let body = bench.views("docs", "dateFrom=2026-11-20&dateTo=2026-11-21&limit=250").await.body;
        assert_eq!(rows(&body).len(), 250);
        assert_eq!(body["hasMore"], json!(true));
    }
}
