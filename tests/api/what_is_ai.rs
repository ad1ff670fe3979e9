//! What counts as AI is said beside the figures, and days that the platform counts differently are not compared silently.

use crate::analytics_pages::at;
use crate::helpers::{Archive, Browser, TestApp, Written, days, rows};

const NOW: &str = "2026-08-20T12:00:00Z";
const HTML: &str = "agents fetch as HTML as views by AI";
const MARKDOWN: &str = "never counts Markdown pages as views by people";
const WARNING: &str = "What counts as AI changed within the compared days";

async fn filled() -> (TestApp, Browser) {
    let app = TestApp::with(at(NOW)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-05-01", "2026-08-20") {
        let fetched_at = (day.to_string() == "2026-08-20").then(|| NOW.parse().unwrap());
        archive.put("docs", Written { fetched_at, ..Written::new(day, rows(&[("/a", 20, 5)])) }).await;
    }
    archive.job("docs", "Rewrite", &["/a"], "completed", "2026-06-05T15:00:00Z").await;
    archive.job("docs", "Improve", &["/a"], "completed", "2026-07-10T15:00:00Z").await;
    app.ledger()
        .run("UPDATE jobs SET remote_id = id, remote_status = state, pr_link = 'https://example.com/1'")
        .await;
    let viewer = app.sign_in("vera").await;
    (app, viewer)
}

async fn page(viewer: &Browser, query: &str) -> String {
    viewer.get(&format!("/p/docs/analytics?{query}")).await.text
}

/// The notes of the chart, and those of the list.
fn notes(page: &str) -> [usize; 2] {
    let chart = page.matches("aria-label=\"Note on ").count();
    let list = page.matches("<span class=\"faint\">Docket</span>").count();
    [chart, list]
}

#[tokio::test]
async fn changes_of_the_definition_are_notes_on_their_days() {
    let (_app, viewer) = filled().await;
    for (query, expected) in [
        ("from=2026-06-01&to=2026-06-07", 0),
        ("from=2026-06-02&to=2026-06-08", 1),
        ("from=2026-06-08&to=2026-06-14", 1),
        ("from=2026-06-09&to=2026-06-15", 0),
        ("from=2026-06-01&to=2026-08-10", 2),
    ] {
        let page = page(&viewer, query).await;
        assert_eq!(notes(&page), [expected; 2], "{query}");
        assert!(page.contains("What counts as AI?"), "{query}");
    }
    let both = page(&viewer, "from=2026-06-01&to=2026-08-10").await;
    assert!(both.contains(HTML) && both.contains(MARKDOWN) && both.contains("2 notes"), "{both}");
}

#[tokio::test]
async fn comparison_across_a_change_has_a_warning() {
    let (_app, viewer) = filled().await;
    for (query, is_warned) in [
        // Compared with May 25 to May 31.
        ("from=2026-06-01&to=2026-06-07&compare=previous", false),
        // The change is within the range.
        ("from=2026-06-05&to=2026-06-11&compare=previous", true),
        // Between the two.
        ("from=2026-06-08&to=2026-06-14&compare=previous", true),
        // Within the days before: these begin on June 3.
        ("from=2026-06-10&to=2026-06-16&compare=previous", true),
        // The days before begin on June 8.
        ("from=2026-06-15&to=2026-06-21&compare=previous", false),
        ("from=2026-06-05&to=2026-06-11&compare=none", false),
        ("from=2026-06-05&to=2026-06-11&compare=previous&path=/a", true),
    ] {
        let page = page(&viewer, query).await;
        assert_eq!(page.contains(WARNING), is_warned, "{query}: {page}");
    }
}

#[tokio::test]
async fn views_around_a_job_across_a_change_have_a_warning() {
    let (_app, viewer) = filled().await;
    let list = viewer.post_json("/api/jobs/list", &[("project", "docs")]).await;
    for job in list["jobs"].as_array().unwrap() {
        let page = viewer.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await.text;
        assert!(page.contains("Views before and after"), "{page}");
        let is_warned = job["prompt"] == "Rewrite";
        assert_eq!(page.contains(WARNING), is_warned, "{}", job["prompt"]);
    }
}
