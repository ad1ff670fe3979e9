//! Each prefilled form has a separate draft, and a form replaces only versions of a draft that it has shown.

use serde_json::Value;

use crate::helpers::{Browser, TestApp, intent, json, tags};

const DRAFT: &str = "/api/jobs/draft";
const KEY: &str = "0123456789abcdef0123456789abcdef";

async fn save_draft(person: &Browser, text: &str, more: &[(&str, &str)]) -> Value {
    let fields: Vec<_> = [("project", "docs"), ("text", text)].iter().chain(more).copied().collect();
    person.post_json(DRAFT, &fields).await
}

async fn form(person: &Browser, key: &str) -> Value {
    person.post_json("/api/jobs/form", &[("project", "docs"), ("form", key)]).await
}

/// The base of the version in a response: its time in milliseconds.
fn base(response: &Value) -> String {
    let at: model::time::Timestamp = response["saved_at"].as_str().unwrap().parse().unwrap();
    at.as_millis().to_string()
}

/// The value of the last field with this name, because the list of other drafts before the form has such fields.
fn value(page: &str, name: &str) -> String {
    let found = tags(page);
    let field = found.iter().rfind(|tag| tag.name == "input" && tag.attribute("name") == name).unwrap();
    field.attribute("value").to_owned()
}

fn prompt(page: &str) -> String {
    let found = tags(page);
    let area = found.iter().find(|tag| tag.name == "textarea").unwrap();
    area.text.trim_start_matches('\n').to_owned()
}

#[tokio::test]
async fn prefilled_forms_have_separate_drafts() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let long = "é".repeat(1_000);
    save_draft(&operator, "plain", &[]).await;
    save_draft(&operator, &long, &[("form", KEY), ("paths", "/a")]).await;
    save_draft(&operator, "elsewhere", &[("form", "other")]).await;
    let plain = form(&operator, "").await;
    assert_eq!(plain["draft"], "plain");
    let others = plain["other_drafts"].as_array().unwrap();
    let keys: Vec<_> = others.iter().map(|draft| &draft["form"]).collect();
    assert_eq!(keys, [&json!("other"), &json!(KEY)], "the newest first");
    assert_eq!((&others[1]["excerpt"], &others[1]["paths"]), (&json!("é".repeat(200)), &json!("/a")));
    let prefilled = form(&operator, KEY).await;
    assert_eq!(prefilled["draft"], long);
    assert_eq!(prefilled["other_drafts"][1]["form"], json!(null), "the form without a key");
    assert_eq!(form(&app.sign_in("otto").await, KEY).await["other_drafts"], json!([]));
    let elsewhere = [("project", "api"), ("form", KEY)];
    assert_eq!(operator.post_json("/api/jobs/form", &elsewhere).await["other_drafts"], json!([]));
    for bad in ["../..", "a b", &"a".repeat(37)] {
        operator
            .post("/api/jobs/form", &[("project", "docs"), ("form", bad)])
            .await
            .refused(400, "bad_input");
        let fields = [("project", "docs"), ("text", "x"), ("form", bad)];
        operator.post(DRAFT, &fields).await.refused(400, "bad_input");
    }
}

#[tokio::test]
async fn prefilled_page_has_its_own_draft() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let about = operator.get("/p/docs/jobs/new?path=/faq").await.text;
    let key = value(&about, "form");
    assert_eq!((key.len(), value(&about, "base").as_str()), (32, "0"));
    let saved = save_draft(&operator, "About the FAQ", &[("form", &key), ("paths", "/faq")]).await;
    let about = operator.get("/p/docs/jobs/new?path=/faq").await.text;
    assert_eq!((prompt(&about).as_str(), value(&about, "base")), ("About the FAQ", base(&saved)));
    let restored = operator.get(&format!("/p/docs/jobs/new?draft={key}")).await.text;
    assert_eq!((prompt(&restored).as_str(), value(&restored, "form")), ("About the FAQ", key));
    for other in ["", "?path=/other", "?prompt=Fix", "?path=/faq&prompt=Fix", "?draft=..%2F"] {
        let page = operator.get(&format!("/p/docs/jobs/new{other}")).await;
        assert_eq!(page.status, 200, "{other}");
        assert_ne!(prompt(&page.text), "About the FAQ", "{other}");
        assert!(page.text.contains("Other drafts (1)"), "{other}");
    }
    // A draft takes precedence over the values in the URL, with a notice on the page.
    let brought = "/p/docs/jobs/new?prompt=Fix";
    let key = value(&operator.get(brought).await.text, "form");
    save_draft(&operator, "Fix it now", &[("form", &key)]).await;
    let page = operator.get(brought).await.text;
    assert_eq!(prompt(&page), "Fix it now");
    assert!(page.contains("Discard it to start over"), "the draft is not explained");
}

