//! The report of one page: its figures, and views around the jobs about it.

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, Settings, TestApp, Written, day, days, figures, json, rows, table_rows};

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
    let days = "from=2026-11-15&to=2026-11-21";
    for (path, field) in [("/guides/a", ("q", "/guides/a")), ("/guides/*", ("folder", "/guides"))] {
        let page = viewer.get(&format!("/p/docs/analytics?{days}&path={path}")).await.text;
        // The figures and the trend of a table with this page only, changes included.
        let narrowed = viewer.get(&format!("/p/docs/analytics?{days}&{}={}", field.0, field.1)).await.text;
        assert_eq!(figures(&page), figures(&narrowed), "{path}");
        assert_eq!(figures(&page).len(), 8, "four figures with their changes");
        assert_eq!(table_rows(&page, "pages"), table_rows(&narrowed, "pages"), "{path}");
        let fields: Vec<_> = range.iter().copied().chain([("path", path)]).collect();
        let trend = viewer.post_json("/api/analytics/trend", &fields).await;
        let points = trend["points"].as_array().unwrap();
        let number =
            |count: &serde_json::Value| count.as_u64().map_or("–".to_owned(), |count| count.to_string());
        let expected: Vec<_> = points
            .iter()
            .map(|p| [&p["total"], &p["human"], &p["ai"], &p["previous"]["total"]].map(number))
            .collect();
        let shown: Vec<_> = table_rows(&page, "pages")
            .into_iter()
            .map(|row| [1, 2, 3, 5].map(|column| row[column].clone()))
            .collect();
        assert_eq!(shown, expected, "{path}");
        let total: u64 = points.iter().filter_map(|point| point["total"].as_u64()).sum();
        assert_eq!(figures(&page)[0], total.to_string(), "{path}");
    }
    let nobody = viewer.get(&format!("/p/docs/analytics?{days}&path=/nobody")).await.text;
    assert_eq!(figures(&nobody)[0], "0");
    assert!(nobody.contains("No job about this page has finished yet."), "{nobody}");
    // Without a path, it is the report of all pages.
    let unnamed = viewer.get(&format!("/p/docs/analytics?{days}&path=")).await.text;
    assert_eq!(table_rows(&unnamed, "pages daily").len(), 3);
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
    for (job, expected) in [
        (&today, effect(&today, "Today", "2026-11-21", 0, 0, 0)),
        // 2026-11-21 is not complete.
        (&new, effect(&new, "Days ago", "2026-11-18", 0, 0, 0)),
        (&week, effect(&week, "A week ago", "2026-11-13", 7, 21, 21)),
        // 2026-11-05 is not stored.
        (&gap, effect(&gap, "Before a gap", "2026-11-02", 0, 0, 0)),
        (&full, effect(&full, "Rewrite", "2026-10-01", 14, 14, 42)),
    ] {
        let pairs = [("project", "docs"), ("job", job.as_str())];
        let pages = viewer.post_json("/api/analytics/job", &pairs).await;
        assert_eq!(pages, json!({"pages": [{"path": "/a", "effect": expected}], "pages_total": 1}));
    }
    // The report of the page lists the jobs about it, newest first, also those outside the range.
    let page = viewer.get("/p/docs/analytics?path=/a&from=2026-11-10&to=2026-11-16").await.text;
    let listed: Vec<String> = table_rows(&page, "pages effects").iter().map(|row| row.join(" | ")).collect();
    for (row, expected) in listed.iter().zip([
        "Today | Nov 21, 2026 | Too early to tell",
        "Days ago | Nov 18, 2026 | Too early to tell",
        "A week ago | Nov 13, 2026 | 7 days | 21 | 21 | People 0% · AI –",
        "Before a gap | Nov 2, 2026 | 1 day around it not in the daily history",
        "Rewrite | Oct 1, 2026 | 14 days | 14 | 42 | People +200% · AI –",
    ]) {
        assert!(row.starts_with(expected), "{row}");
    }
    assert_eq!(listed.len(), 5);
    // The job page shows the same.
    let page = viewer.get(&format!("/p/docs/jobs/{full}")).await.text;
    assert!(page.contains("People +200% · AI –: 14 views by people before, 42 after"), "{page}");
    let all = viewer.get(&format!("/p/docs/jobs/{full}?readers=all")).await.text;
    assert!(all.contains("All +100% · People +200% · AI –: 28 views before, 56 after"), "{all}");
    let by_ai = viewer.get(&format!("/p/docs/jobs/{full}?readers=ai")).await.text;
    assert!(by_ai.contains("Too few views by AI to tell"), "{by_ai}");
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
        assert!(!viewer.page(page).await.contains("Fetch these days"), "a viewer spends nothing");
    }
    let weeks = [("project", "docs"), ("from", "2026-10-26"), ("to", "2026-11-09")];
    operator.post_json("/api/history/fetch", &weeks).await;
    for page in &pages {
        let html = operator.get(page).await.text;
        assert!(html.contains("Fetching the days around it: 1 day to go"), "{html}");
        assert!(html.contains("data-every=\"5\"") && !html.contains("fetch-days-form"), "{html}");
    }
    let elsewhere = [("project", "api"), ("job", full.as_str())];
    assert_eq!(
        viewer.post_json("/api/analytics/job", &elsewhere).await,
        json!({"pages": [], "pages_total": 0})
    );
}

