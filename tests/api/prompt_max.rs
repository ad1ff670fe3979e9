//! The maximum length of a prompt is configurable, everywhere.

use crate::helpers::{New, Settings, TestApp, intent, tags};

async fn with_limit(prompt_max: u32) -> TestApp {
    let app = TestApp::with(Settings { prompt_max, ..Settings::default() }).await;
    app.upstream.accepts_jobs().await;
    app
}

#[tokio::test]
async fn prompt_is_limited_to_the_configured_characters() {
    let app = with_limit(5).await;
    let operator = app.operator().await;
    operator.created("été ☀").await;
    let message = operator.create("été ☀!", &intent()).await.refused(400, "bad_input");
    assert!(message.contains('6') && message.contains("at most 5."), "{message}");
    let job = operator.post_json("/api/jobs/list", &[("project", "docs")]).await["jobs"][0].clone();
    operator.follow_up(&job, "123456", &intent()).await.refused(400, "bad_input");
    let form = operator.post_json("/api/jobs/form", &[("project", "docs")]).await;
    assert_eq!(form["prompt_max"], 5);
    New::template("n", "123456").post(&operator).await.refused(400, "bad_input");
    let draft = [("project", "docs"), ("text", "123456")];
    operator.post("/api/jobs/draft", &draft).await.refused(400, "bad_input");
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn longest_configurable_prompt_is_sent_at_four_bytes_per_character() {
    let app = with_limit(100_000).await;
    let operator = app.operator().await;
    let longest = "\u{1F4DA}".repeat(100_000);
    assert_eq!(operator.created(&longest).await["prompt"], longest.as_str());
    operator.create(&(longest + "x"), &intent()).await.refused(400, "bad_input");
}

#[tokio::test]
async fn overlong_prompt_returns_in_its_form_without_javascript() {
    let app = with_limit(1_000).await;
    let operator = app.operator().await;
    let (text, intent) = (format!("keep {}", "x".repeat(1_000)), intent());
    let fields = [("project", "docs"), ("prompt", &text), ("intent", &intent), ("paths", "/kept")];
    // A refused text takes precedence over the text in the URL.
    let referer = format!("{}/p/docs/jobs/new?prompt=brought", app.origin());
    let response = operator.submit("/api/jobs/create", &fields, Some(&referer)).await;
    let page = operator.get(response.location().trim_start_matches(&app.origin())).await;
    assert!(page.text.contains("Docket sends at most 1000"), "the limit is not on the page");
    assert!(
        page.text.contains(&text) && page.text.contains("value=\"/kept\""),
        "the text is not on the page"
    );
}

#[tokio::test]
async fn prompts_of_any_script_are_shown_in_their_direction() {
    let app = with_limit(32_768).await;
    let operator = app.operator().await;
    let prompt = "  שלום \u{202E}abc\u{202C}\n\n\tمرحبا 日本語 \u{1F469}\u{200D}\u{1F4BB} \u{e9} ";
    let job = operator.created(prompt).await;
    assert_eq!(operator.job(&job).await["prompt"], prompt);
    let source = format!("/p/docs/jobs/{}?source=on", job["id"].as_str().unwrap());
    let page = operator.get(&source).await.text;
    assert!(page.contains(prompt), "the prompt is not on the page as typed");
    let shown =
        tags(&page).into_iter().find(|tag| tag.attribute("class").starts_with("message-text")).unwrap();
    assert_eq!(shown.attribute("dir"), "auto");
}
