//! Cookies of another application on the same domain, with bytes that are not ASCII, hide none of Docket's.

use base::clock::Clock;

use crate::helpers::{Browser, Provider, Settings, TestApp};
use crate::second_factor::{NOON, enter, next_code, switch_on};

/// As UTF-8, as Latin-1, and without a name.
const FOREIGN: [&[u8]; 3] = ["; user=Zoë".as_bytes(), b"; user=Zo\xEB; x=1", b";\xFF"];

fn browser(app: &TestApp, foreign: &[u8]) -> Browser {
    let browser = app.anonymous();
    browser.set_foreign_cookies(foreign);
    browser
}

#[tokio::test]
async fn foreign_cookies_do_not_disturb_a_sign_in_with_two_steps() {
    let app = TestApp::with(Settings { clock: Clock::frozen(NOON), ..Settings::default() }).await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    for foreign in FOREIGN {
        let olga = browser(&app, foreign);
        let first = olga.sign_in("olga", crate::helpers::PASSWORD).await;
        assert_eq!((first.status, first.location()), (200, "/login/code"), "{}", first.text);
        let second = enter(&olga, &next_code(&app, &secret)).await;
        assert_eq!(second.status, 200, "{foreign:?}: {}", second.text);
        assert!(olga.is_signed_in().await, "{foreign:?}");
    }
}

#[tokio::test]
async fn foreign_cookies_do_not_disturb_single_sign_on() {
    let provider = Provider::start().await;
    let app = TestApp::with(Settings { identity: provider.config(), ..Settings::default() }).await;
    for foreign in FOREIGN {
        let mia = browser(&app, foreign);
        let away = mia.get("/login/sso?next=%2F").await;
        let back = provider.sign_in(away.location(), "mia").await;
        let response = mia.get(&back).await;
        assert_eq!(response.status, 303, "{foreign:?}: {}", response.text);
        assert!(mia.is_signed_in().await, "{foreign:?}");
    }
}

#[tokio::test]
async fn foreign_cookies_do_not_disturb_an_invitation() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    for (n, foreign) in FOREIGN.into_iter().enumerate() {
        let token = ada.invite(&format!("ivan{n}"), "viewer", "").await;
        let ivan = browser(&app, foreign);
        assert_eq!(ivan.get(&format!("/setup?token={token}")).await.location(), "/setup");
        let accepted = ivan.post("/api/session/setup", &[("password", "a sentence of my own")]).await;
        assert_eq!(accepted.status, 200, "{foreign:?}: {}", accepted.text);
        assert!(ivan.is_signed_in().await, "{foreign:?}");
    }
}

#[tokio::test]
async fn foreign_cookies_do_not_hide_a_message_after_a_form() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    for foreign in FOREIGN {
        olga.set_foreign_cookies(foreign);
        let from = format!("{}/account", app.origin());
        let fields = [("old", "wrong"), ("new", "a sentence of my own")];
        let response = olga.submit("/api/account/password", &fields, Some(&from)).await;
        assert_eq!(response.status, 303, "{foreign:?}: {}", response.text);
        let page = olga.get("/account").await;
        assert!(page.text.contains("Incorrect current password."), "{foreign:?}: {}", page.text);
    }
}
