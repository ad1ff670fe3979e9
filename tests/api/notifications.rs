//! Notifications: changes since a user last opened them, and the command palette.

use model::time::Timestamp;
use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Browser, New, TestApp, until};
use crate::list::obedient_upstream;

async fn looked_at(app: &TestApp, name: &str) -> Option<Timestamp> {
    let store = app.state().store.clone();
    let user = store.user_by_name(name).await.unwrap().unwrap();
    store.seen(&user.id, &"docs".parse().unwrap(), false).await.unwrap().last()
}

async fn listed(person: &Browser, who: &str) -> (Vec<String>, Value) {
    let list = person.post_json("/api/notifications/list", &[("project", "docs"), ("who", who)]).await;
    let jobs = ["new", "earlier"].into_iter().flat_map(|part| list[part].as_array().unwrap());
    (jobs.map(|job| job["prompt"].as_str().unwrap().to_owned()).collect(), list["looked_at"].clone())
}

#[tokio::test]
async fn notifications_list_own_or_all_finished_jobs() {
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
async fn prefetch_and_refresh_do_not_mark_notifications_as_read() {
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

/// The number at the bell: from the budgets of every page, and from the states that an open page requests.
async fn unread(person: &Browser) -> (u64, String) {
    let budgets = person.post_json("/api/upstream/budgets", &[("project", "docs")]).await;
    let pairs = [("project", "docs"), ("jobs", ""), ("seen", "0")];
    let states = person.post("/api/jobs/statuses", &pairs).await;
    (budgets["unread"].as_u64().unwrap(), states.header("docket-unread").to_owned())
}

#[tokio::test]
async fn bell_counts_news_until_the_page_is_opened() {
    let app = TestApp::with(at(NOON)).await;
    obedient_upstream(&app).await;
    let (olga, ada, vera) = (app.operator().await, app.sign_in("ada").await, app.sign_in("vera").await);
    app.clock().advance(std::time::Duration::from_secs(60));
    for prompt in ["active one", "completed two", "break three"] {
        olga.created(prompt).await;
    }
    ada.created("completed four").await;
    let counts = |number: u64| (number, number.to_string());
    assert_eq!(unread(&olga).await, counts(2), "her own, of which one still runs");
    assert_eq!(unread(&vera).await, counts(3), "a viewer has none of their own");

    for _ in 0..2 {
        let overview = olga.get("/p/docs").await.text;
        assert!(
            overview.contains("since you last looked") && overview.contains("Notifications, 2 new"),
            "{overview}"
        );
        let listed = overview.split("Since you last looked").nth(1).unwrap().split("</ul>").next().unwrap();
        assert!(listed.contains("completed two") && listed.contains("break three"), "{listed}");
        assert!(!listed.contains("active one") && !listed.contains("completed four"), "{listed}");
    }
    assert_eq!(looked_at(&app, "olga").await, None, "to see the overview is not to look");

    app.clock().advance(std::time::Duration::from_secs(60));
    let bell = olga.page("/p/docs/notifications").await;
    assert!(!bell.contains("Notifications, "), "no number where they are read: {bell}");
    assert_eq!((unread(&olga).await, unread(&vera).await), (counts(0), counts(3)));
    let overview = olga.get("/p/docs").await.text;
    assert!(!overview.contains("ince you last looked"), "{overview}");
}

#[tokio::test]
async fn only_listed_changes_are_marked_as_read() {
    let app = TestApp::with(at(NOON)).await;
    obedient_upstream(&app).await;
    let (olga, ada, vera) = (app.operator().await, app.sign_in("ada").await, app.sign_in("vera").await);
    app.clock().advance(std::time::Duration::from_secs(60));
    for at in 0..60 {
        let person = if at < 5 { &olga } else { &ada };
        person.created(&format!("completed {at}")).await;
        app.clock().advance(std::time::Duration::from_secs(1));
    }
    assert_eq!((unread(&olga).await.0, unread(&vera).await.0), (5, 60));

    // The list of everyone's jobs shows the last 50, and none of olga's.
    let page = vera.get("/p/docs/notifications").await.text;
    assert!(page.contains(">10<") && page.contains("older changes are unread"), "{page}");
    olga.get("/p/docs/notifications?who=all").await;
    assert_eq!((unread(&olga).await.0, unread(&vera).await.0), (5, 10));
    let overview = olga.get("/p/docs").await.text;
    assert!(overview.contains("of your jobs finished or need attention since you last looked"), "{overview}");

    // A later change is new, and so are the older ones until they are marked.
    app.clock().advance(std::time::Duration::from_secs(60));
    ada.created("completed 60").await;
    assert_eq!(unread(&vera).await.0, 11);
    let listed = vera.post_json("/api/notifications/list", &[("project", "docs"), ("who", "all")]).await;
    assert_eq!(listed["new"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!((&listed["older"], unread(&vera).await.0), (&10.into(), 10));
    vera.post_json("/api/notifications/read", &[("project", "docs"), ("who", "all")]).await;
    assert_eq!((unread(&olga).await.0, unread(&vera).await.0), (5, 0), "each user has a separate mark");
    olga.get("/p/docs/notifications").await;
    assert_eq!(unread(&olga).await.0, 0);
}

#[tokio::test]
async fn jobs_of_a_batch_are_one_notification() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let olga = app.operator().await;
    let batch = New::batch("{{outcome}} of the zebra", "completed one\nfailed two\ncompleted three")
        .started(&olga)
        .await;
    let fields = [("project", "docs"), ("batch", batch["id"].as_str().unwrap())];
    let ended = until("the jobs of the batch end", async || {
        let now = olga.post_json("/api/batches/get", &fields).await;
        let jobs = now["jobs"].as_array().unwrap();
        jobs.iter().all(|job| ["completed", "failed"].iter().any(|end| job["state"] == *end)).then_some(now)
    })
    .await;
    let alone = olga.created("completed alone").await;
    let page = olga.page("/p/docs/notifications").await;
    let rows = page.split("class=\"notifications\"").nth(1).unwrap().split("</ul>").next().unwrap();
    assert_eq!(rows.matches("<li").count(), 2, "{rows}");
    assert_eq!(rows.matches("Batch finished: ").count(), 1, "{rows}");
    assert!(
        rows.contains("1 failed") && rows.contains(&format!("/p/docs/batches/{}", fields[1].1)),
        "{rows}"
    );
    assert!(rows.contains(alone["id"].as_str().unwrap()), "{rows}");
    for job in ended["jobs"].as_array().unwrap() {
        assert!(!rows.contains(&format!("/jobs/{}", job["id"].as_str().unwrap())), "{rows}");
    }
}

#[tokio::test]
async fn archived_notification_is_listed_again_after_a_change() {
    let app = TestApp::with(at(NOON)).await;
    obedient_upstream(&app).await;
    let (olga, ada) = (app.operator().await, app.sign_in("ada").await);
    let job = olga.created("completed one").await;
    let id = job["id"].as_str().unwrap();
    olga.created("completed two").await;
    app.clock().advance(std::time::Duration::from_secs(60));
    let has = async |person: &Browser| {
        let page = person.page("/p/docs/notifications?who=all").await;
        (page.contains("completed one<"), page.contains("completed two<"))
    };
    assert_eq!(has(&olga).await, (true, true));
    olga.post_json("/api/notifications/archive", &[("project", "docs"), ("jobs", id)]).await;
    assert_eq!((has(&olga).await, has(&ada).await), ((false, true), (true, true)), "for her only");
    app.clock().advance(std::time::Duration::from_secs(60));
    app.ledger().run("UPDATE jobs SET changed_at = changed_at + 3600000").await;
    assert_eq!(has(&olga).await, (true, true), "it changed");
    let elsewhere = [("project", "api"), ("jobs", id)];
    olga.post_json("/api/notifications/archive", &elsewhere).await;
    assert_eq!(has(&olga).await, (true, true), "a job of another project");
    olga.post("/api/notifications/archive", &[("project", "docs"), ("jobs", "")])
        .await
        .refused(400, "bad_input");
}

#[tokio::test]
async fn notifications_of_all_projects_are_counted_and_read_by_project() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let olga = app.operator().await;
    olga.created("completed one").await;
    New::job("completed two").with("project", "api").made(&olga).await;
    let all = olga.page("/p/docs/notifications?who=projects").await;
    assert_eq!(all.matches("1 unread").count(), 2, "{all}");
    olga.post_json("/api/notifications/read", &[("project", "api")]).await;
    let all = olga.page("/p/docs/notifications?who=projects").await;
    assert_eq!((all.matches("1 unread").count(), all.matches("Nothing new").count()), (1, 1), "{all}");
    assert_eq!(looked_at(&app, "olga").await, None, "to see the numbers is not to look");
}

#[tokio::test]
async fn palette_finds_jobs_and_templates_of_the_project() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let olga = app.operator().await;
    let job = olga.created("completed explanation of the zebra crossing").await;
    olga.created("completed something else").await;
    New::template("Zebra check", "Check {{page}}").made(&olga).await;

    let found = olga.post_json("/api/palette/find", &[("project", "docs"), ("q", "zebra")]).await;
    assert_eq!(found["jobs"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["jobs"][0]["href"], format!("/p/docs/jobs/{}", job["id"].as_str().unwrap()));
    assert_eq!(found["templates"][0]["name"], "Zebra check");
    let all = olga.post_json("/api/palette/find", &[("project", "docs")]).await;
    assert_eq!(all["jobs"].as_array().unwrap().len(), 2, "{all}");
    let viewer = app
        .sign_in("vera")
        .await
        .post_json("/api/palette/find", &[("project", "docs"), ("q", "zebra")])
        .await;
    assert_eq!(viewer["templates"][0]["href"], "/p/docs/templates", "a viewer starts nothing");
    for (of, query) in [("jobs", "status=completed"), ("analytics", "days=90")] {
        let pairs =
            [("project", "docs"), ("of", of), ("name", "Zebra view"), ("query", query), ("shared", "false")];
        olga.post_json("/api/saved-views/save", &pairs).await;
    }
    let views = olga.post_json("/api/palette/find", &[("project", "docs"), ("q", "view zebra")]).await;
    let hrefs: Vec<_> =
        views["views"].as_array().unwrap().iter().map(|view| view["href"].as_str().unwrap()).collect();
    assert_eq!(hrefs.len(), 2, "{views}");
    assert!(hrefs[0].starts_with("/p/docs/jobs?") && hrefs[1].starts_with("/p/docs/analytics?"), "{views}");
    let of_vera = app
        .sign_in("vera")
        .await
        .post_json("/api/palette/find", &[("project", "docs"), ("q", "zebra")])
        .await;
    assert_eq!(of_vera["views"].as_array().unwrap().len(), 0, "views of others are private: {of_vera}");
    let elsewhere = olga.post_json("/api/palette/find", &[("project", "api"), ("q", "zebra")]).await;
    assert_eq!(
        (elsewhere["jobs"].as_array().unwrap().len(), elsewhere["templates"].as_array().unwrap().len()),
        (0, 0)
    );
}
