//! Comparisons with another period, with the numbers of examples: on the analytics page, in its export and for programs.

use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{
    Archive, Browser, TestApp, Written, day, days, figures, json, paragraphs, rows, table_rows,
};

/// The rows of the exported table.
async fn exported(viewer: &Browser, query: &str) -> Vec<Value> {
    let file = viewer.get(&format!("/p/docs/analytics/export.json?{query}")).await;
    serde_json::from_value(file.json()).unwrap()
}

#[tokio::test]
async fn shares_are_rounded_once_and_nothing_is_all_or_none_that_is_not() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    // 43.44% and 44.46% of 10,000.
    archive.write(day("2026-11-17"), rows(&[("/a", 5_656, 4_344)])).await;
    archive.write(day("2026-11-18"), rows(&[("/a", 5_554, 4_446)])).await;
    archive
        .write(day("2026-11-19"), rows(&[("/down", 100_000, 0), ("/up", 100_000, 0), ("/ai", 1, 1)]))
        .await;
    archive.write(day("2026-11-20"), rows(&[("/down", 1, 0), ("/up", 100_001, 0), ("/ai", 1, 99_999)])).await;
    let viewer = app.sign_in("vera").await;
    let page = viewer.get("/p/docs/analytics?from=2026-11-18&to=2026-11-18").await.text;
    assert_eq!(figures(&page), ["10,000", "0%", "5,554", "−2%", "4,446", "+2%", "44%", "+1 pts"]);

    let query = "from=2026-11-20&to=2026-11-20&sort=path";
    let page = viewer.get(&format!("/p/docs/analytics?{query}")).await.text;
    let shown: Vec<_> =
        table_rows(&page, "pages daily").into_iter().map(|row| [row[4].clone(), row[6].clone()]).collect();
    assert_eq!(shown, [[">99%", "+4,999,900%"], ["0%", "−>99%"], ["0%", "+<1%"]]);
    let file = exported(&viewer, query).await;
    let written: Vec<_> = file.iter().map(|row| (&row["ai_share"], &row["change"])).collect();
    let expected =
        [(json!(0.9999), json!(49_999.0)), (json!(0.0), json!(-0.9999)), (json!(0.0), json!(0.0001))];
    assert_eq!(written, expected.each_ref().map(|(share, change)| (share, change)));
}

#[tokio::test]
async fn calendar_year_is_compared_with_the_year_before() {
    let app = TestApp::with(at("2026-01-02T12:00:00Z")).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2023-12-27", "2025-12-31") {
        let views = if day < crate::helpers::day("2025-01-01") { 1 } else { 2 };
        let rows = rows(&[("/a", views, 0)]);
        archive.put("docs", Written { packed: false, ..Written::new(day, rows) }).await;
    }
    let viewer = app.sign_in("vera").await;
    let query = "from=2025-01-01&to=2025-12-31&compare=year";
    let page = viewer.get(&format!("/p/docs/analytics?{query}")).await.text;
    assert_eq!(figures(&page)[..2], ["730", "+100%"]);
    let compared = paragraphs(&page, "provenance");
    assert!(compared.contains("Compared with Dec 27, 2023 to Dec 25, 2024."), "{compared}");
    let file = exported(&viewer, query).await;
    assert_eq!((&file[0]["previous_total"], &file[0]["change"]), (&json!(365), &json!(1.0)));
}
