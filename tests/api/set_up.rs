//! The first administrator: by a one-time link in the log, or by a configured password.

use crate::helpers::{Browser, Installation, PASSWORD};

const NOWHERE: &str = "http://127.0.0.1:9";

async fn set_up(browser: &Browser, token: &str, name: &str, password: &str) -> crate::helpers::TestResponse {
    browser.post("/api/session/setup", &[("token", token), ("username", name), ("password", password)]).await
}

#[tokio::test]
async fn setup_link_creates_the_first_administrator_once() {
    let installation = Installation::configured(NOWHERE);
    let first_life = installation.serve(&["serve"]);
    let address = first_life.address().await;
    let old_link = first_life.output_after("open ").await;
    drop(first_life);

    let server = installation.serve(&[]);
    let address_now = server.address().await;
    let link = server.output_after("open ").await;
    assert_ne!((&address, &link), (&address_now, &old_link));
    let token = |link: &str| link.split_once("/setup#token=").unwrap().1.to_owned();
    let (old, token) = (token(&old_link), token(&link));
    assert!(link.starts_with(&address_now) && token.len() >= 32, "{link}");

    let person = Browser::at(&address_now);
    let opened = person.post("/api/session/open-link", &[("token", &link)]).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    let page = person.get("/setup").await;
    assert!(page.status == 200 && page.text.contains("Create the first administrator"), "{}", page.text);
    for (token, name, password, status, code) in [
        ("wrong", "ada", PASSWORD, 403, "forbidden"),
        (old.as_str(), "ada", PASSWORD, 403, "forbidden"),
        ("", "ada", PASSWORD, 403, "forbidden"),
        (&token, "ada", "too short", 400, "bad_input"),
        (&token, "", PASSWORD, 400, "bad_input"),
        (&token, "a\u{7}b", PASSWORD, 400, "bad_input"),
    ] {
        let other = Browser::at(&address_now);
        set_up(&other, token, name, password).await.refused(status, code);
        assert_eq!(other.cookie(), None);
    }
    let stored = installation.ledger().count("SELECT COUNT(*) FROM setup_links").await;
    let as_it_is = installation.ledger().dump().await;
    assert_eq!(stored, 1);
    assert!(!as_it_is.contains(&token), "the token is in the database");

    assert_eq!(set_up(&person, &token, "ada", PASSWORD).await.status, 200);
    let session = person.post_json("/api/session/current", &[]).await;
    assert_eq!((&session["username"], &session["role"]), (&"ada".into(), &"admin".into()));
    let other = Browser::at(&address_now);
    set_up(&other, &token, "mallory", PASSWORD).await.refused(403, "forbidden");
    assert_eq!(other.sign_in("ada", PASSWORD).await.status, 200);
    assert_eq!(server.output().matches(&token).count(), 1, "the token was logged again");
    drop(server);

    let server = installation.serve(&[]);
    server.address().await;
    assert!(!server.output().contains("/setup"), "{}", server.output());
}

#[tokio::test]
async fn link_used_concurrently_works_once() {
    let installation = Installation::configured(NOWHERE);
    let server = installation.serve(&[]);
    let address = server.address().await;
    let link = server.output_after("open ").await;
    let token = link.split_once("token=").unwrap().1;
    let people: Vec<Browser> = (0..6).map(|_| Browser::at(&address)).collect();
    let names: Vec<String> = (0..6).map(|n| format!("person-{n}")).collect();
    let clicks = people.iter().zip(&names).map(|(person, name)| set_up(person, token, name, PASSWORD));
    let responses = futures::future::join_all(clicks).await;
    let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 403, 403, 403, 403, 403]);
}

#[tokio::test]
async fn configured_password_creates_an_administrator_only_without_accounts() {
    let installation = Installation::configured(NOWHERE).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let server = installation.serve(&[]);
    let address = server.address().await;
    assert!(!server.output().contains("/setup"), "{}", server.output());
    assert_eq!(Browser::at(&address).sign_in("admin", PASSWORD).await.status, 200);
    drop(server);

    let installation = installation.set("DOCKET_ADMIN_PASSWORD", "quite another password");
    let server = installation.serve(&[]);
    let address = server.address().await;
    assert_eq!(Browser::at(&address).sign_in("admin", PASSWORD).await.status, 200);
    let other = Browser::at(&address).sign_in("admin", "quite another password").await;
    other.refused(401, "unauthenticated");
}
