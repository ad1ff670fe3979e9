//! Texts that look the same are equal: they are stored, sent and searched in NFC.

use serde_json::Value;

use crate::helpers::{Archive, TestApp, intent};
use crate::list::{list, prompts};

/// Each text in NFC, and decomposed.
const TEXTS: [(&str, &str); 4] = [
    ("\u{d55c}\u{ad6d}\u{c5b4}", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}"),
    ("\u{30ac}\u{30a4}\u{30c9}", "\u{30ab}\u{3099}\u{30a4}\u{30c8}\u{3099}"),
    ("\u{0439}\u{043e}\u{0433}", "\u{0438}\u{0306}\u{043e}\u{0433}"),
    ("\u{03ba}\u{03b1}\u{03bb}\u{03ac}", "\u{03ba}\u{03b1}\u{03bb}\u{03b1}\u{0301}"),
];

#[tokio::test]
async fn decomposed_prompt_is_stored_sent_and_found_composed() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    for (composed, decomposed) in TEXTS {
        assert_eq!(operator.created(decomposed).await["prompt"], composed);
        let sent = app.upstream.requests().await.pop().unwrap();
        assert_eq!(sent.body_json::<Value>().unwrap()["prompt"], composed);
        for q in [composed, decomposed] {
            assert_eq!(prompts(&list(&operator, &[("q", q)]).await), [composed], "{q}");
            let found = operator.post_json("/api/palette/find", &[("project", "docs"), ("q", q)]).await;
            assert_eq!(found["jobs"].as_array().unwrap().len(), 1, "{q}");
        }
    }
}

#[tokio::test]
async fn same_intent_in_another_normalization_form_gets_the_same_response() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    for (composed, decomposed) in TEXTS {
        let id = intent();
        let first = operator.create(composed, &id).await;
        assert_eq!(first.status, 200, "{}", first.text);
        let again = operator.create(decomposed, &id).await;
        assert_eq!((again.status, &again.json()["id"]), (200, &first.json()["id"]));
    }
    assert_eq!(app.upstream.requests().await.len(), TEXTS.len());
}

#[tokio::test]
async fn decomposed_tag_and_page_equal_the_composed_ones() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/caf\u{e9}"]).await;
    let job = operator.created("Fix /cafe\u{301}").await;
    assert_eq!(job["paths"][0], "/caf\u{e9}");
    let fields = [("project", "docs"), ("jobs", job["id"].as_str().unwrap()), ("tag", "U\u{308}ber")];
    operator.post_json("/api/jobs/tag", &fields).await;
    for tag in ["u\u{308}ber", "\u{fc}ber", "/cafe\u{301}", "/caf\u{e9}"] {
        assert_eq!(list(&operator, &[("tag", tag)]).await["total"], 1, "{tag}");
    }
    operator.post_json("/api/jobs/untag", &fields).await;
    assert_eq!(list(&operator, &[("tag", "\u{fc}ber")]).await["total"], 0);
}
