//! Texts of people and of the upstream are texts: nothing in them is ever markup on a page.

use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Answer, Browser, TestApp, intent, json, remote_job, tags, views_answer};

/// Texts that would do something if any of them was not escaped.
const ATTACKS: [&str; 9] = [
    "</textarea><script>alert(1)</script>",
    "</title><script>alert(2)</script>",
    "</script><script>alert(3)</script>",
    "<img src=x onerror=alert(4)>",
    "\"><img src=x onerror=alert(5)>",
    "' onfocus='alert(6)' autofocus='",
    "\" onfocus=\"alert(7)\" x=\"",
    "<!--<script>alert(8)",
    "&lt;img src=x onerror=alert(9)&gt;",
];

async fn page(person: &Browser, path: &str) -> Answer {
    let page = person.get(path).await;
    assert_eq!(page.status, 200, "{path}");
    page
}

fn path_of(job: &Value) -> String {
    format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())
}

/// Nothing on the page is markup that a text brought along.
#[track_caller]
fn assert_inert(page: &Answer, place: &str) {
    let nonce =
        page.header("content-security-policy").split_once("'nonce-").unwrap().1.split('\'').next().unwrap();
    let tags = tags(&page.text);
    assert!(tags.last().unwrap().raw_text.contains("__INCOMPLETE_CHUNKS"), "{place} lost its end");
    assert!(!page.text.contains("<!--<script"), "{place}: a text opens a comment");
    for tag in tags {
        let foreign = ["img", "iframe", "object", "embed", "base"].contains(&tag.name.as_str());
        assert!(
            !foreign && tag.attributes.iter().all(|(name, _)| !name.starts_with("on")),
            "{place}: {tag:?}"
        );
        let breaks_out = ["<!--", "<script", "</"].iter().any(|harm| tag.raw_text.contains(harm));
        assert!(tag.name != "script" || (tag.attribute("nonce") == nonce && !breaks_out), "{place}: {tag:?}");
        for name in ["href", "action", "src", "formaction"] {
            let target = tag.attribute(name).to_owned();
            let plain: String =
                target.chars().filter(|c| !c.is_ascii_whitespace() && !c.is_control()).collect();
            let scheme =
                plain.find(':').filter(|at| plain.find(['/', '?', '#']).is_none_or(|path| *at < path));
            let web = plain.starts_with("https://") || plain.starts_with("http://");
            assert!(scheme.is_none() || web, "{place}: {tag:?}");
        }
    }
}

#[tokio::test]
async fn a_hostile_prompt_is_inert_on_every_page() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let operator = app.operator().await;
    for text in ATTACKS {
        let job = operator.created(text).await;
        let answer = remote_job(job["remote"]["id"].as_str().unwrap(), "active");
        app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(answer)).await;
        operator.follow_up(&job, text, &intent()).await;
        let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        for path in [
            path_of(&job),
            "/p/docs/jobs".to_owned(),
            "/p/docs".to_owned(),
            format!("/p/docs/jobs?q={encoded}"),
            format!("/p/docs/jobs?author={encoded}"),
            format!("/p/docs/jobs/new?from={}", job["id"].as_str().unwrap()),
        ] {
            assert_inert(&page(&operator, &path).await, &path);
        }
    }
}

#[tokio::test]
async fn a_hostile_draft_is_inert_in_its_form() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    for text in ATTACKS {
        operator.create(text, "not an intent").await.refused(400, "bad_input");
        operator.follow_up(&job, text, "not an intent").await.refused(400, "bad_input");
        for path in ["/p/docs/jobs/new".to_owned(), path_of(&job)] {
            let page = page(&operator, &path).await;
            assert!(page.text.contains("alert("), "{path} has no draft");
            assert_inert(&page, &path);
        }
    }
}

#[tokio::test]
async fn a_hostile_address_is_inert_on_the_page_it_asks_for() {
    let app = TestApp::start().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let (operator, stranger) = (app.operator().await, app.stranger());
    for text in ATTACKS {
        let text: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        for path in [
            format!("/p/docs/jobs/new?prompt={text}&path={text}"),
            format!("/p/docs/jobs?status={text}&q={text}&author={text}&cursor={text}"),
            format!("/p/docs/analytics?from={text}&to={text}&q={text}&sort={text}&page={text}&limit={text}"),
            format!("/p/{text}"),
            format!("/p/docs/jobs/{text}"),
            format!("/{text}"),
            format!("/p/docs/jobs/new?__path=%2Fapi%2Fjobs%2Fcreate&__err={text}"),
        ] {
            assert_inert(&operator.get(&path).await, &path);
        }
        for path in [format!("/login?next={text}"), format!("/setup?token={text}")] {
            assert_inert(&stranger.get(&path).await, &path);
        }
    }
}

#[tokio::test]
async fn hostile_fields_of_the_upstream_are_inert() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (n, text) in ATTACKS.into_iter().enumerate() {
        app.upstream.reset().await;
        let id = format!("{n}{text}");
        let remote = json!({
            "id": id, "status": text, "source": {"repository": text, "ref": text}, "model": text, "prLink": text,
            "createdAt": text, "archivedAt": text,
        });
        app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
        let refusal =
            ResponseTemplate::new(400).set_body_json(json!({"error": text, "details": [{"message": text}]}));
        app.upstream.on_follow_up(refusal).await;
        let rows = json!([{"path": text, "human": 1, "ai": 1, "total": 2}]);
        let views = json!({"totals": {"human": 1, "ai": 1, "total": 2}, "views": rows, "hasMore": true});
        app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views)).await;
        let job = operator.created("Fix typos").await;
        operator.follow_up(&job, "And more", &intent()).await;
        // Another range each time, because answers are remembered.
        let range = format!("?from=2025-01-{:02}&to=2025-01-31", n + 1);
        for path in [path_of(&job), "/p/docs/jobs".to_owned(), format!("/p/docs/analytics{range}")] {
            let page = page(&operator, &path).await;
            assert!(page.text.contains("alert("), "{path} does not show it at all");
            assert_inert(&page, &path);
        }
    }
}

#[tokio::test]
async fn a_pull_request_is_a_link_only_where_a_browser_may_follow_it() {
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
