//! Pull requests joined with page views, batches and events, and what `docket check` reports about their host.

use model::page_views::ViewCounts;
use serde_json::Value;
use wiremock::ResponseTemplate;

use super::{Tracked, events, tracked, with_receiver};
use crate::helpers::code_host::{TOKEN, open_pull_request};
use crate::helpers::{Archive, Installation, New, day, days, json, picked, rows, until, views_answer};

impl Tracked {
    /// A job about the page `/quickstart`, which its pull request with this number changes.
    async fn job_about_quickstart(&self, number: u64) -> String {
        let mut archive = Archive::of(&self.app).await;
        for day in days("2026-11-01", "2026-11-20") {
            archive.write(day, rows(&[("/quickstart", 3, 1)])).await;
        }
        self.host.set(number, open_pull_request());
        let job = self.job_with(&self.host.link(number), &[("paths", "/quickstart")]).await;
        self.until(&job, "state", json!("open")).await;
        job
    }

    async fn merge(&self, number: u64, at: &str) {
        self.host.change(number, &json!({ "state": "MERGED", "mergedAt": at, "closedAt": at }));
        self.wait_minutes(7);
    }

    /// The views of `/quickstart` before and after the job.
    async fn effect(&self, job: &str) -> Value {
        let mut pages =
            self.browser.post_json("/api/analytics/job", &[("project", "docs"), ("job", job)]).await;
        pages["pages"][0]["effect"].take()
    }
}

#[tokio::test]
async fn views_are_compared_from_the_merge_on() {
    let tracked = tracked().await;
    let job = tracked.job_about_quickstart(1).await;
    let open = tracked.effect(&job).await;
    assert_eq!((&open["job"], &open["unmerged"], &open["days"]), (&json!(job), &json!("open"), &json!(0)));
    let page = format!("/p/docs/jobs/{job}");
    let report = "/p/docs/analytics?path=/quickstart&from=2026-11-01&to=2026-11-20";
    for page in [&page, report] {
        assert!(tracked.browser.get(page).await.text.contains("Not merged"), "{page}");
    }

    tracked.merge(1, "2026-11-10T08:00:00Z").await;
    tracked.until(&job, "state", json!("merged")).await;
    let merged = tracked.effect(&job).await;
    assert_eq!((&merged["finished"], &merged["unmerged"]), (&json!("2026-11-10"), &Value::Null), "{merged}");
    let week = json!(ViewCounts { human: 21, ai: 7, total: 28 });
    assert_eq!((&merged["days"], &merged["before"], &merged["after"]), (&json!(7), &week, &week), "{merged}");
}

