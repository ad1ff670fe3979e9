//! No open redirects: whatever `next`, `Referer` and other fields contain, redirects lead to own pages.

use std::collections::BTreeSet;

use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderValue, REFERER};
use service::auth::own_path::{is_own_path, own_path};
use url::Url;

use crate::helpers::{Browser, New, PASSWORD, TestApp, TestResponse, tags};

/// URLs of other sites, in all known disguises as an own path. At least 500, each once.
fn hostile() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let openings = [
        "//",
        "///",
        "////",
        "/\\",
        "\\/",
        "\\\\",
        "/\\/",
        "//\\",
        "\\",
        "/\t/",
        "/\n/",
        "/\r\n/",
        "\t//",
        " //",
        "/ /",
        "/%09/",
        "/%2f",
        "/%2F",
        "%2f%2f",
        "/%5c",
        "%5c%5c",
        "/%5C%5c",
        "/%00/",
        "/\0/",
        "/./",
        "/..//",
        "/.//",
        "/;//",
        "/\u{a0}/",
        "\u{2028}//",
        "/\u{ff0f}",
        "\u{ff0f}\u{ff0f}",
        "\u{3002}//",
        "/\u{200b}/",
        "\u{feff}//",
        "/\u{202e}/",
        "/\u{7}/",
        "/\u{1f}/",
        "http:",
        "http:/",
        "http://",
        "http:///",
        "http:\\\\",
        "https:",
        "https:/",
        "https://",
        "https:///",
        "HTTPS://",
        "hTtPs:\\/",
        "https:%2f%2f",
        "ht\ttps://",
        " https://",
        "\u{1}https://",
        "https\n://",
        "http;//",
        "ftp://",
        "ws://",
        "file://",
        "blob:https://",
        "javascript:",
        "JaVaScRiPt:",
        "java\nscript:",
        " javascript://",
        "javascript:alert(1)//",
        "data:text/html,",
        "data:text/html;base64,",
        "vbscript:",
        "mailto:",
        "about:",
        "view-source:https://",
        "intent://",
        "/api/session/logout?",
        "/api/jobs/create#",
        "?//",
        "#//",
        ".",
        "..",
        "",
    ];
    let hosts = [
        "evil.example",
        "evil.example/p/docs",
        "EVIL.example:443/",
        "user@evil.example/",
        "127.0.0.1:3000@evil.example/",
        "evil.example%2f@x/",
        "evil.example\\@127.0.0.1/",
    ];
    for opening in openings {
        for host in hosts {
            all.insert(format!("{opening}{host}"));
        }
    }
    assert!(all.len() >= 500, "{}", all.len());
    all
}

/// The URL to which a browser at `origin` resolves a value, if it is valid.
fn leads_to(origin: &str, location: &str) -> Option<Url> {
    Url::parse(&format!("{origin}/p/docs/jobs")).unwrap().join(location).ok()
}

/// Checks that a response redirects to an own page, or not at all.
#[track_caller]
fn stays_here(app: &TestApp, response: &TestResponse, case: &str) {
    assert_eq!(
        response.headers.get_all("location").iter().count(),
        usize::from(!response.location().is_empty())
    );
    assert_eq!(response.header("refresh"), "", "{case:?}");
    if response.location().is_empty() {
        return;
    }
    let there = leads_to(&app.origin(), response.location()).unwrap();
    assert_eq!(there.origin().ascii_serialization(), app.origin(), "{case:?} leads to {there}");
    assert!(!there.path().starts_with("/api/"), "{case:?} leads to {there}");
    assert!(there.username().is_empty() && there.password().is_none(), "{case:?} leads to {there}");
}

async fn login(person: &Browser, next: &str, password: &str, referer: Option<&str>) -> TestResponse {
    let pairs = [("username", "olga"), ("password", password), ("next", next)];
    person.submit("/api/session/login", &pairs, referer).await
}

#[test]
fn most_hostile_values_lead_browsers_to_another_site() {
    let elsewhere = hostile().into_iter().filter(|value| {
        leads_to("http://127.0.0.1:3000", value)
            .is_none_or(|there| there.origin().ascii_serialization() != "http://127.0.0.1:3000")
    });
    assert!(elsewhere.count() >= 250, "most of them should lead a browser astray");
}

#[test]
fn hostile_values_are_not_accepted_as_own_paths() {
    for value in hostile() {
        let parsed = own_path(Some(&value));
        let there = leads_to("http://127.0.0.1:3000", &parsed).unwrap();
        assert_eq!(
            there.origin().ascii_serialization(),
            "http://127.0.0.1:3000",
            "{value:?} is parsed as {parsed}"
        );
        assert!(
            parsed == "/" || (parsed == value && !there.path().starts_with("/api/")),
            "{value:?}: {parsed}"
        );
    }
    assert!(is_own_path("/p/docs/jobs?status=active&q=a%20b#top"));
}

