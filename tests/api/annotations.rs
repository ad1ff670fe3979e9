//! The team's notes on days.

use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, Browser, New, TestApp, day, json, rows};

async fn notes(viewer: &Browser) -> Vec<Value> {
    let pairs = [("project", "docs"), ("from", "2026-11-18"), ("to", "2026-11-20"), ("path", "/a")];
    let mut trend = viewer.post_json("/api/analytics/trend", &pairs).await;
    trend["annotations"].as_array_mut().unwrap().drain(..).collect()
}

async fn with_three_days(app: &TestApp) {
    let mut archive = Archive::of(app).await;
    for of in ["2026-11-18", "2026-11-19", "2026-11-20"] {
        archive.write(day(of), rows(&[("/a", 1, 0)])).await;
    }
}

#[tokio::test]
async fn author_creates_changes_and_removes_a_note() {
    let app = TestApp::with(at(NOON)).await;
    with_three_days(&app).await;
    let olga = app.operator().await;
    let note = New::note("2026-11-19", "  Version 3\r\n  was\u{0} released.\t");
    let saved = note.made(&olga).await;
    let id = saved["id"].as_str().unwrap();
    let expected =
        json!({"id": id, "day": "2026-11-19", "text": "Version 3 was released.", "author": "olga"});
    assert_eq!(saved, expected);
    let viewer = app.sign_in("vera").await;
    assert_eq!(notes(&viewer).await, [expected]);
    let changed = New::note("2026-11-18", "Version 3 came out").with("id", id).made(&olga).await;
    assert_eq!(notes(&viewer).await, std::slice::from_ref(&changed));
    assert_eq!((&changed["id"], &changed["text"]), (&json!(id), &json!("Version 3 came out")));
    olga.post_json("/api/annotations/remove", &[("project", "docs"), ("id", id)]).await;
    assert_eq!(notes(&viewer).await, [] as [Value; 0]);
    olga.post("/api/annotations/remove", &[("project", "docs"), ("id", id)]).await.refused(404, "not_found");
}

/// The response to the first request may have been lost.
#[tokio::test]
async fn note_that_is_sent_twice_is_stored_once() {
    let app = TestApp::with(at(NOON)).await;
    with_three_days(&app).await;
    let (olga, otto) = (app.operator().await, app.sign_in("otto").await);
    let note = || New::note("2026-11-19", "Version 3 was released");
    let first = note().made(&olga).await;
    assert_eq!(note().made(&olga).await, first);
    note().made(&otto).await;
    New::note("2026-11-18", "Version 3 was released").made(&olga).await;
    New::note("2026-11-19", "Version 3 was released again").made(&olga).await;
    assert_eq!(notes(&olga).await.len(), 4);
}

#[tokio::test]
async fn note_beyond_the_daily_limit_stays_in_its_form() {
    let app = TestApp::with(at(NOON)).await;
    with_three_days(&app).await;
    let olga = app.operator().await;
    for number in 0..50 {
        New::note("2026-11-19", &number.to_string()).made(&olga).await;
    }
    let page = format!("{}/p/docs/analytics?from=2026-11-18&to=2026-11-20", app.origin());
    let note = New::note("2026-11-19", "One more note").with("id", "");
    let response = note.submit(&olga, &page).await;
    assert_eq!(response.status, 303, "{}", response.text);
    let page = olga.get(response.location().trim_start_matches(&app.origin())).await.text;
    assert!(page.contains("A day can have at most 50 notes, and nothing was changed."), "{page}");
    assert!(page.contains("<input name=\"text\" value=\"One more note\""), "{page}");
    note.with("day", "2026-11-20").made(&olga).await;
}

#[tokio::test]
async fn viewers_write_no_notes_and_administrators_edit_all() {
    let app = TestApp::with(at(NOON)).await;
    with_three_days(&app).await;
    let (olga, otto, ada) = (app.operator().await, app.sign_in("otto").await, app.sign_in("ada").await);
    let viewer = app.sign_in("vera").await;
    let note = New::note("2026-11-19", "Hello").with("id", "");
    note.post(&viewer).await.refused(403, "forbidden");
    let saved = note.made(&olga).await;
    let id = saved["id"].as_str().unwrap();
    let changed = [("project", "docs"), ("id", id), ("day", "2026-11-20"), ("text", "Changed")];
    let removed = [("project", "docs"), ("id", id)];
    viewer.post("/api/annotations/remove", &removed).await.refused(403, "forbidden");
    let message = otto.post("/api/annotations/save", &changed).await.refused(403, "forbidden");
    assert!(message.contains("olga"), "{message}");
    otto.post("/api/annotations/remove", &removed).await.refused(403, "forbidden");
    let elsewhere = [("project", "api"), ("id", id), ("day", "2026-11-20"), ("text", "Changed")];
    ada.post("/api/annotations/save", &elsewhere).await.refused(404, "not_found");
    ada.post("/api/annotations/remove", &[("project", "api"), ("id", id)]).await.refused(404, "not_found");
    assert_eq!(notes(&viewer).await, std::slice::from_ref(&saved));
    // A change keeps the author.
    assert_eq!(ada.post_json("/api/annotations/save", &changed).await["author"], "olga");
    ada.post_json("/api/annotations/remove", &removed).await;
    assert_eq!(notes(&viewer).await, [] as [Value; 0]);
}

#[tokio::test]
async fn note_needs_a_day_and_a_text_within_limits() {
    let app = TestApp::with(at(NOON)).await;
    let olga = app.operator().await;
    let longest = "é".repeat(280);
    let too_long = "é".repeat(281);
    for (day, text) in [
        ("2026-02-30", "Hello"),
        ("", "Hello"),
        ("2026-11-19", ""),
        ("2026-11-19", " \r\n\t\u{0}"),
        ("2026-11-19", &too_long),
    ] {
        New::note(day, text).post(&olga).await.refused(400, "bad_input");
    }
    assert_eq!(New::note("2026-11-19", &longest).made(&olga).await["text"], longest);
    let nowhere = New::note("2026-11-19", "x").with("project", "nowhere");
    nowhere.post(&olga).await.refused(404, "not_found");
}

#[tokio::test]
async fn note_form_returns_to_its_page() {
    let app = TestApp::with(at(NOON)).await;
    with_three_days(&app).await;
    let olga = app.operator().await;
    let page = format!("{}/p/docs/analytics?from=2026-11-18&to=2026-11-20", app.origin());
    let response = New::note("2026-11-19", "<script>alert(1)</script>").submit(&olga, &page).await;
    assert_eq!(response.status, 302, "{}", response.text);
    assert!(
        response.location().ends_with("/p/docs/analytics?from=2026-11-18&to=2026-11-20"),
        "{}",
        response.location()
    );
    assert_eq!(notes(&olga).await[0]["text"], "<script>alert(1)</script>");
}
