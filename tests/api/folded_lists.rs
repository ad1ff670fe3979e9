//! Lists of jobs that are not plain: the overview has a person's own failures apart from those of others, the queue counts what a batch has
//! left, the list of jobs is limited to days, and the preview of a batch marks its values.

use std::time::Duration;

use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{Archive, Browser, New, TestApp, detached_job, json, remote_job, until};
use crate::queue::per_hour;

const DOCS: [(&str, &str); 1] = [("project", "docs")];

async fn batch_of_three(person: &Browser) -> String {
    let batch = New::batch("Check {{page}}", "/a\n/b\n/c").started(person).await;
    batch["id"].as_str().unwrap().to_owned()
}

fn ids(jobs: &Value) -> Vec<&str> {
    jobs.as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn overview_has_own_failures_apart_from_those_of_others() {
    let app = TestApp::start().await;
    let failed =
        |_: &Request| ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "failed"));
    app.upstream.on_create(failed).await;
    let (olga, otto) = (app.operator().await, app.sign_in("otto").await);
    let own = New::job("Draw a diagram").made(&olga).await;
    let other = New::job("Draw another diagram").made(&otto).await;
    let batch = batch_of_three(&otto).await;
    let of = async |person: &Browser| person.post_json("/api/jobs/overview", &DOCS).await;
    let overview = until("all have failed", async || {
        let overview = of(&olga).await;
        (overview["attention"] == 5).then_some(overview)
    })
    .await;
    assert_eq!(ids(&overview["needing"]), [own["id"].as_str().unwrap()]);
    assert_eq!(ids(&overview["needing_of_others"]).len(), 4);
    assert_eq!(overview["batches"][0]["id"], batch.as_str());
    let overview = of(&otto).await;
    assert_eq!(ids(&overview["needing"]).last(), Some(&other["id"].as_str().unwrap()));
    assert_eq!(ids(&overview["needing_of_others"]), [own["id"].as_str().unwrap()]);

    let page = olga.get("/p/docs").await.text;
    let (yours, teams) = page.split_once("Your team’s").unwrap();
    assert!(yours.contains("Yours") && yours.contains("Draw a diagram"));
    assert!(teams.contains("3 of 3 sent") && teams.contains("Dismiss for everyone"));
}

#[tokio::test]
async fn queue_counts_what_a_batch_has_left() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let olga = app.operator().await;
    let batch = batch_of_three(&olga).await;
    let queue = until("one is sent", async || {
        let queue = olga.post_json("/api/queue/list", &DOCS).await;
        (queue["waiting"].as_array().unwrap().len() == 2).then_some(queue)
    })
    .await;
    let [folded] = queue["batches"].as_array().unwrap().as_slice() else { panic!("{queue}") };
    let expected = json!({ "id": batch, "name": "Check a page · 3 pages", "left": 2, "jobs": 3 });
    assert_eq!(*folded, expected);
    let page = olga.get("/p/docs/queue").await.text;
    assert!(page.contains("2 of 3 left") && !page.contains("/api/batches/cancel"));
    let page = olga.get(&format!("/p/docs/queue?cancel={batch}")).await.text;
    assert!(page.contains("/api/batches/cancel") && page.contains("Cancel 2 jobs"));
    let viewer = app.sign_in("vera").await.get(&format!("/p/docs/queue?cancel={batch}")).await.text;
    assert!(viewer.contains("2 of 3 left") && !viewer.contains("/api/batches/cancel"));

    olga.post_json("/api/batches/cancel", &[("project", "docs"), ("batch", &batch)]).await;
    let queue = olga.post_json("/api/queue/list", &DOCS).await;
    assert!(queue.get("batches").is_none(), "{queue}");
}

#[tokio::test]
async fn list_of_jobs_is_limited_to_days() {
    let app = TestApp::with(per_hour(40)).await;
    app.upstream.accepts_jobs().await;
    let olga = app.operator().await;
    let first = New::job("On March 10").id(&olga).await;
    app.clock().advance(Duration::from_secs(86_400));
    // Her session ended.
    let olga = app.operator().await;
    let second = New::job("On March 11").id(&olga).await;
    let found = async |from: &str, to: &str| {
        let fields = [("project", "docs"), ("from", from), ("to", to)];
        let list = olga.post_json("/api/jobs/list", &fields).await;
        assert_eq!(list["total"], list["jobs"].as_array().unwrap().len());
        ids(&list["jobs"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found("2025-03-10", "2025-03-10").await, [&*first]);
    assert_eq!(found("1d", "").await, [&*second]);
    assert_eq!(found("2d", "").await, [&*second, &*first]);
    assert!(found("", "2025-03-09").await.is_empty());
    for (from, to) in [("soon", ""), ("", "1d"), ("2025-03-11", "2025-03-10")] {
        let fields = [("project", "docs"), ("from", from), ("to", to)];
        olga.post("/api/jobs/list", &fields).await.refused(400, "bad_input");
    }
    // A bulk action applies to the jobs of these days only.
    let archived = [("project", "docs"), ("matching", "?from=1d"), ("count", "1")];
    olga.post_json("/api/jobs/archive", &archived).await;
    assert_eq!(found("2d", "").await, [&*first]);
}

#[tokio::test]
async fn preview_of_a_batch_marks_values_and_unknown_pages() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let batch = async |values: &str| {
        let id = New::batch("Check <i> {{page}} for {{who}}", values).id(&olga).await;
        // Without the markers of Leptos.
        olga.get(&format!("/p/docs/batches/{id}")).await.text.replace("<!>", "")
    };
    let values = "page,who\n/quickstart/,you\n/quickstrat,&co";
    let page = batch(values).await;
    assert!(!page.contains("Unknown page"), "there is no list of known pages");
    Archive::of(&app).await.add_pages(&["/quickstart"]).await;
    let page = batch(&format!("{values}2")).await;
    let (known, unknown) = page.split_once("<mark>/quickstrat</mark>").unwrap();
    assert!(known.contains("Check &lt;i&gt; <mark>/quickstart/</mark> for <mark>you</mark>"), "{known}");
    assert!(unknown.contains("<mark>&amp;co2</mark>"), "{unknown}");
    assert_eq!(page.matches(">Unknown page<").count(), 1);
    assert!(page.contains("1 page is not in the list of known pages."));
}
