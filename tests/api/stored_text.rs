//! Texts of users and of the upstream never become markup: they add no element and no attribute to a page.

pub(crate) mod world;

use std::collections::BTreeSet;

use reqwest::header::ACCEPT;
use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Browser, TestApp, TestResponse, fields, json, remote_job, tags, views_answer};
use world::{every_page, fill, remote, world_of};

/// Texts that would have an effect if one was not escaped, or if a link was opened.
const ATTACKS: [&str; 14] = [
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(2)</script>",
    "</script><script>alert(3)</script>",
    "<img src=x onerror=alert(4)>",
    "\"><img src=x onerror=alert(5)>",
    "' onfocus='alert(6)' autofocus='",
    "\" onfocus=\"alert(7)\" x=\"",
    "<!--<script>alert(8)",
    "&lt;img src=x onerror=alert(9)&gt;",
    "</option></select><svg onload=alert(10)>",
    "javascript:alert(11)",
    "data:text/html;alert(12)",
    "//evil.example/alert(13)",
    "<a href=javascript:alert(14)>{{}}{}</a>",
];

/// Texts that would reorder or break the text around them.
const UNSEEN: [&str; 5] = ["\u{202E}alert(1)", "\u{2066}alert(2)", "a\u{200F}b", "a\u{1b}[31mb", "a\u{0}b"];

/// A harmless text, to find the markup of the pages themselves.
const HARMLESS: &str = "Plain words";

async fn page(person: &Browser, path: &str) -> TestResponse {
    let page = person.get(path).await;
    assert_eq!(page.status, 200, "{path}");
    page
}

fn path_of(job: &Value) -> String {
    format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Checks that no text became markup.
#[track_caller]
fn assert_inert(page: &TestResponse, place: &str) {
    let nonce =
        page.header("content-security-policy").split_once("'nonce-").unwrap().1.split('\'').next().unwrap();
    let tags = tags(&page.text);
    assert!(tags.last().unwrap().text.contains("__INCOMPLETE_CHUNKS"), "{place} lost its end");
    assert!(!page.text.contains("<!--<script"), "{place}: a text opens a comment");
    for tag in tags {
        let foreign = ["img", "iframe", "object", "embed", "base", "noscript", "style"];
        let handles = tag.attributes.iter().any(|(name, _)| name.starts_with("on") || name == "srcdoc");
        assert!(!foreign.contains(&tag.name.as_str()) && !handles, "{place}: {tag:?}");
        let breaks_out = ["<!--", "<script", "</"].iter().any(|harm| tag.text.contains(harm));
        assert!(tag.name != "script" || (tag.attribute("nonce") == nonce && !breaks_out), "{place}: {tag:?}");
        for (_, target) in tag.attributes.iter().filter(|(name, _)| leads(name)) {
            assert!(is_followed_safely(target), "{place}: {tag:?}");
        }
    }
}

fn leads(attribute: &str) -> bool {
    ["href", "xlink:href", "action", "src", "formaction", "data", "poster", "ping"].contains(&attribute)
}

/// Whether a browser that opens a link stays here or visits an allowed site.
fn is_followed_safely(target: &str) -> bool {
    let here = url::Url::parse("http://127.0.0.1:3000/p/docs/jobs").unwrap();
    let Ok(there) = here.join(target) else { return false };
    there.origin() == here.origin() || target.starts_with("https://git.example/")
}

/// The names of all elements, each with the names of its attributes.
fn vocabulary(pages: &[(String, TestResponse)]) -> BTreeSet<(String, String)> {
    let mut words = BTreeSet::new();
    for (_, page) in pages {
        for tag in tags(&page.text) {
            words.insert((tag.name.clone(), String::new()));
            words.extend(tag.attributes.into_iter().map(|(name, _)| (tag.name.clone(), name)));
        }
    }
    words
}

#[tokio::test]
async fn hostile_text_is_inert_on_every_page() {
    let (app, person, receiver) = world_of(HARMLESS).await;
    let filled = fill(&app, &person, &receiver, HARMLESS).await;
    let known = vocabulary(&every_page(&person, filled).await);
    for text in ATTACKS {
        let (app, person, receiver) = world_of(text).await;
        let filled = fill(&app, &person, &receiver, text).await;
        let shown = every_page(&person, filled.clone()).await;
        for (path, page) in &shown {
            assert_inert(page, path);
            let tells = page.text.contains("alert(");
            assert!(tells || !filled.contains(path), "{path} does not show {text} at all: {}", page.status);
        }
        let found = vocabulary(&shown);
        let brought: Vec<_> = found.difference(&known).collect();
        assert!(brought.is_empty(), "{text} brought along {brought:?}");
    }
}

#[tokio::test]
async fn tag_with_special_characters_is_refused() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    for text in ATTACKS.into_iter().chain(UNSEEN) {
        let pairs = [("project", "docs"), ("jobs", job["id"].as_str().unwrap()), ("tag", text)];
        operator.post("/api/jobs/tag", &pairs).await.refused(400, "bad_input");
    }
}