/// The project, the title and the state of a job, and whether views are compared before and after it.
const ENDED: [(&str, &str, &str, bool); 9] = [
    ("docs", "Completed, with a request", "completed", true),
    ("docs", "Completed, without one", "completed", false),
    ("docs", "Archived later, with a request", "archived", true),
    ("docs", "Archived later, without one", "archived", false),
    ("docs", "Archived at work, with a request", "archived", false),
    ("docs", "Failed, with a request", "failed", false),
    ("api", "Published", "completed", true),
    ("api", "Published, archived later", "archived", true),
    ("api", "Archived at work", "archived", false),
];

/// The others have none, and were completed before they were archived. All requests are merged.
const REQUESTS_AND_OUTCOMES: [&str; 4] = [
    "UPDATE jobs SET remote_id = id, remote_status = state",
    "UPDATE jobs SET pr_link = 'https://x.example/1'
     WHERE id IN (SELECT job_id FROM messages WHERE prompt LIKE '%, with a request')",
    "UPDATE jobs SET outcome = NULL WHERE id IN (SELECT job_id FROM messages WHERE prompt LIKE 'Archived at work%')",
    // October 1, 2026.
    "UPDATE pull_requests SET state = 'merged', merged_at = 1790841600000",
];

#[tokio::test]
async fn only_a_completed_job_with_changes_has_an_effect_on_any_page() {
    let app = TestApp::with(Settings { direct_projects: vec!["api"], ..at(NOON) }).await;
    let mut archive = Archive::of(&app).await;
    for of in days("2026-09-24", "2026-10-08") {
        let views = if of < day("2026-10-02") { 50 } else { 58 };
        for project in ["docs", "api"] {
            archive.put(project, Written::new(of, rows(&[("/a", views, 0)]))).await;
        }
    }
    let mut jobs = Vec::new();
    for (project, title, state, _) in ENDED {
        jobs.push(archive.job(project, title, &["/a"], state, "2026-10-01T12:00:00Z").await);
    }
    for statement in REQUESTS_AND_OUTCOMES {
        app.ledger().run(statement).await;
    }
    let viewer = app.sign_in("vera").await;
    for project in ["docs", "api"] {
        let range = "from=2026-09-24&to=2026-10-08";
        let page = viewer.get(&format!("/p/{project}/analytics?path=/a&{range}")).await.text;
        let mut effects = table_rows(&page, "pages effects");
        effects.sort();
        let here: Vec<_> = ENDED.into_iter().filter(|ended| ended.0 == project).collect();
        let mut expected: Vec<_> = here.iter().filter(|ended| ended.3).map(|(_, title, ..)| *title).collect();
        expected.sort_unstable();
        assert_eq!(effects.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), expected, "{project}");
        assert!(effects.iter().all(|row| row[5] == "People +16% · AI –"), "{effects:?}");
        // The report lists the others without figures.
        assert!(here.iter().all(|(_, title, ..)| page.contains(title)), "{page}");
    }
    for (job, (project, title, _, has_effect)) in jobs.iter().zip(ENDED) {
        let page = viewer.get(&format!("/p/{project}/jobs/{job}")).await.text;
        assert_eq!(page.contains("Views before and after"), has_effect, "{title}: {page}");
        assert_eq!(page.contains("+16%"), has_effect, "{title}");
        let pairs = [("project", project), ("job", job.as_str())];
        let effects = viewer.post_json("/api/analytics/job", &pairs).await;
        assert_eq!(effects["pages"].as_array().unwrap().len(), usize::from(has_effect), "{title}: {effects}");
    }
}
