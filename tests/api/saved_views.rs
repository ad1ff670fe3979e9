//! Saved views: private and shared ones.

use serde_json::Value;

use crate::helpers::{Browser, New, TestApp, json, steady};

async fn save(person: &Browser, name: &str, query: &str, shared: &str) -> Value {
    New::view(name, query).with("shared", shared).made(person).await
}

async fn views(person: &Browser) -> Vec<(String, String, bool)> {
    let views = person.post_json("/api/saved-views/list", &[("project", "docs")]).await;
    let view = |view: &Value| {
        let text = |field: &str| view[field].as_str().unwrap().to_owned();
        (text("name"), text("owner"), view["own"].as_bool().unwrap())
    };
    views.as_array().unwrap().iter().map(view).collect()
}

fn own(name: &str, owner: &str) -> (String, String, bool) {
    (name.to_owned(), owner.to_owned(), true)
}

#[tokio::test]
async fn saved_view_is_private_until_shared() {
    let app = TestApp::start().await;
    let (olga, vera) = (app.operator().await, app.sign_in("vera").await);
    let saved = save(&olga, "  Needs me ", "needs=attention&author=olga", "false").await;
    let view = &saved[0];
    insta::assert_compact_json_snapshot!(steady(view), @r#"
    {
      "id": "[id 1]",
      "name": "Needs me",
      "own": true,
      "owner": "olga",
      "query": "author=olga&needs=attention",
      "shared": false
    }
    "#);
    assert_eq!(views(&vera).await, []);
    let id = view["id"].as_str().unwrap();
    olga.post_json("/api/saved-views/update", &[("project", "docs"), ("view", id), ("shared", "true")]).await;
    assert_eq!(views(&vera).await, [("Needs me".to_owned(), "olga".to_owned(), false)]);
    olga.post_json("/api/saved-views/update", &[("project", "docs"), ("view", id), ("name", "Mine")]).await;
    assert_eq!(views(&vera).await[0].0, "Mine");
    assert_eq!(olga.post_json("/api/saved-views/list", &[("project", "api")]).await, json!([]));
    let page = vera.get("/p/docs/jobs").await.text;
    assert!(
        page.contains("href=\"/p/docs/jobs?author=olga&amp;needs=attention\""),
        "the view is not on the page"
    );

    olga.post_json("/api/saved-views/remove", &[("project", "docs"), ("view", id)]).await;
    assert_eq!((views(&olga).await, views(&vera).await), (vec![], vec![]));
}

#[tokio::test]
async fn saved_view_stores_only_known_fields() {
    let app = TestApp::start().await;
    let viewer = app.sign_in("vera").await;
    for (query, stored) in [
        ("?q=sdk+v3&status=failed", "status=failed&q=sdk%20v3"),
        ("status=failed&status=active&cursor=abc&page=3&evil=1", "status=failed"),
        ("sort=newest&tag=SDK", "tag=sdk"),
        ("q=%22%3E%3Cscript%3E&archived=yes", "q=%22%3E%3Cscript%3E&archived=yes"),
        ("q=//evil.example/", "q=//evil.example/"),
    ] {
        assert_eq!(save(&viewer, "One", query, "false").await[0]["query"], stored, "{query}");
    }
    for query in ["", "cursor=abc", "https://evil.example/", "status=finished", "pr=maybe", "sort=x&q=y"] {
        New::view("Bad", query).post(&viewer).await.refused(400, "bad_input");
    }
    for name in ["", "  ", "a\nb", &"x".repeat(61)] {
        New::view(name, "q=a").post(&viewer).await.refused(400, "bad_input");
    }
    assert_eq!(views(&viewer).await, [own("One", "vera")]);
}

#[tokio::test]
async fn only_administrators_change_shared_views_of_others() {
    let app = TestApp::start().await;
    let (olga, otto, ada) = (app.operator().await, app.sign_in("otto").await, app.sign_in("ada").await);
    let saved = save(&olga, "Private", "q=a", "false").await;
    let private = saved[0]["id"].as_str().unwrap().to_owned();
    let saved = save(&olga, "Shared", "q=b", "true").await;
    let shared = saved[1]["id"].as_str().unwrap().to_owned();
    for (person, id) in [(&otto, &private), (&otto, &shared), (&ada, &private)] {
        let fields = [("project", "docs"), ("view", id.as_str())];
        person.post("/api/saved-views/remove", &fields).await.refused(404, "not_found");
    }
    for person in [&otto, &ada] {
        for id in [&private, &shared] {
            let fields = [("project", "docs"), ("view", id.as_str()), ("name", "Theirs"), ("shared", "true")];
            person.post("/api/saved-views/update", &fields).await.refused(404, "not_found");
        }
    }
    let elsewhere = [("project", "api"), ("view", private.as_str())];
    olga.post("/api/saved-views/remove", &elsewhere).await.refused(404, "not_found");
    assert_eq!(views(&olga).await, [own("Private", "olga"), own("Shared", "olga")]);
    ada.post_json("/api/saved-views/remove", &[("project", "docs"), ("view", &shared)]).await;
    assert_eq!(views(&olga).await, [own("Private", "olga")]);
}

#[tokio::test]
async fn viewer_saves_views_but_cannot_share_them() {
    let app = TestApp::start().await;
    let viewer = app.sign_in("vera").await;
    let saved = save(&viewer, "Mine", "q=a", "false").await;
    let id = saved[0]["id"].as_str().unwrap();
    New::view("For all", "q=a").with("shared", "true").post(&viewer).await.refused(403, "forbidden");
    let fields = [("project", "docs"), ("view", id), ("shared", "true")];
    viewer.post("/api/saved-views/update", &fields).await.refused(403, "forbidden");
    assert_eq!(views(&app.operator().await).await, []);
    assert_eq!(views(&viewer).await, [own("Mine", "vera")]);
}

#[tokio::test]
async fn saved_view_name_is_unique_per_user() {
    let app = TestApp::start().await;
    let (olga, otto) = (app.operator().await, app.sign_in("otto").await);
    save(&olga, "Mine", "q=a", "false").await;
    let replaced = save(&olga, "Mine", "q=b", "false").await;
    assert_eq!((replaced.as_array().unwrap().len(), &replaced[0]["query"]), (1, &json!("q=b")));
    save(&otto, "Mine", "q=c", "false").await;
    let others = save(&olga, "Other", "q=d", "false").await;
    let other = others[1]["id"].as_str().unwrap();
    let fields = [("project", "docs"), ("view", other), ("name", "Mine")];
    let message = olga.post("/api/saved-views/update", &fields).await.refused(400, "bad_input");
    assert!(message.contains("already have a view with that name"), "{message}");
}

#[tokio::test]
async fn saved_view_forms_work_without_javascript() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let referer = format!("{}/p/docs/jobs?q=sdk", app.origin());
    let page = olga.get("/p/docs/jobs?q=sdk").await.text;
    assert!(
        page.contains("action=\"/api/saved-views/save\"") && page.contains("value=\"q=sdk\""),
        "no form to save"
    );
    let saved = New::view("About the SDK", "q=sdk").with("shared", "true").submit(&olga, &referer).await;
    assert_eq!((saved.status, saved.location()), (302, referer.as_str()));
    let page = olga.get("/p/docs/jobs?q=sdk").await.text;
    assert!(
        page.contains("About the SDK") && page.contains("action=\"/api/saved-views/remove\""),
        "the view cannot be edited"
    );
    let refused = New::view(" ", "q=sdk").submit(&olga, &referer).await;
    let path = refused.location().strip_prefix(&app.origin()).unwrap_or(refused.location()).to_owned();
    assert!(olga.get(&path).await.text.contains("1 to 60 characters"), "{path}");
}

