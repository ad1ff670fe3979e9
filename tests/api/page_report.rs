//! The report of one page: its figures, and views around the jobs about it.

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, TestApp, Written, days, json, rows};

#[tokio::test]
async fn page_report_agrees_with_table_row_and_trend() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for (n, day) in days("2026-11-08", "2026-11-21").into_iter().enumerate() {
        let fetched_at = (n == 13).then(|| NOON.parse().unwrap());
        let rows = rows(&[("/guides/a", n as u64, 2), ("/guides/b", 3, n as u64), ("/c", 1, 1)]);
        archive.put("docs", Written { fetched_at, ..Written::new(day, rows) }).await;
    }
    let viewer = app.sign_in("vera").await;
    let range = [("project", "docs"), ("from", "2026-11-15"), ("to", "2026-11-21")];
    for (path, more) in [("/guides/a", ("q", "/guides/a")), ("/guides/*", ("folder", "/"))] {
        let with =
            |field: (&'static str, &'static str)| range.iter().copied().chain([field]).collect::<Vec<_>>();
        let report = viewer.post_json("/api/analytics/page", &with(("path", path))).await;
        let table = viewer.post_json("/api/analytics/pages", &with(more)).await;
        let rows = table["rows"].as_array().unwrap();
        let mut row = rows.iter().find(|row| row["path"] == path).unwrap().clone();
        row.as_object_mut().unwrap().remove("pages");
        assert_eq!(report["row"], row, "{path}");
        assert_eq!(
            report["trend"],
            viewer.post_json("/api/analytics/trend", &with(("path", path))).await,
            "{path}"
        );
    }
    let nobody: Vec<_> = range.iter().copied().chain([("path", "/nobody")]).collect();
    let report = viewer.post_json("/api/analytics/page", &nobody).await;
    assert_eq!((&report["row"]["total"], &report["jobs"]), (&json!(0), &json!([])));
    let unnamed: Vec<_> = range.iter().copied().chain([("path", "")]).collect();
    viewer.post("/api/analytics/page", &unnamed).await.refused(400, "bad_input");
}

#[tokio::test]
async fn job_effect_compares_weeks_without_the_day_itself() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let kept = days("2026-09-01", "2026-11-21").into_iter().filter(|day| day.to_string() != "2026-11-05");
    for day in kept {
        let fetched_at = (day.to_string() == "2026-11-21").then(|| NOON.parse().unwrap());
        let views = if day < crate::helpers::day("2026-10-01") { 1 } else { 3 };
        let rows = rows(&[("/a", views, 1), ("/b", 1_000, 0)]);
        archive.put("docs", Written { fetched_at, ..Written::new(day, rows) }).await;
    }
    let full = archive.job("docs", "Rewrite", &["/a"], "completed", "2026-10-01T15:00:00Z").await;
    let gap = archive.job("docs", "Before a gap", &["/a"], "archived", "2026-11-02T00:00:00Z").await;
    let new = archive.job("docs", "Days ago", &["/a"], "completed", "2026-11-18T23:59:59Z").await;
    let week = archive.job("docs", "A week ago", &["/a"], "completed", "2026-11-13T12:00:00Z").await;
    let today = archive.job("docs", "Today", &["/a"], "completed", "2026-11-21T08:00:00Z").await;
    archive.job("docs", "Another page", &["/b"], "completed", "2026-10-01T15:00:00Z").await;
    app.ledger()
        .run("UPDATE jobs SET remote_id = id, remote_status = state, pr_link = 'https://example.com/1'")
        .await;
    let viewer = app.sign_in("vera").await;
    let pairs = [("project", "docs"), ("from", "2026-11-10"), ("to", "2026-11-16"), ("path", "/a")];
    let jobs = viewer.post_json("/api/analytics/page", &pairs).await["jobs"].take();
    // How many days of the week before and the week after are not stored.
    let missing = |title: &str| match title {
        "Today" => 7,
        "Days ago" => 4,
        "Before a gap" => 1,
        _ => 0,
    };
    let effect = |job: &str, title: &str, finished: &str, days: u64, before: u64, after: u64| {
        json!({
            "job": job, "title": title, "finished": finished, "days": days,
            "before": {"human": before, "ai": days, "total": before + days},
            "after": {"human": after, "ai": days, "total": after + days},
            "missing": missing(title), "requested": false,
        })
    };
    assert_eq!(
        jobs,
        json!([
            effect(&today, "Today", "2026-11-21", 0, 0, 0),
            // 2026-11-21 is not complete.
            effect(&new, "Days ago", "2026-11-18", 0, 0, 0),
            effect(&week, "A week ago", "2026-11-13", 7, 21, 21),
            // 2026-11-05 is not stored.
            effect(&gap, "Before a gap", "2026-11-02", 0, 0, 0),
            effect(&full, "Rewrite", "2026-10-01", 14, 14, 42),
        ])
    );
    let of_job =
        |job: &str| [("project", "docs"), ("job", job)].map(|(name, value)| (name, value.to_owned()));
    for (job, expected) in
        [(&full, effect(&full, "Rewrite", "2026-10-01", 14, 14, 42)), (&new, jobs[1].clone())]
    {
        let pairs = of_job(job);
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let pages = viewer.post_json("/api/analytics/job", &pairs).await;
        assert_eq!(pages, json!([{"path": "/a", "effect": expected}]));
    }
    // The job page shows the same.
    let page = viewer.get(&format!("/p/docs/jobs/{full}")).await.text;
    assert!(page.contains("28 views before, 56 after"), "{page}");
    assert!(viewer.get(&format!("/p/docs/jobs/{new}")).await.text.contains("Too early to tell"));
    // The missing day can be fetched from both pages.
    let operator = app.operator().await;
    let pages =
        [format!("/p/docs/jobs/{gap}"), "/p/docs/analytics?path=/a&from=2026-11-10&to=2026-11-16".to_owned()];
    for page in &pages {
        let html = operator.get(page).await.text;
        assert!(html.contains("1 day around it not in the daily history"), "{html}");
        assert!(
            html.contains("name=\"from\" value=\"2026-10-26\"") && html.contains("Fetch these days"),
            "{html}"
        );
        assert!(!viewer.get(page).await.text.contains("Fetch these days"), "a viewer spends nothing");
    }
    let weeks = [("project", "docs"), ("from", "2026-10-26"), ("to", "2026-11-09")];
    operator.post_json("/api/history/fetch", &weeks).await;
    for page in &pages {
        let html = operator.get(page).await.text;
        assert!(html.contains("Fetching the days around it: 1 day to go"), "{html}");
        assert!(html.contains("data-every=\"5\"") && !html.contains("fetch-days-form"), "{html}");
    }
    let elsewhere = [("project", "api"), ("job", full.as_str())];
    assert_eq!(viewer.post_json("/api/analytics/job", &elsewhere).await, json!([]));
}
