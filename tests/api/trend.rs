//! Views by day and week, with the jobs and notes of those days.

use model::page_views::ViewCounts;
use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{
    Archive, Browser, New, TestApp, Written, counts, day, days, json, rows, table_rows, tags,
};

async fn trend(viewer: &Browser, from: &str, to: &str, path: &str) -> Value {
    let pairs = [("project", "docs"), ("from", from), ("to", to), ("path", path)];
    viewer.post_json("/api/analytics/trend", &pairs).await
}

fn totals(trend: &Value) -> Vec<u64> {
    trend["points"].as_array().unwrap().iter().map(|point| point["total"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn trend_has_one_point_per_day() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for (n, day) in days("2026-11-18", "2026-11-21").into_iter().enumerate() {
        let n = n as u64;
        let mut rows =
            rows(&[("/guides/a", 10 + n, 1), ("/guides/deep/b", 100, 0), ("/guides-old", 1_000, 0)]);
        if n == 1 {
            rows.remove(0);
        }
        let fetched_at = (n == 3).then(|| NOON.parse().unwrap());
        let totals = (n == 0).then(|| counts(5_000, 0));
        archive.put("docs", Written { totals, fetched_at, packed: n > 1, ..Written::new(day, rows) }).await;
        archive.put("api", Written::new(day, crate::helpers::rows(&[("/guides/a", 70_000, 0)]))).await;
    }
    let viewer = app.sign_in("vera").await;
    let all = trend(&viewer, "2026-11-18", "2026-11-21", "").await;
    assert_eq!(totals(&all), [5_000, 1_100, 1_113, 1_114]);
    assert_eq!(
        all["points"][3],
        json!({"day": "2026-11-21", "days": 1, "human": 1_113, "ai": 1, "total": 1_114, "unfinished_days": 1,
               "provisional_days": 1})
    );
    assert_eq!(all["points"][2]["unfinished_days"], 0);
    assert_eq!(all["points"][2]["provisional_days"], 0);
    assert_eq!(totals(&trend(&viewer, "2026-11-18", "2026-11-21", "/guides/a").await), [11, 0, 13, 14]);
    assert_eq!(totals(&trend(&viewer, "2026-11-18", "2026-11-21", "/guides/*").await), [111, 100, 113, 114]);
    assert_eq!(totals(&trend(&viewer, "2026-11-18", "2026-11-21", "/*").await), [1_111, 1_100, 1_113, 1_114]);
    assert_eq!(totals(&trend(&viewer, "2026-11-18", "2026-11-21", "/nobody").await), [0, 0, 0, 0]);
}

#[tokio::test]
async fn range_above_120_days_has_one_point_per_week() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let mut sum = ViewCounts::default();
    for (n, day) in days("2026-07-23", "2026-11-21").into_iter().enumerate() {
        let counts = counts(n as u64, 1);
        let fetched_at = (n == 121).then(|| NOON.parse().unwrap());
        archive
            .put("docs", Written { fetched_at, ..Written::new(day, vec![("/a".to_owned(), counts)]) })
            .await;
        sum += counts;
    }
    let viewer = app.sign_in("vera").await;
    // 2026-07-25 is a Saturday, with 120 days from it.
    let by_day = trend(&viewer, "2026-07-25", "2026-11-21", "").await;
    assert_eq!(by_day["points"].as_array().unwrap().len(), 120);
    for path in ["", "/a", "/*"] {
        let by_week = trend(&viewer, "2026-07-23", "2026-11-21", path).await;
        let points = by_week["points"].as_array().unwrap();
        let shown =
            |point: &Value| (point["day"].clone(), point["days"].clone(), point["unfinished_days"].clone());
        assert_eq!(shown(&points[0]), (json!("2026-07-23"), json!(4), json!(0)));
        assert_eq!(shown(&points[1]), (json!("2026-07-27"), json!(7), json!(0)));
        assert_eq!(shown(&points[points.len() - 1]), (json!("2026-11-16"), json!(6), json!(1)));
        assert_eq!(points.iter().map(|point| point["days"].as_u64().unwrap()).sum::<u64>(), 122);
        assert_eq!(totals(&by_week).iter().sum::<u64>(), sum.total);
        assert!(points[1..].iter().all(|point| {
            let first = day(point["day"].as_str().unwrap());
            first.monday() == first
        }));
    }
}

#[tokio::test]
async fn few_incomplete_days_are_named_and_weeks_have_their_number() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let incomplete = ["2026-08-04", "2026-08-11", "2026-08-18", "2026-08-25", "2026-08-26", "2026-11-21"];
    for of in days("2026-07-23", "2026-11-21") {
        let is_incomplete = incomplete.contains(&of.to_string().as_str());
        let fetched_at = is_incomplete.then(|| of.start().plus_seconds(3_600));
        let written = Written { fetched_at, packed: false, ..Written::new(of, rows(&[("/a", 10, 0)])) };
        archive.put("docs", written).await;
    }
    let viewer = app.sign_in("vera").await;
    for (range, described, at, row) in [
        (
            "from=2026-07-23&to=2026-11-21",
            " Today is incomplete. Incomplete: 1 day of Aug 3, 2026 to Aug 9, 2026; 1 day of Aug 10, 2026 to Aug 16, 2026; \
             1 day of Aug 17, 2026 to Aug 23, 2026; 2 more days.",
            5,
            "Aug 24, 2026 to Aug 30, 2026 (2 days incomplete)",
        ),
        (
            "from=2026-08-03&to=2026-08-30",
            "). Incomplete: Tue, Aug 4, 2026; Tue, Aug 11, 2026; Tue, Aug 18, 2026; 2 more days.",
            1,
            "Tue, Aug 4, 2026 (incomplete)",
        ),
    ] {
        let page = viewer.page(&format!("/p/docs/analytics?{range}")).await;
        let tags = tags(&page);
        let picture = tags.iter().find(|tag| tag.name == "svg" && tag.attribute("role") == "img").unwrap();
        assert!(picture.attribute("aria-label").ends_with(described), "{picture:?}");
        assert_eq!(table_rows(&page, "pages")[at][0], row);
    }
}

