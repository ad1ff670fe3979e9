//! A page that was made for one person, in a browser in which another one has signed in since: nothing that it sends acts as the other one.

use base::config::RetentionConfig;
use reqwest::Method;
use reqwest::header::ACCEPT;
use web::auth::roles::{self, Access};

use crate::analytics_pages::{NOON, at};
use crate::helpers::{New, Settings, TestApp};
use crate::roles::{FIELDS, PAGES};

const HEADER: &str = "docket-person";
const FIELD: &str = "made_for";
const SIGN_OUT: &str = "/api/session/logout";

#[tokio::test]
async fn every_server_function_refuses_the_page_of_another_person() {
    let app = TestApp::start().await;
    let admin = app.sign_in("ada").await;
    let another = app.id_of("olga").await;
    let restricted = roles::ENDPOINTS.iter().filter(|(access, _)| *access != Access::Anybody);
    for endpoint in restricted.flat_map(|(_, endpoints)| *endpoints).filter(|endpoint| **endpoint != SIGN_OUT)
    {
        let named = admin.call(endpoint, FIELDS).header(HEADER, &another);
        let response = admin.send(named).await;
        assert_eq!(response.status, 409, "{endpoint}: {}", response.text);
        assert_eq!(response.json()["code"], "conflict", "{endpoint}");
        assert_eq!(response.header(HEADER), "another", "{endpoint}");
        assert!(response.text.contains("You are now signed in as "), "{endpoint}: {}", response.text);
    }
    assert!(admin.is_signed_in().await);
    assert_eq!(admin.send(admin.call(SIGN_OUT, &[]).header(HEADER, &another)).await.status, 200);
    assert!(!admin.is_signed_in().await, "the button ends whatever session the browser has");
}

/// Otherwise the field of a form and an argument would be confused.
#[test]
fn no_server_function_has_the_field_as_an_argument() {
    assert!(FIELDS.iter().all(|(name, _)| *name != FIELD));
}

#[tokio::test]
async fn other_conflicts_are_not_taken_for_another_person() {
    let retention = RetentionConfig { history_days: 30, ..RetentionConfig::default() };
    let app = TestApp::with(Settings { retention, ..at(NOON) }).await;
    let admin = app.sign_in("ada").await;
    // Days that are no longer stored.
    let page = "/p/docs/analytics?from=2026-10-01&to=2026-11-01&q=quick";
    let request = admin.request(Method::GET, page).header(ACCEPT, "text/html");
    let response = admin.send(request.header(HEADER, app.id_of("ada").await)).await;
    assert_eq!((response.status, response.header(HEADER)), (409, ""), "{}", response.text);
    let found = admin.post_json("/api/audit/list", &[("person", "ada")]).await;
    assert!(found["records"].as_array().is_some_and(|records| !records.is_empty()), "{found}");
}

#[tokio::test]
async fn form_of_another_person_starts_no_job() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let olga = app.operator().await;
    let form = format!("{}/p/docs/jobs/new", app.origin());
    let submitted = async |person: String| {
        New::job("Written by somebody else").with(FIELD, &person).submit(&olga, &form).await
    };
    let jobs = async || olga.post_json("/api/jobs/list", &[("project", "docs")]).await["total"].clone();

    let refused = submitted(app.id_of("vera").await).await;
    assert_eq!(refused.status, 409);
    assert!(refused.text.contains("You are now signed in as olga"), "{}", refused.text);
    assert!(refused.text.contains("Written by somebody else</textarea>"), "{}", refused.text);
    assert!(refused.text.contains("href=\"/p/docs/jobs/new\""), "{}", refused.text);
    assert_eq!(jobs().await, 0);

    assert_eq!(submitted(app.id_of("olga").await).await.status, 302);
    assert_eq!(jobs().await, 1);
}

#[tokio::test]
async fn page_does_not_refresh_itself_with_the_content_of_another_person() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let page = |person: String| {
        let request = olga.request(Method::GET, "/p/docs/jobs").header("docket-refresh", "1");
        olga.send(request.header(ACCEPT, "text/html").header(HEADER, person))
    };
    let refused = page(app.id_of("vera").await).await;
    assert_eq!((refused.status, refused.text.contains("<html")), (409, false));
    assert_eq!(page(app.id_of("olga").await).await.status, 200);
}

/// Each form that posts, on every page without a parameter: without JavaScript it names the person by this field.
#[tokio::test]
async fn every_form_names_its_person() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let admin = app.sign_in("ada").await;
    New::job("Fix typos in the guides").made(&admin).await;
    let field = format!("name=\"{FIELD}\" value=\"{}\"", app.id_of("ada").await);
    let mut forms = 0;
    let pages =
        PAGES.iter().filter(|(_, least)| least.is_some()).map(|(path, _)| path.replace("{project}", "docs"));
    for path in pages.filter(|path| !path.contains('{')) {
        let page = admin.get(&path).await.text;
        let posting = page
            .split("<form")
            .skip(1)
            .filter(|form| form.split('>').next().unwrap().contains("method=\"post\""));
        for form in posting {
            let form = form.split("</form>").next().unwrap();
            assert!(form.contains(&field), "{path}: {form}");
            forms += 1;
        }
    }
    assert!(forms > 20, "{forms} forms");
}
