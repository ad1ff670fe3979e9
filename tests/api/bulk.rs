//! Tags, and bulk actions, also by plain forms.

use crate::helpers::{TestApp, json, tags};
use crate::list::{list, prompts};

#[tokio::test]
async fn tag_is_case_insensitive_and_stored_once_per_job() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let id = job["id"].as_str().unwrap();
    let tag = async |verb: &str, tag: &str| {
        operator
            .post_json(&format!("/api/jobs/{verb}"), &[("project", "docs"), ("jobs", id), ("tag", tag)])
            .await
    };
    assert_eq!(tag("tag", "  SDK  v3 ").await, json!({"jobs": [id]}));
    assert_eq!(tag("tag", "sdk V3").await, json!({"jobs": []}));
    tag("tag", "Überblick").await;
    assert_eq!(operator.job(&job).await["tags"], json!(["SDK v3", "Überblick"]));
    assert_eq!(list(&operator, &[]).await["jobs"][0]["tags"], json!(["SDK v3", "Überblick"]));
    for written in ["SDK v3", "sdk v3", "überblick"] {
        assert_eq!(prompts(&list(&operator, &[("tag", written)]).await), ["Fix typos"], "{written}");
    }
    assert_eq!(list(&operator, &[("tag", "sdk")]).await["total"], 0);
    for bad in ["", "  ", "/guides", "a,b", "<b>", "a\nb", &"x".repeat(41)] {
        let fields = [("project", "docs"), ("jobs", id), ("tag", bad)];
        operator.post("/api/jobs/tag", &fields).await.refused(400, "bad_input");
    }
    assert_eq!(tag("untag", "sdk v3").await, json!({"jobs": [id]}));
    assert_eq!(list(&operator, &[("tag", "sdk v3")]).await["total"], 0);
    assert_eq!(operator.job(&job).await["tags"], json!(["Überblick"]));
}

#[tokio::test]
async fn bulk_action_accepts_a_list_or_repeated_fields() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let mut ids = Vec::new();
    for n in 0..4 {
        ids.push(operator.created(&format!("job {n}")).await["id"].as_str().unwrap().to_owned());
    }
    let listed = [("project", "docs"), ("jobs", &format!("{},{}", ids[0], ids[1])), ("tag", "one & two")];
    operator.post("/api/jobs/tag", &listed).await.refused(400, "bad_input");
    let listed = [("project", "docs"), ("jobs", &format!("{},{}", ids[0], ids[1])), ("tag", "one list")];
    assert_eq!(operator.post_json("/api/jobs/tag", &listed).await["jobs"].as_array().unwrap().len(), 2);
    let repeated = [("jobs", ids[2].as_str()), ("project", "docs"), ("jobs", &ids[3]), ("tag", "one by one")];
    assert_eq!(operator.post_json("/api/jobs/tag", &repeated).await["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(list(&operator, &[("tag", "one by one")]).await["total"], 2);
    let all = ids.join(",");
    assert_eq!(
        operator.post_json("/api/jobs/archive", &[("project", "docs"), ("jobs", &all)]).await["jobs"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(list(&operator, &[]).await["total"], 0);
}

#[tokio::test]
async fn bulk_form_works_without_javascript() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(operator.created(&format!("job {n}")).await["id"].as_str().unwrap().to_owned());
    }
    let address = "/p/docs/jobs?q=job";
    let referer = format!("{}{address}", app.origin());
    let page = operator.get(address).await.text;
    for id in &ids {
        assert!(page.contains(&format!("value=\"{id}\"")), "no checkbox for {id}");
    }
    let chosen = [("project", "docs"), ("jobs", ids[0].as_str()), ("jobs", &ids[2]), ("tag", "")];
    let response = operator.submit("/api/jobs/archive", &chosen, Some(&referer)).await;
    assert_eq!((response.status, response.location()), (302, referer.as_str()));
    assert_eq!(prompts(&list(&operator, &[]).await), ["job 1"]);

    let none =
        operator.submit("/api/jobs/archive", &[("project", "docs"), ("tag", "")], Some(&referer)).await;
    assert_eq!(none.status, 303);
    let path = none.location().strip_prefix(&app.origin()).unwrap_or(none.location()).to_owned();
    assert!(operator.get(&path).await.text.contains("Choose at least one job"), "{path}");
}

#[tokio::test]
async fn oversized_bulk_form_is_refused() {
    let app = TestApp::start().await;
    let huge = "x".repeat(600 * 1024);
    let fields = [("project", "docs"), ("jobs", huge.as_str())];
    app.operator().await.post("/api/jobs/archive", &fields).await.refused(413, "bad_input");
}

#[tokio::test]
async fn bulk_action_changes_matching_jobs_on_every_page() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    for n in 0..53 {
        operator.created(&format!("job {n}")).await;
    }
    operator.created("other").await;
    let fields = [("project", "docs"), ("matching", "?q=job"), ("tag", "all of them")];
    let tagged = operator.post_json("/api/jobs/tag", &fields).await;
    assert_eq!(tagged["jobs"].as_array().unwrap().len(), 53);
    assert_eq!(list(&operator, &[("tag", "all of them")]).await["total"], 53);
    let fields = [("project", "docs"), ("matching", "?status=nonsense")];
    operator.post("/api/jobs/archive", &fields).await.refused(400, "bad_input");
    let archived = operator
        .post_json("/api/jobs/archive", &[("project", "docs"), ("matching", "?tag=all of them")])
        .await;
    assert_eq!(archived["jobs"].as_array().unwrap().len(), 53);
    assert_eq!(prompts(&list(&operator, &[]).await), ["other"]);
    let nothing = [("project", "docs"), ("matching", "?q=nothing")];
    operator.post("/api/jobs/archive", &nothing).await.refused(400, "bad_input");
}

#[tokio::test]
async fn action_on_another_number_than_shown_is_refused() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    operator.created("job one").await;
    let shown = [("project", "docs"), ("matching", "?q=job"), ("count", "1")];
    operator.created("job two").await;
    let refused = operator.post("/api/jobs/archive", &shown).await.refused(400, "bad_input");
    assert!(refused.starts_with("You selected 1, 2 match now."), "{refused}");
    assert_eq!(list(&operator, &[]).await["total"], 2);
    let now = [("project", "docs"), ("matching", "?q=job"), ("count", "2")];
    assert_eq!(operator.post_json("/api/jobs/archive", &now).await["jobs"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn tag_filter_shows_the_tag_as_typed() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let (first, second) = (operator.created("one").await, operator.created("two").await);
    for (job, tag) in [(&first, "sdk V3"), (&second, "SDK v3"), (&first, "Überblick")] {
        let fields = [("project", "docs"), ("jobs", job["id"].as_str().unwrap()), ("tag", tag)];
        operator.post_json("/api/jobs/tag", &fields).await;
    }
    // The newest job decides between two spellings.
    let page = operator.get("/p/docs/jobs").await.text;
    let entries = tags(&page);
    let entry = |text: &str| entries.iter().any(|tag| tag.name == "bdi" && tag.text == text);
    assert!(entry("SDK v3") && entry("Überblick"), "{page}");
    assert!(!entry("sdk V3") && !entry("sdk v3") && !entry("überblick"), "{page}");
    for written in ["SDK v3", "sdk v3"] {
        assert_eq!(list(&operator, &[("tag", written)]).await["total"], 2, "{written}");
    }
}