#[tokio::test]
async fn version_saved_by_another_form_is_returned_and_not_replaced() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let (first, second) = (intent(), intent());
    let shown = save_draft(&operator, "shown", &[("intent", "before-both"), ("base", "0")]).await;
    let at = base(&shown);
    let own = save_draft(&operator, "first", &[("intent", &first), ("base", &at)]).await;
    assert_eq!(own["changed"], json!(null));
    let late = [("intent", second.as_str()), ("base", at.as_str()), ("paths", "/b")];
    let refused = save_draft(&operator, "second", &late).await;
    assert_eq!((&refused["saved_at"], &refused["changed"]["text"]), (&json!(null), &json!("first")));
    assert_eq!(refused["changed"]["saved_at"], own["saved_at"]);
    let refused = save_draft(&operator, "", &late).await;
    assert_eq!(refused["changed"]["text"], "first", "it was removed");
    let never_shown = save_draft(&operator, "new", &[("intent", &second), ("base", "0")]).await;
    assert_eq!(never_shown["changed"]["text"], "first");
    assert_eq!(operator.draft(None).await, "first");

    // The same form saves again without a current base; the same text is no other version.
    save_draft(&operator, "first again", &[("intent", &first), ("base", &at)]).await;
    let same = save_draft(&operator, "first again", &[("intent", &second), ("base", "0")]).await;
    assert_eq!(same["changed"], json!(null));
    let reloaded =
        save_draft(&operator, "after a reload", &[("intent", &first), ("before", &second), ("base", "0")])
            .await;
    assert_eq!(reloaded["changed"], json!(null));
    let known = base(&reloaded);
    let removed = save_draft(&operator, "", &[("intent", &second), ("base", &known)]).await;
    assert_eq!((&removed["saved_at"], &removed["changed"]), (&json!(null), &json!(null)));
    assert_eq!(operator.draft(None).await, "");
    // A removed draft is no other version.
    save_draft(&operator, "third", &[("intent", &second), ("base", &known)]).await;
    assert_eq!(operator.draft(None).await, "third");
}

#[tokio::test]
async fn versions_saved_in_the_same_millisecond_differ() {
    let clock = base::clock::Clock::frozen(base::clock::Clock::system().now());
    let app = TestApp::with(crate::helpers::Settings { clock, ..Default::default() }).await;
    let operator = app.operator().await;
    let bases = [save_draft(&operator, "one", &[]).await, save_draft(&operator, "two", &[]).await]
        .map(|saved| base(&saved));
    assert_ne!(bases[0], bases[1]);
    let stale = [("intent", "another"), ("base", bases[0].as_str())];
    assert_eq!(save_draft(&operator, "three", &stale).await["changed"]["text"], "two");
}

#[tokio::test]
async fn sending_a_text_keeps_the_version_of_another_form() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let (first, second) = (intent(), intent());
    let at = base(&save_draft(&operator, "Fix typos", &[("intent", &first), ("base", "0")]).await);
    save_draft(&operator, "Fix more typos", &[("intent", &second), ("base", &at)]).await;
    let sent = [("project", "docs"), ("prompt", "Fix typos"), ("intent", &first), ("base", &at)];
    assert_eq!(operator.post("/api/jobs/create", &sent).await.status, 200);
    assert_eq!(operator.draft(None).await, "Fix more typos");
    // A version that this form saved meanwhile ends with its text.
    let sent = [("project", "docs"), ("prompt", "Fix more typos, all"), ("intent", &second), ("base", "1")];
    assert_eq!(operator.post("/api/jobs/create", &sent).await.status, 200);
    assert_eq!(operator.draft(None).await, "");
    // The draft of a prefilled form stays.
    save_draft(&operator, "plain", &[]).await;
    save_draft(&operator, "Translate", &[("form", KEY)]).await;
    let third = intent();
    let sent =
        [("project", "docs"), ("prompt", "Translate"), ("intent", &third), ("form", KEY), ("base", "1")];
    assert_eq!(operator.post("/api/jobs/create", &sent).await.status, 200);
    assert_eq!(form(&operator, KEY).await["draft"], "");
    assert_eq!(operator.draft(None).await, "plain");
}

#[tokio::test]
async fn refused_text_becomes_a_draft_beside_another_version() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    save_draft(&operator, "of another tab", &[("intent", &intent())]).await;
    let long = "x".repeat(32_769);
    let own = intent();
    let fields = [("project", "docs"), ("prompt", long.as_str()), ("intent", &own), ("base", "0")];
    operator.post("/api/jobs/create", &fields).await.refused(400, "bad_input");
    let plain = form(&operator, "").await;
    assert_eq!(plain["draft"], "of another tab");
    assert_eq!(plain["other_drafts"].as_array().unwrap().len(), 1);
    assert_eq!(plain["other_drafts"][0]["excerpt"], "x".repeat(200));
}

#[tokio::test]
async fn other_draft_is_opened_and_discarded_without_javascript() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let saved = save_draft(&operator, "Away <b>with</b> it", &[("form", KEY)]).await;
    let page = operator.get("/p/docs/jobs/new").await.text;
    assert!(
        page.contains("Other drafts (1)") && page.contains("Away &lt;b&gt;with&lt;/b&gt; it"),
        "not listed"
    );
    let link = format!("/p/docs/jobs/new?draft={KEY}");
    assert!(
        tags(&page).iter().any(|tag| tag.name == "a" && tag.attribute("href") == link),
        "no link opens it"
    );
    let referer = format!("{}/p/docs/jobs/new", app.origin());
    let at = base(&saved);
    // A version that the list did not show stays.
    save_draft(&operator, "Newer", &[("form", KEY)]).await;
    let discard = [("project", "docs"), ("form", KEY), ("base", at.as_str()), ("text", "")];
    operator.submit(DRAFT, &discard, Some(&referer)).await;
    assert_eq!(form(&operator, KEY).await["draft"], "Newer");
    let saved_at = form(&operator, KEY).await["draft_saved_at"].clone();
    let at = base(&json!({"saved_at": saved_at}));
    let discard = [("project", "docs"), ("form", KEY), ("base", at.as_str()), ("text", "")];
    let response = operator.submit(DRAFT, &discard, Some(&referer)).await;
    assert_eq!(response.status, 302, "{}", response.text);
    assert!(!operator.page("/p/docs/jobs/new").await.contains("Other drafts"));
}

#[tokio::test]
async fn invented_form_keys_make_at_most_fifty_drafts() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for n in 0..60 {
        save_draft(&operator, "x", &[("form", &format!("made-up-{n}"))]).await;
    }
    assert_eq!(form(&operator, "").await["other_drafts"].as_array().unwrap().len(), 50);
}
