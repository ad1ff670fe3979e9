//! A day that ended may still change: until it is final, it is provisional on the page, in exports and for programs.

use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::analytics_pages::{NOON, at};
use crate::api_tokens::create;
use crate::helpers::{Archive, TestApp, Written, days, json, paragraphs, rows, table_rows, views_answer};
use crate::long_ranges::mcp;
use crate::v1::Script;

const RANGE: &str = "from=2026-11-14&to=2026-11-21";

/// The days up to today: November 19 and 20 ended and were fetched since, but are not final.
async fn app() -> TestApp {
    let app = TestApp::with(at(NOON)).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-06", "2026-11-21") {
        let fetched_at = match day.to_string().as_str() {
            "2026-11-19" | "2026-11-20" => Some("2026-11-21T06:00:00Z".parse().unwrap()),
            "2026-11-21" => Some(NOON.parse().unwrap()),
            _ => None,
        };
        archive.put("docs", Written { fetched_at, ..Written::new(day, rows(&[("/a", 10, 5)])) }).await;
    }
    drop(archive);
    app
}

#[tokio::test]
async fn pages_and_exports_mark_days_that_may_still_change() {
    let app = app().await;
    let viewer = app.sign_in("vera").await;
    for part in ["", "&path=/a", "&q=a"] {
        let page = viewer.page(&format!("/p/docs/analytics?{RANGE}{part}")).await;
        let text = paragraphs(&page, "provenance");
        let expected = "Provisional: Nov 19, 2026 to Nov 20, 2026.";
        assert!(text.contains(expected), "{part}: {text}");
        let points: Vec<_> = table_rows(&page, "pages").into_iter().map(|row| row[0].clone()).collect();
        let ends = [
            "Nov 18, 2026",
            "Nov 19, 2026 (provisional)",
            "Nov 20, 2026 (provisional)",
            "Nov 21, 2026 (incomplete)",
        ];
        assert!(points[4..].iter().zip(ends).all(|(point, end)| point.ends_with(end)), "{part}: {points:?}");
    }
    let overview = viewer.page("/p/docs").await;
    assert!(paragraphs(&overview, "provenance").contains("Provisional: Nov 19, 2026"), "{overview}");
    let page = viewer.page("/p/docs/analytics?from=2026-11-14&to=2026-11-18").await;
    assert!(!page.to_lowercase().contains("provisional"), "{page}");
    // Live figures of recent days are provisional, too.
    let page = viewer.page("/p/docs/analytics?from=2026-11-01&to=2026-11-20").await;
    assert!(page.contains("Live from the platform"), "{page}");
    assert!(paragraphs(&page, "provenance").contains("Provisional: Nov 18, 2026 to Nov 20, 2026."), "{page}");
    let page = viewer.page("/p/docs/analytics?from=2026-11-01&to=2026-11-17").await;
    assert!(page.contains("Live from the platform") && !page.contains("Provisional"), "{page}");

    let export =
        async |more: &str| viewer.get(&format!("/p/docs/analytics/export.json?{RANGE}{more}")).await.json();
    for kind in ["days", "daily"] {
        let file = export(&format!("&of={kind}")).await;
        let flags: Vec<_> = file.as_array().unwrap().iter().map(|row| row["provisional"].clone()).collect();
        assert_eq!(json!(flags), json!([false, false, false, false, false, true, true, true]), "{kind}");
    }
    assert_eq!(export("").await[0]["provisional_days"], json!(3));
}

#[tokio::test]
async fn compared_days_that_may_still_change_are_marked_too() {
    let app = app().await;
    let viewer = app.sign_in("vera").await;
    let on = |from: &str, to: &str| format!("from=2026-11-{from}&to=2026-11-{to}");
    for (range, marked, row) in [
        (
            on("20", "20"),
            "Provisional: Nov 19, 2026 to Nov 20, 2026.",
            "(provisional, compared day provisional)",
        ),
        // Stands beside today.
        (on("21", "21"), "Provisional: Nov 20, 2026.", "(incomplete)"),
        (on("18", "19") + "&compare=previous", "Provisional: Nov 19, 2026.", "Nov 18, 2026"),
    ] {
        for part in ["", "&path=/a", "&q=a"] {
            let page = viewer.page(&format!("/p/docs/analytics?{range}{part}")).await;
            let text = paragraphs(&page, "provenance");
            assert!(text.contains(marked), "{range}{part}: {text}");
            let first = &table_rows(&page, "pages")[0][0];
            assert!(first.ends_with(row), "{range}{part}: {first}");
        }
    }
    let provisional = json!([{"from": "2026-11-19", "to": "2026-11-19"}]);
    let day = [("project", "docs"), ("from", "2026-11-20"), ("to", "2026-11-20")];
    let table = viewer.post_json("/api/analytics/pages", &day).await;
    assert_eq!(table["comparison"]["provisional_days"], provisional);
    let trend = viewer.post_json("/api/analytics/trend", &day).await;
    assert_eq!(trend["points"][0]["previous_provisional_days"], 1);
    let today = [("project", "docs"), ("from", "2026-11-21"), ("to", "2026-11-21")];
    let table = viewer.post_json("/api/analytics/pages", &today).await;
    assert_eq!(table["earlier"]["provisional_days"], json!([{"from": "2026-11-20", "to": "2026-11-20"}]));
    for (range, expected) in
        [(on("20", "20"), json!(1)), (on("14", "18"), json!(0)), (on("21", "21"), json!(null))]
    {
        let file = viewer.get(&format!("/p/docs/analytics/export.json?{range}")).await.json();
        assert_eq!(file[0]["previous_provisional_days"], expected, "{range}");
    }
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    let result = mcp(&app.anonymous(), &token, "falling_pages", ["2026-11-20"; 2]).await;
    assert_eq!(result["structuredContent"]["comparison"]["provisional_days"], provisional, "{result}");
}

