//! Flash messages: the outcome of a plain form is shown on the next page, once, only to the browser that posted it.

use model::flash::FlashMessage;
use reqwest::Method;
use reqwest::header::ACCEPT;
use service::auth::token;
use web::request::flash::Owner;

use crate::helpers::{Browser, PASSWORD, TestApp, TestResponse, tags};
use crate::second_factor;

const COOKIE: &str = "docket-flash";
const USERS: &str = "/admin/users";
const MARKUP: &str = "\"><script>alert(1)</script>&amp;";

/// The notices on a page.
fn notices(page: &TestResponse) -> Vec<String> {
    let tags = tags(&page.text);
    let mut notices = Vec::new();
    for (at, tag) in tags.iter().enumerate() {
        if ["alert", "status"].contains(&tag.attribute("role")) {
            notices.extend(tags[at..].iter().find(|tag| tag.name == "p").map(|tag| tag.text.clone()));
        }
    }
    notices
}

/// Posts a plain form that is refused from the page at `path`, and returns the redirect's target.
async fn submit(
    app: &TestApp,
    person: &Browser,
    path: &str,
    endpoint: &str,
    pairs: &[(&str, &str)],
) -> String {
    let referer = format!("{}{path}", app.origin());
    let response = person.submit(endpoint, pairs, Some(&referer)).await;
    assert_eq!(response.status, 303, "{}", response.text);
    response.location().to_owned()
}

/// Causes an error: an invite for `name`, which is taken or invalid.
async fn cause_error(app: &TestApp, person: &Browser, name: &str) {
    let pairs = [("name", name), ("role", "operator"), ("access", "all")];
    assert_eq!(submit(app, person, USERS, "/api/users/invite", &pairs).await, USERS);
}

/// The cookie of the pending message of a browser.
fn id(person: &Browser) -> Option<String> {
    cookie(person, COOKIE)
}

fn cookie(person: &Browser, name: &str) -> Option<String> {
    let cookies = person.cookie().unwrap_or_default();
    let value = cookies.split("; ").find_map(|cookie| cookie.strip_prefix(name)?.strip_prefix('='));
    value.map(str::to_owned)
}

/// Claims and returns the pending message of a browser.
async fn pending_message(app: &TestApp, person: &Browser) -> FlashMessage {
    let session = cookie(person, "docket").map(|session| Owner::Session(token::hash(&session)));
    let owner = session.unwrap_or(Owner::Anonymous);
    app.state().flash.claim(&owner, &id(person).unwrap()).await.unwrap().unwrap()
}

/// How many messages are in the database.
async fn stored(app: &TestApp) -> i64 {
    app.ledger().count("SELECT COUNT(*) FROM sessions WHERE flash_message IS NOT NULL").await
}

async fn get_with(person: &Browser, path: &str, headers: &[(&str, &str)]) -> TestResponse {
    let request = person.request(Method::GET, path).header(ACCEPT, "text/html,application/xhtml+xml");
    person.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

#[tokio::test]
async fn refused_form_shows_its_reason_once() {
    let app = second_factor::app().await;
    second_factor::switch_on(&app, &app.sign_in("otto").await).await;
    let (anonymous, code) = (app.anonymous(), second_factor::first_step(&app, "otto").await);
    let (ada, olga) = (app.sign_in("ada").await, app.operator().await);
    let new_password = [("old", "wrong"), ("new", "a sentence of my own")];
    let set_up = [("token", "x"), ("username", "eve"), ("password", "a sentence of my own")];
    for (person, page, endpoint, pairs) in [
        (
            &anonymous,
            "/login?next=%2Fp%2Fapi",
            "/api/session/login",
            &[("username", "olga"), ("password", "x")][..],
        ),
        (&anonymous, "/setup", "/api/session/setup", &set_up),
        (&code, "/login/code", "/api/session/code", &[("code", "000000")]),
        (&olga, "/account", "/api/account/password", &new_password),
        (&olga, "/account", "/api/second-factor/begin", &[("password", "wrong")]),
        (&ada, USERS, "/api/users/invite", &[("name", "olga"), ("role", "viewer"), ("access", "all")]),
        (&ada, USERS, "/api/users/disable", &[("user", "01930000-0000-7000-8000-000000000000")]),
    ] {
        let sentence = person.post(endpoint, pairs).await.json()["message"].as_str().unwrap().to_owned();
        let location = submit(&app, person, page, endpoint, pairs).await;
        assert_eq!(location, page, "{endpoint}: nothing is added to the address");
        let (first, second) = (person.get(page).await, person.get(page).await);
        assert_eq!(first.status, 200, "{endpoint}");
        assert!(
            notices(&first).contains(&sentence),
            "{endpoint}: {sentence} is not in {:?}",
            notices(&first)
        );
        assert!(!second.text.contains(&sentence), "{endpoint}: {sentence} is shown again");
        assert_eq!(id(person), None, "{endpoint}: the cookie stays");
    }
}

#[tokio::test]
async fn cookie_contains_the_message_id_only() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let pairs = [("name", "olga"), ("role", "operator"), ("access", "all")];
    let response = ada.submit("/api/users/invite", &pairs, Some(&format!("{}{USERS}", app.origin()))).await;
    let cookies: Vec<&str> =
        response.headers.get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap()).collect();
    let cookie = cookies.iter().find(|cookie| cookie.starts_with(COOKIE)).unwrap();
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=300"] {
        assert!(cookie.contains(attribute), "{attribute} is not in {cookie}");
    }
    assert_eq!(id(&ada).unwrap().len(), 43, "{cookie}");
    assert!(!cookie.contains("olga"), "{cookie}");
    assert_eq!(response.text, "", "a redirect shows no message");
}

