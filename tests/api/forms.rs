//! Without JavaScript: plain forms are answered with a redirect to an own page, which shows errors.

use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Browser, New, PASSWORD, TestApp, TestResponse, intent, remote_job};

/// The status of a redirect after a form that did something.
const DONE: u16 = 302;
/// The status of a redirect after a refused form.
const REFUSED: u16 = 303;

/// The path of a redirect with this status, which must lead to an own page.
#[track_caller]
fn own_path(app: &TestApp, status: u16, response: &TestResponse) -> String {
    assert_eq!(response.status, status, "{}", response.text);
    let location = response.location();
    let path = location.strip_prefix(&app.origin()).unwrap_or(location);
    assert!(path.starts_with('/') && !path.starts_with("//"), "{location}");
    path.to_owned()
}

async fn create(operator: &Browser, prompt: &str, referer: Option<&str>) -> TestResponse {
    operator.submit("/api/jobs/create", &New::job(prompt).pairs(), referer).await
}

#[tokio::test]
async fn started_job_form_redirects_to_the_job() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let form = format!("{}/p/docs/jobs/new", app.origin());
    let path = own_path(&app, DONE, &create(&operator, "Fix typos in the guides", Some(&form)).await);
    let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    let job = &list["jobs"][0];
    assert_eq!(path, format!("/p/docs/jobs/{}", job["id"].as_str().unwrap()));
    let page = operator.get(&path).await;
    assert!(page.status == 200 && page.text.contains("Fix typos in the guides"), "{}", page.status);

    let response =
        ResponseTemplate::new(200).set_body_json(remote_job(job["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(response).await;
    let pairs = [
        ("project", "docs"),
        ("job", job["id"].as_str().unwrap()),
        ("prompt", "And more"),
        ("intent", &intent()),
    ];
    let referer = format!("{}{path}", app.origin());
    let followed = operator.submit("/api/jobs/message", &pairs, Some(&referer)).await;
    assert_eq!(own_path(&app, DONE, &followed), path);
    assert!(operator.get(&path).await.text.contains("And more"));
}

#[tokio::test]
async fn rejected_job_form_redirects_to_the_job() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (status, state) in [(400, "rejected"), (500, "unknown")] {
        app.upstream.reset().await;
        app.upstream.on_create(ResponseTemplate::new(status)).await;
        let path = own_path(&app, DONE, &create(&operator, "Fix typos", None).await);
        let page = operator.get(&path).await;
        assert!(page.text.contains(&format!("data-status=\"{state}\"")), "{path}");
        assert!(page.text.contains("Fix typos"));
    }
}

#[tokio::test]
async fn refused_form_returns_with_reason_and_text() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let form = format!("{}/p/docs/jobs/new", app.origin());
    let text = format!("keep me {}", "x".repeat(32_768));
    let path = own_path(&app, REFUSED, &create(&operator, &text, Some(&form)).await);
    assert_eq!(path, "/p/docs/jobs/new", "nothing is added to the address");
    let page = operator.get(&path).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("Docket sends at most 32768"), "the reason is not on the page");
    assert!(page.text.contains(&text), "the text is not on the page");

    // It is shown once, and a second error too.
    assert!(!operator.page(&path).await.contains("Docket sends at most"), "it is shown again");
    let again = own_path(
        &app,
        REFUSED,
        &create(&operator, " ", Some(&format!("{}{path}?path=/faq", app.origin()))).await,
    );
    assert_eq!(again, "/p/docs/jobs/new?path=/faq");
    let page = operator.get(&again).await;
    assert!(page.text.contains("the prompt is empty"), "the second reason is not on the page");
}

#[tokio::test]
async fn sign_in_and_sign_out_work_without_javascript() {
    let app = TestApp::start().await;
    let person = app.anonymous();
    let page = format!("{}/login?next=%2Fp%2Fapi%2Fjobs", app.origin());
    let wrong = [("username", "olga"), ("password", "not/it&at=all"), ("next", "/p/api/jobs")];
    let path = own_path(&app, REFUSED, &person.submit("/api/session/login", &wrong, Some(&page)).await);
    assert_eq!(path, "/login?next=%2Fp%2Fapi%2Fjobs", "nothing is added to the address");
    let form = person.get(&path).await;
    assert!(form.text.contains("Incorrect username or password."), "the reason is not on the page");
    assert!(form.text.contains("value=\"/p/api/jobs\""), "the requested path was lost");
    assert!(form.text.contains("value=\"olga\""), "the name has to be typed again");
    assert!(!form.text.contains("not/it"), "the password is on the page");

    let right = [("username", "olga"), ("password", PASSWORD), ("next", "/p/api/jobs")];
    let response =
        person.submit("/api/session/login", &right, Some(&format!("{}{path}", app.origin()))).await;
    assert_eq!(own_path(&app, DONE, &response), "/p/api/jobs");
    assert_eq!(person.get("/p/api/jobs").await.status, 200);
    let response =
        person.submit("/api/session/logout", &[], Some(&format!("{}/p/api/jobs", app.origin()))).await;
    assert_eq!(own_path(&app, DONE, &response), "/login");
    assert_eq!(person.get("/p/api/jobs").await.status, 303);
}

/// The forms on the pages contain every field that the server functions need.
#[tokio::test]
async fn rendered_forms_have_every_required_field() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job: Value = operator.created("Fix typos").await;
    for (path, action, names) in [
        ("/p/docs/jobs/new".to_owned(), "/api/jobs/create", &["project", "prompt", "intent", "paths"][..]),
        (
            format!("/p/docs/jobs/{}", job["id"].as_str().unwrap()),
            "/api/jobs/message",
            &["project", "job", "prompt", "intent"],
        ),
        ("/p/docs".to_owned(), "/api/session/logout", &[]),
    ] {
        let page = operator.get(&path).await;
        let form = page.text.split("<form").find(|form| form.contains(&format!("action=\"{action}\"")));
        let form = form.unwrap_or_else(|| panic!("no form posts to {action} on {path}"));
        let form = form.split("</form>").next().unwrap();
        assert!(form.to_ascii_lowercase().contains("method=\"post\""), "{form}");
        for name in names {
            assert!(form.contains(&format!("name=\"{name}\"")), "{name} is not in the form to {action}");
        }
    }
    let login = app.anonymous().get("/login").await;
    for name in ["username", "password", "next"] {
        assert!(login.text.contains(&format!("name=\"{name}\"")), "{name}");
    }
}
