//! Notifications: what changed since a person last looked, and the command palette.

use docket::model::time::Timestamp;
use serde_json::Value;

use crate::helpers::{Browser, TestApp};
use crate::list::obedient_upstream;

async fn looked_at(app: &TestApp, name: &str) -> Option<Timestamp> {
    let store = app.state().store.clone();
    let user = store.user_by_name(name).await.unwrap().unwrap();
    store.looked_at(&user.id, &"docs".parse().unwrap(), false).await.unwrap()
}

async fn listed(person: &Browser, who: &str) -> (Vec<String>, Value) {
    let said = person.ask("/api/notifications/list", &[("project", "docs"), ("who", who)]).await;
    let jobs = said["jobs"].as_array().unwrap();
    (jobs.iter().map(|job| job["prompt"].as_str().unwrap().to_owned()).collect(), said["looked_at"].clone())
}

#[tokio::test]
async fn people_see_their_own_ended_jobs_or_everyones_and_when_they_looked_before() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let (olga, ada) = (app.operator().await, app.sign_in("ada").await);
    for prompt in ["active one", "completed two"] {
        olga.created(prompt).await;
    }
    ada.created("break three").await;

    assert_eq!(listed(&olga, "").await, (vec!["completed two".to_owned()], Value::Null));
    let (mut all, before) = listed(&olga, "all").await;
    all.sort();
    assert_eq!((all, before), (vec!["break three".to_owned(), "completed two".to_owned()], Value::Null));
    for who in ["", "all"] {
        assert!(listed(&olga, who).await.1.is_string(), "{who}: she has looked");
    }
    assert_eq!(listed(&ada, "").await, (vec!["break three".to_owned()], Value::Null), "looking is one's own");
}

#[tokio::test]
async fn a_page_that_is_fetched_ahead_or_refreshes_itself_is_not_looked_at() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    for header in [("sec-purpose", "prefetch"), ("docket-refresh", "1")] {
        let request = olga.request(reqwest::Method::GET, "/p/docs/notifications").header(header.0, header.1);
        assert_eq!(olga.send(request).await.status, 200);
        assert_eq!(looked_at(&app, "olga").await, None, "{header:?}");
    }
    assert_eq!(olga.get("/p/docs/notifications").await.status, 200);
    assert!(looked_at(&app, "olga").await.is_some());
}

#[tokio::test]
async fn the_palette_finds_jobs_and_templates_by_words_within_the_project() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let olga = app.operator().await;
    let job = olga.created("completed explanation of the zebra crossing").await;
    olga.created("completed something else").await;
    let template = [("project", "docs"), ("name", "Zebra check"), ("text", "Check {{page}}")];
    olga.ask("/api/templates/save", &template).await;

    let found = olga.ask("/api/palette/find", &[("project", "docs"), ("q", "zebra")]).await;
    assert_eq!(found["jobs"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["jobs"][0]["href"], format!("/p/docs/jobs/{}", job["id"].as_str().unwrap()));
    assert_eq!(found["templates"][0]["name"], "Zebra check");
    let all = olga.ask("/api/palette/find", &[("project", "docs")]).await;
    assert_eq!(all["jobs"].as_array().unwrap().len(), 2, "{all}");
    let viewer =
        app.sign_in("vera").await.ask("/api/palette/find", &[("project", "docs"), ("q", "zebra")]).await;
    assert_eq!(viewer["templates"][0]["href"], "/p/docs/templates", "a viewer starts nothing");
    let elsewhere = olga.ask("/api/palette/find", &[("project", "api"), ("q", "zebra")]).await;
    assert_eq!(
        (elsewhere["jobs"].as_array().unwrap().len(), elsewhere["templates"].as_array().unwrap().len()),
        (0, 0)
    );
}