#[tokio::test]
async fn weeks_with_fewer_days_are_labeled_in_chart_and_table() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    // Saturday, July 18, to Tuesday, November 17.
    for day in days("2026-07-18", "2026-11-17") {
        archive.put("docs", Written { packed: false, ..Written::new(day, rows(&[("/a", 10, 0)])) }).await;
    }
    let viewer = app.sign_in("vera").await;
    for path in ["", "&path=/a"] {
        let page = viewer.get(&format!("/p/docs/analytics?from=2026-07-18&to=2026-11-17{path}")).await.text;
        let weeks = table_rows(&page, "pages");
        let first_and_last = [0, 1, weeks.len() - 1].map(|at| weeks[at][..2].join(": "));
        let expected = [
            "Jul 18, 2026 to Jul 19, 2026 (2 days): 20",
            "Jul 20, 2026 to Jul 26, 2026: 70",
            "Nov 16, 2026 to Nov 17, 2026 (2 days): 20",
        ];
        assert_eq!(first_and_last, expected, "{path}");
        let tags = tags(&page);
        let marked: Vec<_> = tags.iter().filter(|tag| tag.attribute("class") == "short-week").collect();
        assert_eq!(
            marked.iter().map(|tag| tag.attribute("data-day")).collect::<Vec<_>>(),
            ["2026-07-18", "2026-11-16"]
        );
        assert_eq!(tags.iter().filter(|tag| tag.name == "text" && tag.text == "2 days").count(), 2);
        let summary =
            "Short weeks: Jul 18, 2026 to Jul 19, 2026 (2 days) and Nov 16, 2026 to Nov 17, 2026 (2 days).";
        let picture = tags.iter().find(|tag| tag.name == "svg" && tag.attribute("role") == "img").unwrap();
        assert!(picture.attribute("aria-label").ends_with(summary), "{picture:?}");
        let input =
            tags.iter().find(|tag| tag.attribute("aria-label") == "Days" && tag.name == "input").unwrap();
        assert_eq!(input.attribute("aria-valuetext"), "Nov 16, 2026 to Nov 17, 2026 (2 days)");
    }
}

#[tokio::test]
async fn compared_period_has_a_line_for_people_and_one_for_ai_beside_such_columns() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for of in days("2026-11-07", "2026-11-20") {
        let is_before = of < day("2026-11-14");
        let (human, ai) = if is_before { (30, 20) } else { (60, 40) };
        archive.write(of, rows(&[("/a", human, ai)])).await;
    }
    let viewer = app.sign_in("vera").await;
    for (form, lines, names, described) in [
        (
            "",
            &[("previous-line", "500")][..],
            &["Previous period"][..],
            " A line shows the previous period: 350 views.",
        ),
        (
            "&chart=side",
            &[("previous-line previous-human", "500"), ("previous-line previous-ai", "667")],
            &["People, previous period", "AI, previous period"],
            " Two lines show the previous period: 210 views by people, 140 by AI.",
        ),
    ] {
        for part in ["", "&path=/a", "&q=a"] {
            let url = format!("/p/docs/analytics?from=2026-11-14&to=2026-11-20{form}{part}");
            let page = viewer.page(&url).await;
            let tags = tags(&page);
            let drawn = tags.iter().filter(|tag| tag.name == "polyline");
            let drawn: Vec<_> = drawn.map(|tag| (tag.attribute("class"), tag.attribute("points"))).collect();
            let points =
                |top: &str| (0..7).map(|at| format!("{},{top}", at * 10 + 5)).collect::<Vec<_>>().join(" ");
            let expected: Vec<_> = lines.iter().map(|(class, top)| (*class, points(top))).collect();
            assert_eq!(
                drawn,
                expected.iter().map(|(class, points)| (*class, points.as_str())).collect::<Vec<_>>(),
                "{url}"
            );
            let legend: Vec<_> =
                tags.iter().filter(|tag| tag.name == "li").map(|tag| tag.text.trim()).collect();
            let heads: Vec<_> =
                tags.iter().filter(|tag| tag.name == "th").map(|tag| tag.text.trim()).collect();
            assert!(
                names.iter().all(|name| legend.contains(name) && heads.contains(name)),
                "{url}: {legend:?} {heads:?}"
            );
            let picture =
                tags.iter().find(|tag| tag.name == "svg" && tag.attribute("role") == "img").unwrap();
            assert!(picture.attribute("aria-label").ends_with(described), "{url}: {picture:?}");
            let before = &table_rows(&page, "pages")[0][5..];
            let expected: &[&str] =
                if form.is_empty() { &["50", "", ""] } else { &["50", "30", "20", "", ""] };
            assert_eq!(before, expected, "{url}");
        }
    }
}