#[tokio::test]
async fn chart_marks_the_merge_of_a_pull_request() {
    let tracked = tracked().await;
    let job = tracked.job_about_quickstart(1).await;
    tracked.merge(1, "2026-11-10T08:00:00Z").await;
    tracked.until(&job, "state", json!("merged")).await;
    let fields = [("project", "docs"), ("path", "/quickstart"), ("from", "2026-11-01"), ("to", "2026-11-20")];
    let marker = tracked.browser.post_json("/api/analytics/trend", &fields).await["markers"][0].take();
    assert_eq!(marker["job"], json!(job));
    insta::assert_compact_json_snapshot!(picked(&marker, ["day", "merged"]), @r#"{"day": "2026-11-10", "merged": true}"#);
    let address = "/p/docs/analytics?path=/quickstart&from=2026-11-01&to=2026-11-20";
    assert!(tracked.browser.get(address).await.text.contains("Merged: "));
}

#[tokio::test]
async fn open_pull_request_is_shown_in_batch_previews_and_analytics() {
    let tracked = tracked().await;
    tracked.job_about_quickstart(259).await;
    let batch = New::batch("Check {{page}}", "/quickstart\n/other").made(&tracked.browser).await;
    let changed = &batch["changed_pages"];
    assert_eq!(changed.as_array().unwrap().len(), 1, "{batch}");
    assert_eq!((&changed[0]["path"], &changed[0]["changed_by"]), (&json!("/quickstart"), &json!("#259")));
    let preview = format!("/p/docs/batches/{}", batch["id"].as_str().unwrap());
    assert!(tracked.browser.get(&preview).await.text.contains("An open pull request ("));
    let table = tracked.browser.get("/p/docs/analytics?from=2026-11-01&to=2026-11-20").await.text;
    assert!(table.contains("An open pull request (#259) changes this page"), "{table}");
}

#[tokio::test]
async fn open_pull_request_is_shown_at_pages_in_another_form() {
    let tracked = tracked().await;
    tracked.job_about_quickstart(1).await;
    Archive::of(&tracked.app)
        .await
        .write(day("2026-11-20"), rows(&[("/Cafe\u{301}/", 3, 1), ("/quickstart", 3, 1)]))
        .await;
    let files = json!({ "files": { "nodes": [{ "path": "docs/caf\u{e9}.mdx" }, { "path": "docs/quickstart.mdx" }] } });
    tracked.host.set(2, open_pull_request());
    tracked.host.change(2, &files);
    let job = tracked.job(2).await;
    tracked.until(&job, "state", json!("open")).await;
    // A page that a prompt mentions, and one in another spelling.
    let batch =
        New::batch("{{task}}", "\"Fix `/Quickstart/`, please\"\nSee /CAF\u{c9}").made(&tracked.browser).await;
    let changed: Vec<_> =
        batch["changed_pages"].as_array().unwrap().iter().map(|page| page["path"].clone()).collect();
    assert_eq!(changed, [json!("/Cafe\u{301}/"), json!("/quickstart")], "{batch}");
    let similar = [("project", "docs"), ("prompt", "Something else"), ("paths", "/caf\u{e9}")];
    let similar = tracked.browser.post_json("/api/jobs/similar", &similar).await;
    assert_eq!(similar[0]["changed_by"], "#2", "{similar}");
    let table = tracked.browser.get("/p/docs/analytics?from=2026-11-20&to=2026-11-20").await.text;
    assert!(table.contains("An open pull request (#2) changes this page"), "{table}");
}

#[tokio::test]
async fn pull_request_closed_without_a_merge_is_notified_once() {
    let tracked = tracked().await;
    let receiver = with_receiver(&tracked).await;
    let (job, _) = tracked.open_job(1).await;
    tracked.host.change(1, &json!({ "state": "CLOSED", "closedAt": "2026-11-21T10:05:00Z" }));
    tracked.wait_minutes(7);
    let closed = tracked.until(&job, "state", json!("closed")).await;
    insta::assert_compact_json_snapshot!(picked(&closed, ["closed_at", "merged_at", "waiting_for"]), @r#"{"closed_at": "2026-11-21T10:05:00Z", "merged_at": null, "waiting_for": "nobody"}"#);
    until("the event is delivered", async || (!events(&receiver).await.is_empty()).then_some(())).await;
    tracked.wait_minutes(12);
    tracked.until(&job, "checked_at", json!("2026-11-21T10:19:00Z")).await;
    assert_eq!(events(&receiver).await, ["pull_request.closed"]);
}

#[tokio::test]
async fn check_lists_what_a_connection_may_read() {
    let tracked = tracked().await;
    tracked.app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let installation = Installation::configured(&tracked.app.upstream.url())
        .set("DOCKET_DATABASE_URL", tracked.app.database_url())
        .set("DOCKET_GITHUB_URL", &tracked.host.url())
        .set("DOCKET_GITHUB_TOKEN_FILE", "token");
    std::fs::write(installation.path("token"), TOKEN).unwrap();
    let line = || {
        let finished = installation.run(&["check"]);
        assert!(!finished.stdout.contains(TOKEN) && !finished.stderr.contains(TOKEN));
        let found = finished.stdout.lines().find(|line| line.contains("code host ")).map(str::to_owned);
        found.unwrap_or_else(|| panic!("{finished:?}"))
    };
    assert!(line().ends_with("not used yet: no job has a pull request there"), "{}", line());
    let (job, _) = tracked.open_job(1).await;
    assert!(line().ends_with("acme/docs: pull requests and checks"), "{}", line());
    let path = ["p0", "pullRequest", "commits", "nodes", "0", "commit", "statusCheckRollup"];
    tracked.host.set_errors(vec![json!({ "type": "FORBIDDEN", "path": path, "message": "no" })]);
    tracked.host.change(1, &json!({ "commits": { "nodes": [{ "commit": { "statusCheckRollup": null } }] } }));
    assert!(line().ends_with("acme/docs: pull requests, but no checks"), "{}", line());
    tracked.host.respond_instead(Some(ResponseTemplate::new(401)));
    let refused = line();
    assert!(refused.starts_with("FAILED") && refused.contains("401"), "{refused}");
    assert_eq!(tracked.request_of(&job).await["state"], "open", "it writes nothing");
}