#[tokio::test]
async fn sign_in_with_a_hostile_next_redirects_to_own_pages() {
    let app = TestApp::start().await;
    // Each costs a password hash: one of each kind here, and all of them in the test above.
    for next in [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
        "/api/session/logout",
    ] {
        let response = login(&app.anonymous(), next, PASSWORD, None).await;
        assert_eq!((response.status, response.location()), (302, "/"), "{next:?}");
    }
    let wrong = login(
        &app.anonymous(),
        "//evil.example",
        "wrong",
        Some(&format!("{}/login?next=//evil.example", app.origin())),
    )
    .await;
    stays_here(&app, &wrong, "a wrong password");
}

#[tokio::test]
async fn sign_in_redirects_never_leave_the_site() {
    let app = TestApp::start().await;
    let (anonymous, operator) = (app.anonymous(), app.operator().await);
    for value in hostile() {
        let encoded: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        let response = operator.get(&format!("/login?next={encoded}")).await;
        assert_eq!((response.status, response.location()), (303, "/"), "{value:?}");
        for path in [format!("/p/{encoded}"), format!("//{encoded}"), format!("/p/docs?next={encoded}")] {
            stays_here(&app, &anonymous.get(&path).await, &path);
        }
    }
    let page = anonymous
        .get("/login?next=%2F%2Fevil.example&__path=%2Fapi%2Fsession%2Flogin&__err=%2F%2Fevil.example")
        .await;
    let leading: Vec<_> = tags(&page.text)
        .into_iter()
        .flat_map(|tag| tag.attributes)
        .filter(|(name, _)| ["href", "action"].contains(&name.as_str()))
        .collect();
    assert!(leading.iter().any(|(name, _)| name == "action"), "{}", page.text);
    for (_, target) in leading {
        assert_eq!(
            leads_to(&app.origin(), &target).unwrap().origin().ascii_serialization(),
            app.origin(),
            "{target}"
        );
    }
}

#[tokio::test]
async fn redirects_ignore_a_foreign_referer() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let (operator, anonymous, origin) = (app.operator().await, app.anonymous(), app.origin());
    let mut referers = hostile();
    referers.extend([
        "https://evil.example/p/docs/jobs/new".to_owned(),
        "http://127.0.0.1:1/p/docs".to_owned(),
        "not an address".to_owned(),
    ]);
    for ending in [
        ".evil.example/p/docs",
        "@evil.example/",
        ":80@evil.example/",
        "\\@evil.example/",
        "%2eevil.example/",
    ] {
        referers.insert(format!("{origin}{ending}"));
    }
    let mut sent = 0;
    for referer in referers {
        // Browsers cannot send what a header cannot contain.
        let Ok(header) = HeaderValue::from_bytes(referer.as_bytes()) else { continue };
        sent += 1;
        for (person, endpoint, prompt) in [
            (&operator, "/api/jobs/create", ""),
            (&operator, "/api/jobs/get", ""),
            (&anonymous, "/api/jobs/create", ""),
        ] {
            let request = person.form(endpoint, &[("project", "docs"), ("prompt", prompt), ("intent", "x")]);
            let request = request.header(ACCEPT, "text/html").header("sec-fetch-site", "same-origin");
            let response = person.send(request.header(REFERER, header.clone())).await;
            assert_eq!(response.status, 303, "{referer:?}");
            stays_here(&app, &response, &referer);
        }
    }
    assert!(sent >= 450, "only {sent} could be sent");
    let done = New::job("Fix typos").submit(&operator, "https://evil.example/").await;
    assert!(done.location().starts_with("/p/docs/jobs/"), "{}", done.location());
}

/// Pages do not show messages from their URL; the outcome of a form is a flash message.
#[tokio::test]
async fn error_parameters_in_urls_are_ignored() {
    let app = TestApp::start().await;
    let operator = app.sign_in("ada").await;
    for value in hostile() {
        let encoded: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        let path = format!("/admin/users?__path=%2Fapi%2Fusers%2Finvite&__err={encoded}&error={encoded}");
        let page = operator.send(operator.request(Method::GET, &path).header(ACCEPT, "text/html")).await;
        assert_eq!((page.status, page.location()), (200, ""), "{value:?}");
        assert!(!page.text.contains("evil"), "{value:?}");
    }
}

/// Password managers open this address.
#[tokio::test]
async fn well_known_address_leads_to_the_password() {
    let app = TestApp::start().await;
    let address = "/.well-known/change-password";
    let vera = app.sign_in("vera").await;
    let response = vera.get(address).await;
    assert_eq!((response.status, response.location()), (303, "/account#password"));
    assert!(vera.get("/account").await.text.contains("id=\"password\""));
    let anonymous = app.anonymous();
    let response = anonymous.send(anonymous.request(Method::GET, address).header(ACCEPT, "text/html")).await;
    assert_eq!(response.status, 303);
    assert_eq!(response.location(), "/login?next=%2F.well-known%2Fchange-password");
    let fields = [("username", "vera"), ("password", PASSWORD), ("next", address)];
    let signed_in = anonymous.submit("/api/session/login", &fields, Some(response.location())).await;
    assert_eq!(signed_in.location(), address);
    assert_eq!(anonymous.get("/.well-known/unknown").await.status, 404);
}
