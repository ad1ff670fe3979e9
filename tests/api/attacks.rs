//! Texts of people and of the upstream are texts: nothing in them is ever markup on a page.

use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Browser, TestApp, intent, json, remote_job, views_answer};

/// Texts that would do something if any of them was not escaped, each with what must then not be on a page.
const ATTACKS: [(&str, &str); 8] = [
    ("</textarea><script>alert(1)</script>", "<script>alert"),
    ("</title><script>alert(2)</script>", "<script>alert"),
    ("</script><script>alert(3)</script>", "<script>alert"),
    ("<img src=x onerror=alert(4)>", "<img src=x"),
    ("\"><img src=x onerror=alert(5)>", "<img src=x"),
    ("' onfocus='alert(6)' autofocus='", "' onfocus='"),
    ("\" onfocus=\"alert(7)\" x=\"", "\" onfocus=\""),
    ("<!--<script>alert(8)", "<!--<script"),
];

async fn page(person: &Browser, path: &str) -> String {
    let page = person.get(path).await;
    assert_eq!(page.status, 200, "{path}");
    page.text
}

fn path_of(job: &Value) -> String {
    format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())
}

#[track_caller]
fn assert_inert(page: &str, harm: &str, place: &str) {
    if let Some(at) = page.find(harm) {
        let from = page[..at].char_indices().rev().nth(150).map_or(0, |(at, _)| at);
        panic!("{place} lets {harm} through: …{}", &page[from..(at + harm.len()).min(page.len())]);
    }
}

#[tokio::test]
async fn a_hostile_prompt_is_inert_on_every_page() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    for (text, harm) in ATTACKS {
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
            assert_inert(&page(&operator, &path).await, harm, &path);
        }
    }
}

#[tokio::test]
async fn a_hostile_draft_is_inert_in_its_form() {
    let app = TestApp::start().await;
    app.upstream.takes_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    for (text, harm) in ATTACKS {
        operator.create(text, "not an intent").await.refused(400, "bad_input");
        operator.follow_up(&job, text, "not an intent").await.refused(400, "bad_input");
        for path in ["/p/docs/jobs/new".to_owned(), path_of(&job)] {
            let page = page(&operator, &path).await;
            assert!(page.contains("alert("), "{path} has no draft");
            assert_inert(&page, harm, &path);
        }
    }
}

#[tokio::test]
async fn a_hostile_address_is_inert_on_the_page_it_asks_for() {
    let app = TestApp::start().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let (operator, stranger) = (app.operator().await, app.stranger());
    for (text, harm) in ATTACKS {
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
            assert_inert(&operator.get(&path).await.text, harm, &path);
        }
        for path in [format!("/login?next={text}"), format!("/setup?token={text}")] {
            assert_inert(&stranger.get(&path).await.text, harm, &path);
        }
    }
}

#[tokio::test]
async fn hostile_fields_of_the_upstream_are_inert() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (n, (text, harm)) in ATTACKS.into_iter().enumerate() {
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
            assert!(page.contains("alert("), "{path} does not show it at all");
            assert_inert(&page, harm, &path);
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
        let mut remote = remote_job(&format!("job_{n}"), "completed");
        remote["prLink"] = json!(link);
        app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote)).await;
        let job = operator.created("Fix typos").await;
        for path in [path_of(&job), "/p/docs/jobs".to_owned(), "/p/docs".to_owned()] {
            let page = page(&operator, &path).await;
            let links: Vec<&str> =
                page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
            let shown = links.contains(&link);
            assert_eq!(shown, is_link, "{link} on {path}");
            for href in links {
                let scheme = href.split([':', '/', '?', '#']).next().unwrap().trim().to_ascii_lowercase();
                let has_scheme =
                    href.contains(':') && href.find(':') < href.find(['/', '?', '#']).or(Some(href.len()));
                assert!(!has_scheme || scheme == "https", "{href} on {path}");
            }
        }
    }
}