#[tokio::test]
async fn typed_values_are_returned_escaped() {
    let app = TestApp::start().await;
    let (ada, anonymous) = (app.sign_in("ada").await, app.anonymous());
    let pairs = [
        ("name", MARKUP),
        ("role", "operator"),
        ("access", "selected"),
        ("projects", "api"),
        ("projects", MARKUP),
    ];
    submit(&app, &ada, USERS, "/api/users/invite", &pairs).await;
    submit(&app, &anonymous, "/login", "/api/session/login", &[("username", MARKUP), ("password", "x")])
        .await;
    for (person, path, field) in [(&ada, USERS, "name"), (&anonymous, "/login", "username")] {
        let page = person.get(path).await;
        let tags = tags(&page.text);
        let field = tags.iter().find(|tag| tag.attribute("id") == field).unwrap();
        assert_eq!(field.attribute("value"), MARKUP, "{path}");
        assert!(tags.iter().all(|tag| !tag.text.contains("alert(1)") || tag.name == "p"), "{path}: {tags:?}");
        if path == USERS {
            // The invite form is the last one.
            let ticked: Vec<&str> = tags
                .iter()
                .filter(|tag| {
                    tag.attribute("type") == "checkbox"
                        && tag.attributes.iter().any(|(name, _)| name == "checked")
                })
                .map(|tag| tag.attribute("value"))
                .collect();
            assert_eq!(ticked, ["api"]);
            let is_role = |value: &str| ["viewer", "operator", "admin"].contains(&value);
            let roles = tags
                .iter()
                .filter(|tag| tag.name == "option" && is_role(tag.attribute("value")))
                .rev()
                .take(3);
            let chosen =
                roles.into_iter().find(|tag| tag.attributes.iter().any(|(name, _)| name == "selected"));
            assert_eq!(chosen.unwrap().attribute("value"), "operator");
        }
    }
}

/// Finds all forms with secrets on the pages themselves, so that the test covers new ones.
#[tokio::test]
async fn typed_secrets_are_not_stored() {
    let app = second_factor::app().await;
    let (olga, otto) = (app.operator().await, app.sign_in("otto").await);
    second_factor::switch_on(&app, &otto).await;
    let code = second_factor::first_step(&app, "otto").await;
    let ada = app.sign_in("ada").await;
    ada.post_json("/api/second-factor/begin", &[("password", PASSWORD)]).await;
    let token = ada.invite("ivan", "viewer", "").await;
    let (anonymous, invited) = (app.anonymous(), app.anonymous());
    assert_eq!(invited.post("/api/session/open-link", &[("token", &token)]).await.status, 200);
    let mut looked_at = Vec::new();
    for (person, path) in [
        (&anonymous, "/login"),
        (&invited, "/setup"),
        (&code, "/login/code"),
        (&olga, "/account"),
        (&ada, "/account"),
        (&otto, "/account"),
    ] {
        let mut action = String::new();
        for tag in tags(&person.get(path).await.text) {
            if tag.name == "form" {
                action = tag.attribute("action").to_owned();
            }
            let is_secret = tag.attribute("type") == "password"
                || tag.attribute("autocomplete") == "one-time-code"
                || tag.attribute("name") == "token";
            if is_secret {
                looked_at.push((action.clone(), tag.attribute("name").to_owned(), person, path));
            }
        }
    }
    assert!(looked_at.len() >= 11, "{}", looked_at.len());
    for (action, secret, person, path) in looked_at {
        let fields = ["username", "password", "old", "new", "code", "token"];
        let pairs = fields.map(|field| (field, if field == secret { "hush hush" } else { "typed" }));
        submit(&app, person, path, &action, &pairs).await;
        let message = pending_message(&app, person).await;
        assert_eq!((message.form.as_str(), message.problem().is_some()), (action.as_str(), true));
        assert!(!format!("{message:?}").contains("hush"), "{secret} of {action} is stored: {message:?}");
        assert_eq!(message.typed("username"), "typed", "{action}");
    }
}