/// Names appear in sentences and identify users.
#[tokio::test]
async fn names_with_bidi_control_characters_are_refused() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for text in UNSEEN {
        for (endpoint, others) in
            [("/api/templates/save", ("text", "Fix {{page}}")), ("/api/saved-views/save", ("query", "q=x"))]
        {
            let pairs = [("project", "docs"), ("name", text), others];
            operator.post(endpoint, &pairs).await.refused(400, "bad_input");
        }
        assert!(base::username::parse(text).is_err(), "{text:?}");
        assert!(base::config::parse_projects(&format!("docs={text}")).is_err(), "{text:?}");
    }
}

/// Text from the upstream cannot reorder its surroundings: block elements isolate it, and inline elements do so by their style.
#[tokio::test]
async fn bidi_control_characters_are_isolated_in_their_element() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote("job_1", UNSEEN[0]))).await;
    let operator = app.operator().await;
    let page = page(&operator, &path_of(&operator.created(UNSEEN[0]).await)).await;
    let holders: BTreeSet<String> = tags(&page.text)
        .into_iter()
        .filter(|tag| tag.text.contains('\u{202E}'))
        .map(|tag| tag.name)
        .collect();
    assert!(holders.contains("h1") && holders.contains("span"), "{holders:?}");
    let style = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/style/base.css")).unwrap();
    let rule = style.split('}').find(|rule| rule.contains("unicode-bidi: isolate")).unwrap();
    let isolated: BTreeSet<&str> = rule.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    // Browsers isolate block elements by default; titles and scripts are not displayed.
    let apart = ["p", "li", "dd", "td", "th", "h1", "h2", "option", "title", "script", "textarea"];
    for holder in &holders {
        assert!(isolated.contains(holder.as_str()) || apart.contains(&holder.as_str()), "{holder}");
    }
}

#[tokio::test]
async fn hostile_url_is_inert_on_its_page() {
    let app = TestApp::start().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let (operator, anonymous) = (app.operator().await, app.anonymous());
    for text in ATTACKS.into_iter().chain(UNSEEN) {
        let text = encoded(text);
        for path in [
            format!("/p/docs/jobs/new?prompt={text}&path={text}&template={text}&from={text}&page={text}"),
            format!("/p/docs/jobs?status={text}&q={text}&author={text}&cursor={text}&tag={text}"),
            format!("/p/docs/analytics?from={text}&to={text}&q={text}&sort={text}&page={text}&limit={text}"),
            format!("/p/docs/jobs/batch?prompt={text}&from={text}"),
            format!("/p/docs/templates?edit={text}"),
            format!("/p/docs/queue?cancel={text}"),
            format!("/admin/webhooks?webhook={text}"),
            format!("/p/{text}"),
            format!("/p/docs/jobs/{text}"),
            format!("/{text}"),
            format!("/p/docs/jobs/new?__path=%2Fapi%2Fjobs%2Fcreate&__err={text}"),
        ] {
            assert_inert(&operator.get(&path).await, &path);
        }
        let path = format!("/login?next={text}");
        assert_inert(&anonymous.get(&path).await, &path);
        assert_eq!(anonymous.get(&format!("/setup?token={text}")).await.location(), "/setup");
        assert_inert(&anonymous.get("/setup").await, &path);
    }
}

#[tokio::test]
async fn pull_request_is_a_link_only_with_a_safe_url() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (n, (link, is_link)) in [
        ("https://git.example/acme/docs/pull/7", true),
        ("javascript:alert(document.cookie)", false),
        ("JaVaScRiPt:alert(1)", false),
        (" javascript:alert(1)", false),
        ("java\nscript:alert(1)", false),
        ("data:text/html,<script>alert(1)</script>", false),
        ("vbscript:x", false),
        ("//evil.example/pull/7", false),
        ("/api/session/logout", false),
        ("https://git.example/\u{7}7", false),
    ]
    .into_iter()
    .enumerate()
    {
        app.upstream.reset().await;
        app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
        let mut remote = remote_job(&format!("job_{n}"), "completed");
        remote["prLink"] = json!(link);
        app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
        let job = operator.created("Fix typos").await;
        for path in [path_of(&job), "/p/docs/jobs".to_owned(), "/p/docs".to_owned()] {
            let page = page(&operator, &path).await;
            assert_inert(&page, &path);
            let shown = tags(&page.text).iter().any(|tag| tag.name == "a" && tag.attribute("href") == link);
            assert_eq!(shown, is_link, "{link} on {path}");
        }
    }
}

/// Forms returned without JavaScript show the typed text only in its field.
#[tokio::test]
async fn refused_form_shows_hostile_text_only_in_its_field() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for text in ATTACKS {
        let body =
            fields(&[("project", "docs"), ("prompt", text), ("intent", "not an intent"), ("paths", text)]);
        let request = operator.form("/api/jobs/create", &[]).body(body).header(ACCEPT, "text/html");
        let response = operator.send(request.header("sec-fetch-site", "same-origin")).await;
        assert_eq!(response.status, 303, "{text}");
        let page = page(&operator, "/p/docs/jobs/new").await;
        assert_inert(&page, text);
        let boxes = tags(&page.text).into_iter().filter(|tag| tag.name == "textarea");
        assert!(boxes.into_iter().any(|tag| tag.text == text), "{text} is not in its box");
    }
}