#[tokio::test]
async fn views_around_a_job_say_that_some_of_their_days_may_still_change() {
    let app = app().await;
    let job = async |prompt: &str, finished: &str| {
        Archive::of(&app).await.job("docs", prompt, &["/a"], "completed", finished).await
    };
    let week = job("A week ago", "2026-11-13T12:00:00Z").await;
    app.ledger()
        .run("UPDATE jobs SET remote_id = id, remote_status = state, pr_link = 'https://example.com/1'")
        .await;
    let viewer = app.sign_in("vera").await;
    let page = viewer.page(&format!("/p/docs/jobs/{week}")).await;
    assert!(page.contains("Compared over 7 days each, of which some are provisional."), "{page}");
    let report = viewer.page("/p/docs/analytics?from=2026-11-14&to=2026-11-18&path=/a").await;
    assert_eq!(table_rows(&report, "pages effects")[0][2], "7 days (some provisional)");
    let fields = [("project", "docs"), ("job", week.as_str())];
    let effects = viewer.post_json("/api/analytics/job", &fields).await;
    assert_eq!(effects["pages"][0]["effect"]["provisional"], true);
    // Once the platform has finished counting them, they are like others.
    let mut archive = Archive::of(&app).await;
    for of in days("2026-11-19", "2026-11-20") {
        archive.write(of, rows(&[("/a", 10, 5)])).await;
    }
    let page = viewer.page(&format!("/p/docs/jobs/{week}")).await;
    assert!(page.contains("Compared over 7 days each."), "{page}");
}

#[tokio::test]
async fn programs_get_provisional_days_and_complete_is_true_without_them_only() {
    let app = app().await;
    let script = Script::of(&app).await;
    let provisional = json!([{"from": "2026-11-19", "to": "2026-11-21"}]);
    let views = "/projects/docs/page-views";
    for path in ["", "/daily"] {
        let found = script.got(&format!("{views}{path}?{RANGE}")).await;
        assert_eq!((&found["provisional_days"], &found["complete"]), (&provisional, &json!(false)), "{path}");
        let past = script.got(&format!("{views}{path}?from=2026-11-14&to=2026-11-18")).await;
        assert_eq!((&past["provisional_days"], &past["complete"]), (&json!([]), &json!(true)), "{path}");
        let missing = script.got(&format!("{views}{path}?from=2026-11-05&to=2026-11-18")).await;
        assert_eq!(
            (&missing["provisional_days"], &missing["complete"]),
            (&json!([]), &json!(false)),
            "{path}"
        );
    }
    let daily = script.got(&format!("{views}/daily?{RANGE}&path=/a")).await;
    let flags = |name: &str| -> Vec<Value> {
        daily["days"].as_array().unwrap().iter().map(|day| day[name].clone()).collect()
    };
    assert_eq!(json!(flags("provisional")), json!([false, false, false, false, false, true, true, true]));
    assert_eq!(json!(flags("complete")), json!([true, true, true, true, true, false, false, false]));

    let viewer = app.sign_in("vera").await;
    let fields = [("project", "docs"), ("from", "2026-11-14"), ("to", "2026-11-21")];
    let table = viewer.post_json("/api/analytics/pages", &fields).await;
    assert_eq!(table["provisional_days"], provisional);
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    for tool in ["page_views", "falling_pages"] {
        let result = mcp(&app.anonymous(), &token, tool, ["2026-11-14", "2026-11-21"]).await;
        assert_eq!(result["structuredContent"]["provisional_days"], provisional, "{tool}: {result}");
    }
}