async fn save_analytics(person: &Browser, name: &str, query: &str) -> Value {
    New::view(name, query).with("of", "analytics").made(person).await
}

#[tokio::test]
async fn saved_views_of_analytics_and_jobs_are_separate() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    save(&olga, "Mine", "q=sdk", "false").await;
    let saved = save_analytics(&olga, "Mine", "?folder=/guides&sort=share&page=3&evil=1").await;
    assert_eq!(
        (saved.as_array().unwrap().len(), &saved[0]["query"]),
        (1, &json!("folder=/guides&sort=share"))
    );
    assert_eq!(olga.post_json("/api/saved-views/list", &[("project", "docs")]).await[0]["query"], "q=sdk");
    let analytics = [("project", "docs"), ("of", "analytics")];
    assert_eq!(olga.post_json("/api/saved-views/list", &analytics).await, saved);

    // An id of one kind of view does not affect the other kind.
    let id = saved[0]["id"].as_str().unwrap();
    let of_jobs = [("project", "docs"), ("view", id)];
    olga.post("/api/saved-views/remove", &of_jobs).await.refused(404, "not_found");
    let of_analytics = [("project", "docs"), ("view", id), ("of", "analytics")];
    assert_eq!(olga.post_json("/api/saved-views/remove", &of_analytics).await, json!([]));
    assert_eq!(views(&olga).await, [own("Mine", "olga")]);
    let neither = [("project", "docs"), ("of", "users")];
    olga.post("/api/saved-views/list", &neither).await.refused(400, "bad_input");
}

#[tokio::test]
async fn invalid_analytics_view_is_refused_without_an_upstream_call() {
    let app = TestApp::start().await;
    let viewer = app.sign_in("vera").await;
    let long = format!("q={}", "x".repeat(2_001));
    for query in [
        "",
        "page=2",
        "from=2026-02-30&to=2026-03-01",
        "from=2026-03-02&to=2026-03-01",
        "limit=0",
        "limit=251",
        "sort=views",
        "folder=guides",
        &long,
    ] {
        New::view("Bad", query).with("of", "analytics").post(&viewer).await.refused(400, "bad_input");
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn analytics_view_with_relative_days_follows_the_calendar() {
    let app = TestApp::with(crate::analytics_pages::at("2026-11-21T12:00:00Z")).await;
    let mut archive = crate::helpers::Archive::of(&app).await;
    for day in crate::helpers::days("2026-11-01", "2026-11-22") {
        archive.write(day, crate::helpers::rows(&[("/a", 1, 1)])).await;
    }
    let olga = app.operator().await;
    let shown = "/p/docs/analytics?days=7&sort=share";
    let page = olga.get(shown).await.text;
    assert!(page.contains("name=\"query\" value=\"days=7&amp;sort=share\""), "no form to save");
    let view = New::view("<b>Week</b>", "days=7&sort=share").with("of", "analytics").with("shared", "true");
    let referer = format!("{}{shown}", app.origin());
    let saved = view.submit(&olga, &referer).await;
    assert_eq!((saved.status, saved.location()), (302, referer.as_str()));
    let page = olga.get(shown).await.text;
    let current = "days=7&amp;sort=share\" aria-current=\"true\" class=\"chip\">&lt;b&gt;Week&lt;/b&gt;";
    assert!(page.contains(current) && page.contains("action=\"/api/saved-views/update\""), "{page}");

    app.clock().advance(std::time::Duration::from_secs(24 * 3_600));
    let page = app.sign_in("vera").await.get("/p/docs/analytics?from=2026-11-20&to=2026-11-20").await.text;
    let link = "href=\"/p/docs/analytics?days=7&amp;sort=share\"";
    assert!(page.contains(link) && page.contains("by olga"), "{page}");
}