#[tokio::test]
async fn only_the_posting_browser_gets_the_message() {
    let app = TestApp::start().await;
    let (ada, elsewhere, olga) = (app.sign_in("ada").await, app.sign_in("ada").await, app.operator().await);
    let pairs = [("name", "ivan"), ("role", "viewer"), ("access", "all")];
    let referer = format!("{}{USERS}", app.origin());
    assert_eq!(ada.submit("/api/users/invite", &pairs, Some(&referer)).await.status, 302);
    let flash = format!("{COOKIE}={}", id(&ada).unwrap());
    assert!(!elsewhere.page(USERS).await.contains("/setup#token="), "another browser of the same user");
    for other in [&olga, &elsewhere] {
        other.set_cookie(&format!("{}; {flash}", other.cookie().unwrap()));
    }
    let other_session = elsewhere.page(USERS).await;
    assert!(!other_session.contains("/setup#token="), "another session of the same user with the cookie");
    for path in [USERS, "/account", "/p/docs"] {
        assert!(!olga.get(path).await.text.contains("/setup#token="), "another user with the cookie, {path}");
    }
    let anonymous = app.anonymous();
    anonymous.set_cookie(&flash);
    assert!(!anonymous.page("/login").await.contains("/setup#token="), "no session, with the cookie");
    assert!(ada.get(USERS).await.text.contains("/setup#token="), "she does not get it any more");
}

#[tokio::test]
async fn message_stays_until_its_page_is_viewed() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    cause_error(&app, &ada, "olga").await;
    for headers in [
        &[("sec-fetch-mode", "cors"), ("sec-fetch-dest", "empty")][..],
        &[("docket-refresh", "1")],
        &[("sec-fetch-mode", "navigate"), ("sec-purpose", "prefetch")],
        &[("sec-fetch-mode", "navigate"), ("sec-purpose", "prefetch;prerender")],
        &[("purpose", "prefetch")],
        &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")],
    ] {
        let page = get_with(&ada, USERS, headers).await;
        assert!(page.status == 200 && !page.text.contains("is taken"), "{headers:?} took it");
        assert!(id(&ada).is_some(), "{headers:?} took the cookie");
    }
    // A redirect, another page, a missing page and a file do not show the message.
    for path in ["/", "/account", "/nowhere", "/admin/audit/export.csv", "/favicon.svg"] {
        let page =
            get_with(&ada, path, &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]).await;
        assert!(!page.text.contains("is taken"), "{path} shows it");
    }
    let page = get_with(&ada, USERS, &[("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]).await;
    assert!(page.text.contains("The username olga is taken."), "{:?}", notices(&page));
}

#[tokio::test]
async fn later_message_replaces_an_earlier_one() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    cause_error(&app, &ada, "olga").await;
    cause_error(&app, &ada, "otto").await;
    let page = ada.get(USERS).await;
    assert!(page.text.contains("olga is taken") != page.text.contains("otto is taken"));
    assert!(page.text.contains("The username otto is taken."), "{:?}", notices(&page));
}

#[tokio::test]
async fn refused_form_redirects_only_to_own_pages() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    for (referer, location) in [
        (Some(format!("{}//evil.example/x", app.origin())), "/"),
        (Some(format!("{}/\\evil.example", app.origin())), "/"),
        (Some(format!("{}/api/session/logout", app.origin())), "/"),
        (Some("https://evil.example/admin/users".to_owned()), "/"),
        (None, "/"),
        (Some(format!("{}{USERS}?a=%2F%2Fb#top", app.origin())), "/admin/users?a=%2F%2Fb"),
    ] {
        let pairs = [("name", "olga"), ("role", "viewer"), ("access", "all")];
        let response = ada.submit("/api/users/invite", &pairs, referer.as_deref()).await;
        assert_eq!((response.status, response.location()), (303, location), "{referer:?}");
    }
}

