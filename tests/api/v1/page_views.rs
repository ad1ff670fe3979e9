//! Page views from the daily history, with the days that it does not contain.

use super::Script;
use crate::analytics_pages::{NOON, at};
use crate::api_tokens::problem;
use crate::helpers::{Archive, TestApp, Written, days, json, rows};

const VIEWS: &str = "/projects/docs/page-views";

/// The days 11 to 21 of November, without the 15th.
async fn app() -> TestApp {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-11", "2026-11-21").into_iter().filter(|day| day.to_string() != "2026-11-15") {
        let fetched_at = (day.to_string() == "2026-11-21").then(|| NOON.parse().unwrap());
        let rows = rows(&[("/guides/a", 3, 2), ("/b", 10, 1)]);
        archive.put("docs", Written { fetched_at, ..Written::new(day, rows) }).await;
    }
    drop(archive);
    app
}

#[tokio::test]
async fn stored_days_are_summed_and_missing_days_are_ranges() {
    let app = app().await;
    let script = Script::of(&app).await;
    let range = "from=2026-11-14&to=2026-11-17";
    let found = script.got(&format!("{VIEWS}?{range}")).await;
    insta::assert_json_snapshot!(found);
    let totals = found["totals"].clone();
    let long = script.got(&format!("{VIEWS}?from=2023-11-20&to=2026-11-20")).await;
    insta::assert_compact_json_snapshot!(long["missing_days"], @r#"[{"from": "2023-11-20", "to": "2026-11-10"}, {"from": "2026-11-15", "to": "2026-11-15"}]"#);
    let found = script.got(&format!("{VIEWS}?{range}&q=GUIDES&sort=-path&limit=1")).await;
    assert_eq!((&found["rows_total"], &found["rows"][0]["path"]), (&json!(1), &json!("/guides/a")));
    assert_eq!(found["totals"], totals, "of the whole project");
    let found = script.got(&format!("{VIEWS}?{range}&offset=2")).await;
    assert_eq!((&found["rows_total"], &found["rows"]), (&json!(2), &json!([])));
    assert_eq!(app.upstream.requests().await.len(), 0, "the platform is not called");
}

#[tokio::test]
async fn views_by_day_can_be_of_one_page_or_folder() {
    let app = app().await;
    let script = Script::of(&app).await;
    let daily =
        async |more: &str| script.got(&format!("{VIEWS}/daily?from=2026-11-20&to=2026-11-21{more}")).await;
    let all = daily("").await;
    let day = |day: &str, human: u64, ai: u64, complete: bool| json!({"day": day, "human": human, "ai": ai, "total": human + ai, "complete": complete});
    assert_eq!(all["days"], json!([day("2026-11-20", 13, 3, true), day("2026-11-21", 13, 3, false)]));
    assert_eq!(all["missing_days"], json!([]));
    assert_eq!(daily("&path=/b").await["days"][0], day("2026-11-20", 10, 1, true));
    assert_eq!(daily("&path=/guides/*").await["days"][1], day("2026-11-21", 3, 2, false));
    assert_eq!(daily("&path=/nowhere").await["days"][1], day("2026-11-21", 0, 0, false));
}

#[tokio::test]
async fn invalid_ranges_and_orders_are_refused() {
    let app = app().await;
    let script = Script::of(&app).await;
    for query in [
        "from=2026-11-20&to=2026-11-10",
        "from=yesterday",
        "from=2027-01-01&to=2027-01-02",
        "sort=change",
        "sort=colour",
        "limit=0",
        "limit=251",
        "offset=-1",
        "colour=red",
    ] {
        problem(&script.get(&format!("{VIEWS}?{query}")).await, 400, "bad_input");
    }
}
