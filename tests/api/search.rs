//! The search over prompts and follow-ups.

use wiremock::ResponseTemplate;

use crate::helpers::{TestApp, intent, remote_job, tags};
use crate::list::{list, obedient_upstream, prompts};

#[tokio::test]
async fn search_is_literal_and_case_insensitive_and_finds_follow_ups() {
    let app = TestApp::start().await;
    obedient_upstream(&app).await;
    let operator = app.operator().await;
    for prompt in
        ["active 100% of it", "active 100 of it", "active snake_case", "active snakeXcase", "active wow!"]
    {
        operator.created(prompt).await;
    }
    let umlaut = operator.created("active Überblick über Änderungen 概要").await;
    let accepted = ResponseTemplate::new(200)
        .set_body_json(remote_job(umlaut["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(accepted).await;
    assert_eq!(operator.follow_up(&umlaut, "And the Glossary", &intent()).await.status, 200);
    for (text, found) in [
        ("100%", vec!["active 100% of it"]),
        ("snake_case", vec!["active snake_case"]),
        ("WOW!", vec!["active wow!"]),
        ("  of IT ", vec!["active 100 of it", "active 100% of it"]),
        ("it of", vec!["active 100 of it", "active 100% of it"]),
        ("\"it of\"", vec![]),
        ("gloss", vec!["active Überblick über Änderungen 概要"]),
        ("glossary anderungen", vec!["active Überblick über Änderungen 概要"]),
        ("ÜBERBLICK", vec!["active Überblick über Änderungen 概要"]),
        ("概要", vec!["active Überblick über Änderungen 概要"]),
        ("' OR 1=1 --", vec![]),
        ("%", vec!["active 100% of it"]),
    ] {
        let page = list(&operator, &[("q", text)]).await;
        assert_eq!(prompts(&page), found, "{text}");
        let active = page["counts"]["active"].as_u64().unwrap_or(0);
        assert_eq!(
            (active, page["total"].as_u64()),
            (found.len() as u64, Some(found.len() as u64)),
            "{text}"
        );
    }
}

#[tokio::test]
async fn search_accepts_any_text_up_to_a_limit() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.operator().await.created("Fix the quickstart").await;
    let viewer = app.sign_in("vera").await;
    assert_eq!(prompts(&list(&viewer, &[("q", "fix")]).await), ["Fix the quickstart"]);
    for text in [
        "\"",
        "\"\"",
        "NEAR(a",
        "a AND",
        "*",
        "-",
        "\0",
        "a\0b",
        "🚀",
        "{x}: y",
        "^a",
        "$1",
        &"( ".repeat(250),
    ] {
        // It is searched as text, not as search syntax. Empty quotes match everything.
        let asks =
            text.chars().any(|letter| letter != '"' && !letter.is_whitespace() && !letter.is_control());
        let expected = usize::from(!asks);
        let found = list(&viewer, &[("q", text)]).await;
        assert_eq!((prompts(&found).len(), &found["total"]), (expected, &expected.into()), "{text:?}");
        let query: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let page = viewer.get(&format!("/p/docs/jobs?q={query}")).await;
        assert_eq!((page.status, page.text.contains("No jobs match your filters")), (200, asks), "{text:?}");
        let tags = tags(&page.text);
        let field = tags.iter().find(|tag| tag.attribute("id") == "q").unwrap();
        assert_eq!(field.attribute("value").replace('\u{fffd}', "\0"), text.trim(), "{text:?}");
    }
    let long = "x".repeat(501);
    let refused = viewer.post("/api/jobs/list", &[("project", "docs"), ("q", &long)]).await;
    assert!(refused.refused(400, "bad_input").contains("500 characters"));
}

#[tokio::test]
async fn search_is_limited_to_its_project() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    operator.created("Shared word in docs 概要説明").await;
    for text in ["shared", "概要説明", "概要"] {
        let elsewhere = operator.post_json("/api/jobs/list", &[("project", "api"), ("q", text)]).await;
        assert_eq!((prompts(&elsewhere).len(), &elsewhere["total"]), (0, &0.into()), "{text}");
    }
}