#[tokio::test]
async fn forged_cookie_shows_nothing_and_is_removed() {
    let app = TestApp::start().await;
    for value in ["x", "", "../../x", &"x".repeat(4_000), "%00", "ada id"] {
        let anonymous = app.anonymous();
        anonymous.set_cookie(&format!("{COOKIE}={value}"));
        let page = anonymous.get("/login").await;
        assert_eq!((page.status, notices(&page)), (200, Vec::new()), "{value:?}");
        assert_eq!(id(&anonymous), None, "{value:?}");
    }
}

#[tokio::test]
async fn anonymous_form_stores_only_the_redirect_target() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let long = "x".repeat(16_000);
    let pairs = [("username", long.as_str()), ("password", "x"), ("next", "/p/docs")];
    submit(&app, &anonymous, "/login", "/api/session/login", &pairs).await;
    let message = pending_message(&app, &anonymous).await;
    assert_eq!(message.typed, [("next".to_owned(), "/p/docs".to_owned())]);
    assert_eq!(stored(&app).await, 0, "an anonymous client fills the database");
}

/// The longest prompt, of characters with four bytes.
#[tokio::test]
async fn long_prompt_of_a_refused_form_is_removed_when_shown() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let prompt = "𝄞".repeat(app.state().settings().prompt_max as usize);
    let pairs = [("project", "docs"), ("prompt", prompt.as_str()), ("intent", "not an intent")];
    let path = "/p/docs/jobs/new";
    assert_eq!(submit(&app, &olga, path, "/api/jobs/create", &pairs).await, path);
    assert_eq!(stored(&app).await, 1);
    let page = olga.get(path).await;
    assert!(page.text.contains(&prompt), "{:?}", notices(&page));
    assert_eq!(stored(&app).await, 0);
}

#[tokio::test]
async fn confirmation_is_shown_in_the_session_that_a_new_password_begins() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let before = cookie(&olga, "docket");
    let pairs = [("old", PASSWORD), ("new", "a sentence of my own")];
    let referer = format!("{}/account", app.origin());
    assert_eq!(olga.submit("/api/account/password", &pairs, Some(&referer)).await.status, 302);
    assert_ne!(cookie(&olga, "docket"), before);
    let page = olga.get("/account").await;
    let sentence = "Password changed. You are signed out everywhere else.".to_owned();
    assert!(notices(&page).contains(&sentence), "{:?}", notices(&page));
}

#[tokio::test]
async fn concurrent_requests_show_a_message_once() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    cause_error(&app, &ada, "olga").await;
    let pages: [TestResponse; 3] = tokio::join!(ada.get(USERS), ada.get(USERS), ada.get(USERS)).into();
    let shown = pages.iter().filter(|page| page.text.contains("The username olga is taken.")).count();
    assert_eq!(shown, 1);
}

#[tokio::test]
async fn script_request_creates_no_flash_message() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let pairs = [("name", "olga"), ("role", "operator"), ("access", "all")];
    ada.post("/api/users/invite", &pairs).await.refused(409, "conflict");
    ada.post_json("/api/users/invite", &[("name", "ivan"), ("role", "viewer"), ("access", "all")]).await;
    assert_eq!(id(&ada), None);
}

#[tokio::test]
async fn cookie_is_secure_behind_https() {
    let settings = crate::helpers::Settings {
        public_url: Some("https://docket.example".to_owned()),
        ..crate::helpers::Settings::default()
    };
    let app = TestApp::with(settings).await;
    let ada = app.sign_in("ada").await;
    let pairs = [("name", "olga"), ("role", "operator"), ("access", "all")];
    let response = ada.submit("/api/users/invite", &pairs, Some("https://docket.example/admin/users")).await;
    let cookies = response.headers.get_all("set-cookie");
    let cookie =
        cookies.iter().find_map(|cookie| cookie.to_str().unwrap().strip_prefix("__Host-docket-flash="));
    assert!(cookie.unwrap().contains("Secure"), "{cookie:?}");
    assert!(ada.get(USERS).await.text.contains("The username olga is taken."));
}