#[tokio::test]
async fn finished_jobs_are_marked_on_their_utc_day() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-10", "2026-11-20") {
        archive.write(day, rows(&[("/guides/a", 1, 0)])).await;
    }
    // The platform archived it before it had a result.
    archive.job("docs", "Archived", &["/guides/b"], "archived", "2026-11-20T12:00:00Z").await;
    app.ledger().run("UPDATE jobs SET outcome = NULL").await;
    let a = archive
        .job("docs", "\n  Fix a\nand more", &["/guides/a", "/x"], "completed", "2026-11-10T00:00:00Z")
        .await;
    let b = archive.job("docs", "Fix b", &["/guides/b"], "archived", "2026-11-20T23:59:59Z").await;
    let none = archive.job("docs", "No path", &[], "completed", "2026-11-15T12:00:00Z").await;
    archive.job("docs", "Before", &["/guides/a"], "completed", "2026-11-09T23:59:59Z").await;
    archive.job("docs", "After", &["/guides/a"], "completed", "2026-11-21T00:00:00Z").await;
    archive.job("docs", "Failed", &["/guides/a"], "failed", "2026-11-12T12:00:00Z").await;
    archive.job("docs", "At work again", &["/guides/a"], "active", "2026-11-12T12:00:00Z").await;
    archive
        .job("docs", "Elsewhere", &["/guides-old/a", "/Guides/a"], "completed", "2026-11-12T12:00:00Z")
        .await;
    archive.job("api", "Another project", &["/guides/a"], "completed", "2026-11-12T12:00:00Z").await;
    let viewer = app.sign_in("vera").await;
    let marked = async |path: &str| -> Vec<Value> {
        let trend = trend(&viewer, "2026-11-10", "2026-11-20", path).await;
        trend["markers"].as_array().unwrap().iter().map(|marker| marker["job"].clone()).collect()
    };
    assert_eq!(marked("/guides/a").await, [json!(a)]);
    assert_eq!(marked("/guides/*").await, [json!(a), json!(b)]);
    let all = marked("").await;
    assert_eq!((all.len(), &all[0], &all[2], &all[3]), (4, &json!(a), &json!(none), &json!(b)));
    assert_eq!(marked("/guides").await.len(), 0);
    let first = &trend(&viewer, "2026-11-10", "2026-11-10", "").await["markers"][0];
    assert_eq!(first, &json!({"day": "2026-11-10", "job": a, "title": "Fix a"}));
}

#[tokio::test]
async fn notes_and_jobs_are_in_the_row_of_their_day_and_in_the_legend() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for of in days("2026-07-30", "2026-08-02") {
        archive.write(of, rows(&[("/a", 1, 0)])).await;
    }
    let viewer = app.sign_in("vera").await;
    let url = "/p/docs/analytics?from=2026-08-01&to=2026-08-02&compare=none";
    let legend = |page: &str| {
        let items: Vec<_> = tags(page).into_iter().filter(|tag| tag.name == "li").collect();
        ["Job finished", "Note"].map(|name| items.iter().any(|item| item.text.trim() == name))
    };
    let page = viewer.page(url).await;
    assert_eq!(legend(&page), [false, false], "there are no marks");

    archive.job("docs", "Fix **a**", &["/a"], "completed", "2026-08-01T12:00:00Z").await;
    let operator = app.operator().await;
    New::note("2026-08-01", "Release <3>").made(&operator).await;
    // Of a long note, the row has the beginning; of many, the first ones.
    for n in 1..=5 {
        New::note("2026-08-02", &format!("{}{n}", "x".repeat(120))).made(&operator).await;
    }
    let page = viewer.page(url).await;
    assert_eq!(legend(&page), [true, true]);
    let points = table_rows(&page, "pages");
    assert_eq!(points[0][6..], ["Fix a", "Release <3>"]);
    let long = ["x".repeat(100), "…".to_owned()].concat();
    assert_eq!(points[1][6..], [String::new(), format!("{long}; {long}; {long}; 2 more")]);
    assert!(page.contains("Release &lt;3") && !page.contains("Release <3"), "it is escaped");
    // A change of what counts as AI is a note, too.
    let page = viewer.page("/p/docs/analytics?from=2026-07-30&to=2026-07-31").await;
    let change = "The platform never counts Markdown pages as views by people";
    assert_eq!(table_rows(&page, "pages")[1][7], change);
    assert_eq!(legend(&page), [false, true]);
}
