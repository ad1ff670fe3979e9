//! A page that was made for one person, in a browser in which another one has signed in since: nothing that it sends acts as the other one.

use reqwest::Method;
use reqwest::header::ACCEPT;
use web::auth::roles::{self, Access};

use crate::helpers::{New, TestApp};
use crate::roles::{FIELDS, PAGES};

const HEADER: &str = "docket-person";
const FIELD: &str = "person";

#[tokio::test]
async fn every_server_function_refuses_the_page_of_another_person() {
    let app = TestApp::start().await;
    let admin = app.sign_in("ada").await;
    let another = app.id_of("olga").await;
    let restricted = roles::ENDPOINTS.iter().filter(|(access, _)| *access != Access::Anybody);
    for endpoint in restricted.flat_map(|(_, endpoints)| *endpoints) {
        let named = admin.call(endpoint, FIELDS).header(HEADER, &another);
        let response = admin.send(named).await;
        assert_eq!(response.status, 409, "{endpoint}: {}", response.text);
        assert_eq!(response.json()["code"], "conflict", "{endpoint}");
        assert!(response.text.contains("You are now signed in as "), "{endpoint}: {}", response.text);
    }
    assert!(admin.is_signed_in().await);
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
    assert!(refused.text.starts_with("You are now signed in as olga"), "{}", refused.text);
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
