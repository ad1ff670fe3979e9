//! The owner of a token is notified 14 and 3 days before it expires.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{DAY, app, create};
use crate::helpers::{Browser, TestApp};
use crate::retention;

/// The number at the bell: from the budgets of every page, and from the states that an open page requests.
async fn unread(person: &Browser) -> u64 {
    let budgets = person.post_json("/api/upstream/budgets", &[("project", "docs")]).await;
    let pairs = [("project", "docs"), ("jobs", ""), ("seen", "0")];
    let states = person.post("/api/jobs/statuses", &pairs).await;
    let unread = budgets["unread"].as_u64().unwrap();
    assert_eq!(states.header("docket-unread"), unread.to_string());
    unread
}

/// Advances the clock, and signs in anew.
async fn later(app: &TestApp, days: u32) -> Browser {
    app.clock().advance(DAY * days);
    app.operator().await
}

#[tokio::test]
async fn owner_is_notified_14_and_3_days_before_expiry_once_each() {
    let app = app().await;
    let olga = app.operator().await;
    create(&olga, &[("days", "20"), ("name", "Nightly <check>")]).await;
    assert_eq!(unread(&olga).await, 0);
    let olga = later(&app, 5).await;
    assert_eq!(unread(&olga).await, 0);
    for (days, words) in [(1, "Dec 11, 2026"), (11, "in 3 days")] {
        let olga = later(&app, days).await;
        assert_eq!(unread(&olga).await, 1, "{words}");
        let prefetch =
            olga.request(reqwest::Method::GET, "/p/docs/notifications").header("sec-purpose", "prefetch");
        olga.send(prefetch).await;
        assert_eq!(unread(&olga).await, 1, "a prefetch does not count");
        let overview = olga.get("/p/docs").await.text;
        assert!(
            overview.contains("Notifications, 1 new") && !overview.contains("since you last looked"),
            "{overview}"
        );
        let page = olga.get("/p/docs/notifications").await.text;
        assert!(page.contains("Nightly &lt;check&gt;"), "{page}");
        assert!(page.contains(words) && page.contains("/account/tokens"), "{page}");
        assert_eq!(unread(&olga).await, 0, "{words}");
        assert_eq!(unread(&app.sign_in("ada").await).await, 0, "another person's");
    }
    let olga = later(&app, 5).await;
    assert_eq!(unread(&olga).await, 0);
    let page = olga.get("/p/docs/notifications").await.text;
    assert!(page.contains("Nightly") && page.contains("expired"), "{page}");
    let olga = later(&app, 20).await;
    assert!(!olga.page("/p/docs/notifications").await.contains("Nightly"));
}

#[tokio::test]
async fn short_lived_or_revoked_token_causes_no_needless_notice() {
    let app = app().await;
    let olga = app.operator().await;
    create(&olga, &[("days", "2")]).await;
    create(&olga, &[("days", "10")]).await;
    assert_eq!(unread(&olga).await, 0);
    let olga = later(&app, 7).await;
    assert_eq!(unread(&olga).await, 1, "the second notice of the second token");
    let id = super::listed(&olga).await["id"].as_str().unwrap().to_owned();
    olga.post_json("/api/tokens/revoke", &[("token", &id)]).await;
    assert_eq!(unread(&olga).await, 0);
}

#[tokio::test]
async fn expired_and_revoked_tokens_are_removed_after_ninety_days() {
    let app = app().await;
    let olga = app.operator().await;
    create(&olga, &[("days", "365")]).await;
    let id = super::listed(&olga).await["id"].as_str().unwrap().to_owned();
    olga.post_json("/api/tokens/revoke", &[("token", &id)]).await;
    let token = create(&olga, &[("days", "1")]).await;
    create(&olga, &[("days", "365")]).await;
    super::project_ids(&app, &token).await;
    let cells = "SELECT COUNT(*) FROM rate_limits WHERE cell LIKE 'api token %'";
    assert_eq!(app.ledger().count(cells).await, 1);
    // First the revoked one, then the one that expired after a day.
    app.clock().advance(DAY * 90);
    for pause in [Duration::from_secs(1), DAY] {
        let before = retention::remove(&app).await;
        assert!(before.is_empty(), "{before:?}");
        app.clock().advance(pause);
        assert_eq!(retention::remove(&app).await, BTreeMap::from([("api_tokens".to_owned(), 1)]));
    }
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM api_tokens").await, 1);
    assert_eq!(app.ledger().count(cells).await, 0);
}
