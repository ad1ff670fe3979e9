//! The second factor: set up on the account page, requested after the password.

mod proof;
mod sequences;

use std::net::IpAddr;
use std::time::Duration;

use base::clock::Clock;
use model::time::Timestamp;
use service::auth::totp;

use crate::helpers::work::work_at;
use crate::helpers::{Browser, Installation, PASSWORD, Settings, TestApp, TestResponse};

pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const STEP: Duration = Duration::from_secs(30);

/// An app with a frozen clock, so that codes are known.
pub(crate) async fn app() -> TestApp {
    TestApp::with(Settings { clock: Clock::frozen(NOON), ..Settings::default() }).await
}

/// The next code of the authenticator.
pub(crate) fn next_code(app: &TestApp, secret: &str) -> String {
    app.clock().advance(STEP);
    totp::code_at(secret, app.clock().now()).unwrap()
}

async fn secret_of(browser: &Browser) -> String {
    let page = browser.get("/account").await.text;
    let (_, rest) = page.split_once("?secret=").unwrap_or_else(|| panic!("no secret in {page}"));
    rest.split('&').next().unwrap().to_owned()
}

/// Enables it, and returns the secret and the recovery codes.
pub(crate) async fn switch_on(app: &TestApp, browser: &Browser) -> (String, Vec<String>) {
    switch_on_beside(app, browser, "").await
}

/// Enables it beside a passkey, with a recovery code.
pub(crate) async fn switch_on_beside(app: &TestApp, browser: &Browser, code: &str) -> (String, Vec<String>) {
    browser.post_json("/api/second-factor/begin", &[("password", PASSWORD), ("code", code)]).await;
    let secret = secret_of(browser).await;
    let code = next_code(app, &secret);
    let response = browser.post_json("/api/second-factor/confirm", &[("code", &code)]).await;
    let codes: Vec<String> = response["secret"].as_str().unwrap().split(' ').map(str::to_owned).collect();
    assert_eq!(codes.len(), 10);
    (secret, codes)
}

async fn is_signed_in(browser: &Browser) -> bool {
    browser.post("/api/session/current", &[]).await.status == 200
}

/// Signs in with the correct password, up to the request for a code.
pub(crate) async fn first_step(app: &TestApp, name: &str) -> Browser {
    let browser = app.anonymous();
    let response = browser.sign_in(name, PASSWORD).await;
    assert_eq!((response.status, response.location()), (200, "/login/code"), "{}", response.text);
    browser
}

pub(crate) async fn enter(browser: &Browser, code: &str) -> TestResponse {
    browser.post("/api/session/code", &[("code", code)]).await
}

#[tokio::test]
async fn password_without_a_code_gives_no_session() {
    let app = app().await;
    let olga = app.operator().await;
    let (secret, _) = switch_on(&app, &olga).await;
    assert!(is_signed_in(&olga).await, "switching it on ends no session");

    let browser = app.anonymous();
    let fields = [("username", "olga"), ("password", PASSWORD), ("next", "/p/docs/jobs?q=x")];
    let response =
        browser.submit("/api/session/login", &fields, Some(&format!("{}/login", app.origin()))).await;
    assert_eq!((response.status, response.location()), (302, "/login/code"), "{}", response.text);
    let cookie = browser.cookie().unwrap();
    assert!(cookie.starts_with("docket-step=") && !cookie.contains("docket="), "{cookie}");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=600"] {
        assert!(response.header("set-cookie").contains(attribute), "{attribute}");
    }
    assert!(!is_signed_in(&browser).await);
    assert_eq!(browser.get("/p/docs/jobs").await.location(), "/login?next=%2Fp%2Fdocs%2Fjobs");

    let page = browser.get("/login/code").await;
    assert!(page.status == 200 && page.text.contains("Enter your code"), "{}", page.text);
    assert!(!page.text.contains("olga") && !page.text.contains("<script"), "{}", page.text);
    let code = next_code(&app, &secret);
    let response = browser
        .submit("/api/session/code", &[("code", &code)], Some(&format!("{}/login/code", app.origin())))
        .await;
    assert_eq!((response.status, response.location()), (302, "/p/docs/jobs?q=x"), "{}", response.text);
    assert!(is_signed_in(&browser).await);
    assert!(!browser.cookie().unwrap().contains("docket-step"));
}

#[tokio::test]
async fn wrong_password_does_not_reveal_a_second_factor() {
    let app = app().await;
    let olga = app.operator().await;
    switch_on(&app, &olga).await;
    let mut messages = Vec::new();
    for name in ["olga", "otto", "nobody"] {
        let browser = app.anonymous();
        messages.push(browser.sign_in(name, "not the password").await.refused(401, "unauthenticated"));
        assert_eq!(browser.cookie(), None);
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
}

#[tokio::test]
async fn code_of_an_input_method_is_accepted() {
    let app = app().await;
    let (secret, recovery) = switch_on(&app, &app.operator().await).await;
    let wide = |code: &str| -> String {
        code.chars().map(|c| char::from_u32(u32::from(c) + 0xFEE0).unwrap()).collect()
    };
    for code in [wide(&next_code(&app, &secret)), wide(&recovery[0])] {
        assert_eq!(enter(&first_step(&app, "olga").await, &code).await.status, 200, "{code}");
    }
    let code = next_code(&app, &secret);
    let spaced = format!("{}\u{3000}{}", wide(&code[..3]), wide(&code[3..]));
    assert_eq!(enter(&first_step(&app, "olga").await, &spaced).await.status, 200, "{spaced}");
}

#[tokio::test]
async fn code_is_valid_once_within_one_time_step() {
    let app = app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let used = totp::code_at(&secret, app.clock().now()).unwrap();
    let browser = first_step(&app, "olga").await;
    enter(&browser, &used).await.refused(401, "unauthenticated");
    let late = next_code(&app, &secret);
    app.clock().advance(STEP);
    assert_eq!(enter(&browser, &late).await.status, 200);

    let again = first_step(&app, "olga").await;
    enter(&again, &late).await.refused(401, "unauthenticated");
    let early = totp::code_at(&secret, app.clock().now().plus_seconds(30)).unwrap();
    assert_eq!(enter(&again, &early).await.status, 200);
    // Using a code also invalidates earlier ones.
    let third = first_step(&app, "olga").await;
    enter(&third, &totp::code_at(&secret, app.clock().now()).unwrap()).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn concurrent_reuse_of_a_code_signs_in_once() {
    let app = app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let mut browsers = Vec::new();
    for _ in 0..4 {
        browsers.push(first_step(&app, "olga").await);
    }
    let code = next_code(&app, &secret);
    let responses = futures::future::join_all(browsers.iter().map(|browser| enter(browser, &code))).await;
    assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 1);
}

#[tokio::test]
async fn five_wrong_codes_require_the_password_again() {
    let app = app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let browser = first_step(&app, "olga").await;
    for wrong in ["", "000", "abcdef", "ｏｎｅ", &"x".repeat(1000)] {
        enter(&browser, wrong).await.refused(401, "unauthenticated");
    }
    let code = next_code(&app, &secret);
    let message = enter(&browser, &code).await.refused(401, "unauthenticated");
    assert!(message.contains("password"), "{message}");
    assert_eq!(browser.get("/login/code").await.location(), "/login");
    assert!(!is_signed_in(&browser).await);
}

#[tokio::test]
async fn code_attempts_are_limited_across_client_ips() {
    let app = app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let mut wrong = 0;
    for last in 10..20 {
        let thief = app.anonymous_from(IpAddr::from([127, 0, 0, last]));
        if thief.sign_in("olga", PASSWORD).await.status == 429 {
            break;
        }
        for _ in 0..5 {
            wrong += usize::from(enter(&thief, "000000").await.status == 401);
        }
    }
    assert_eq!(wrong, 10);
    let olga = first_step(&app, "olga").await;
    assert_eq!(enter(&olga, &next_code(&app, &secret)).await.status, 200, "the user is locked out");
}

#[tokio::test]
async fn code_attempts_within_a_session_are_rate_limited() {
    let app = app().await;
    let olga = app.operator().await;
    switch_on(&app, &olga).await;
    for _ in 0..10 {
        let fields = [("password", PASSWORD), ("code", "000000")];
        olga.post("/api/second-factor/renew", &fields).await.refused(400, "bad_input");
    }
    for verb in ["renew", "remove", "begin"] {
        let fields = [("password", PASSWORD), ("code", "000000")];
        olga.post(&format!("/api/second-factor/{verb}"), &fields).await.refused(429, "too_many_attempts");
    }
}

#[tokio::test]
async fn new_password_ends_pending_sign_ins() {
    let app = app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let thief = first_step(&app, "olga").await;
    app.set_password("olga", "another long password").await;
    enter(&thief, &next_code(&app, &secret)).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn second_step_is_bound_to_its_browser_for_ten_minutes() {
    let app = app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let browser = first_step(&app, "olga").await;
    let anonymous = app.anonymous();
    enter(&anonymous, &next_code(&app, &secret)).await.refused(401, "unauthenticated");
    anonymous.set_cookie("docket-step=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    enter(&anonymous, &next_code(&app, &secret)).await.refused(401, "unauthenticated");
    app.clock().advance(Duration::from_secs(600));
    enter(&browser, &next_code(&app, &secret)).await.refused(401, "unauthenticated");
    let token = browser.cookie().unwrap().split_once('=').unwrap().1.to_owned();
    assert!(!app.database_dump().await.contains(&token), "the token is in the database");
}

#[tokio::test]
async fn user_disabled_between_the_steps_is_refused() {
    let app = app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let browser = first_step(&app, "olga").await;
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "olga", true).await.unwrap();
    enter(&browser, &next_code(&app, &secret)).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn recovery_code_works_once_in_any_notation() {
    let app = app().await;
    let (_, codes) = switch_on(&app, &app.operator().await).await;
    let stored = app.database_dump().await;
    assert!(codes.iter().all(|code| !stored.contains(code) && !stored.contains(&code.replace('-', ""))));
    let typed = codes[0].to_uppercase().replace('-', " ");
    assert_eq!(enter(&first_step(&app, "olga").await, &typed).await.status, 200);
    enter(&first_step(&app, "olga").await, &codes[0]).await.refused(401, "unauthenticated");
    let olga = first_step(&app, "olga").await;
    assert_eq!(enter(&olga, &codes[9]).await.status, 200);
    assert!(olga.get("/account").await.text.contains("8 recovery codes are left"));
}

#[tokio::test]
async fn new_recovery_codes_replace_old_ones_and_are_shown_once() {
    let app = app().await;
    let olga = app.operator().await;
    let (secret, old) = switch_on(&app, &olga).await;
    let wrong = [("password", PASSWORD), ("code", "000000")];
    olga.post("/api/second-factor/renew", &wrong).await.refused(400, "bad_input");
    let code = next_code(&app, &secret);
    let page = format!("{}/account", app.origin());
    let pairs = [("password", PASSWORD), ("code", code.as_str())];
    let response = olga.submit("/api/second-factor/renew", &pairs, Some(&page)).await;
    assert_eq!((response.status, response.location()), (302, "/account"), "{}", response.text);
    let shown = olga.get("/account").await.text;
    let new: Vec<&str> =
        shown.split(r#"<code class="secret">"#).skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(new.len(), 10);
    assert!(!olga.page("/account").await.contains(new[0]), "they are shown again");
    enter(&first_step(&app, "olga").await, &old[0]).await.refused(401, "unauthenticated");
    assert_eq!(enter(&first_step(&app, "olga").await, new[0]).await.status, 200);
}

#[tokio::test]
async fn enabling_it_requires_password_and_code() {
    let app = app().await;
    let olga = app.operator().await;
    olga.post("/api/second-factor/begin", &[("password", "wrong")]).await.refused(400, "bad_input");
    olga.post("/api/second-factor/confirm", &[("code", "000000")]).await.refused(409, "conflict");
    olga.post_json("/api/second-factor/begin", &[("password", PASSWORD)]).await;
    let first = secret_of(&olga).await;
    assert!(is_signed_in(&app.operator().await).await, "an unconfirmed second factor is required");
    let page = olga.get("/account").await.text;
    assert!(page.contains("<svg role=\"img\"") && page.contains("otpauth://totp/"), "{page}");

    olga.post_json("/api/second-factor/begin", &[("password", PASSWORD)]).await;
    let second = secret_of(&olga).await;
    assert_ne!(first, second);
    let code = totp::code_at(&first, app.clock().now()).unwrap();
    olga.post("/api/second-factor/confirm", &[("code", &code)]).await.refused(400, "bad_input");
    app.clock().advance(Duration::from_secs(900));
    let code = totp::code_at(&second, app.clock().now()).unwrap();
    olga.post("/api/second-factor/confirm", &[("code", &code)]).await.refused(409, "conflict");

    let (secret, _) = switch_on(&app, &olga).await;
    olga.post("/api/second-factor/begin", &[("password", PASSWORD)]).await.refused(409, "conflict");
    assert!(!olga.page("/account").await.contains(&secret), "the secret is shown after it was confirmed");
}

#[tokio::test]
async fn disabling_it_requires_password_and_code() {
    let app = app().await;
    let olga = app.operator().await;
    let (secret, codes) = switch_on(&app, &olga).await;
    let code = next_code(&app, &secret);
    let remove = async |password: &str, code: &str| {
        olga.post("/api/second-factor/remove", &[("password", password), ("code", code)]).await
    };
    remove("wrong", &code).await.refused(400, "bad_input");
    remove(PASSWORD, "000000").await.refused(400, "bad_input");
    first_step(&app, "olga").await;
    assert_eq!(remove(PASSWORD, &codes[3]).await.status, 200);
    assert!(is_signed_in(&app.operator().await).await);
    // The remaining old codes are invalid.
    let (_, new) = switch_on(&app, &olga).await;
    enter(&first_step(&app, "olga").await, &codes[4]).await.refused(401, "unauthenticated");
    assert_eq!(enter(&first_step(&app, "olga").await, &new[4]).await.status, 200);
}

#[tokio::test]
async fn administrator_sees_and_resets_second_factors() {
    let app = app().await;
    switch_on(&app, &app.operator().await).await;
    let url = app.database_url().to_owned();
    let installation = Installation::new().set("DOCKET_DATABASE_URL", &url);
    let has = || {
        let listed = installation.run(&["user", "list"]).stdout;
        listed.lines().filter(|line| line.contains("second factor")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(has().len() == 1 && has()[0].starts_with("olga"), "{:?}", has());
    let people = app.sign_in("ada").await.get("/admin/users").await.text;
    assert!(people.contains("Active, second factor"), "{people}");
    let waiting = first_step(&app, "olga").await;
    assert_eq!(installation.run(&["user", "reset-second-factor", "olga"]).code, Some(0));
    assert!(has().is_empty());
    assert_eq!(waiting.get("/login/code").await.location(), "/login");
    assert!(is_signed_in(&app.operator().await).await);
    let nobody = installation.run(&["user", "reset-second-factor", "nobody"]);
    assert!(nobody.code == Some(1) && nobody.stderr.contains("nobody"), "{nobody:?}");
}

#[tokio::test]
async fn form_with_a_wrong_code_returns_with_an_error() {
    let app = app().await;
    switch_on(&app, &app.operator().await).await;
    let browser = first_step(&app, "olga").await;
    let page = format!("{}/login/code", app.origin());
    let response = browser.submit("/api/session/code", &[("code", "000000")], Some(&page)).await;
    assert_eq!((response.status, response.location()), (303, "/login/code"));
    let (shown, again) = (browser.page("/login/code").await, browser.page("/login/code").await);
    assert!(shown.contains(r#"role="alert""#) && shown.contains("Incorrect code"), "{shown}");
    assert!(!again.contains("Incorrect code"), "it is shown again");
    let forged = browser.page("/login/code?__err=%3Cscript%3Ealert(1)%3C%2Fscript%3E").await;
    assert!(!forged.contains("alert"), "{forged}");
}

#[tokio::test]
async fn second_step_cookie_is_secure_behind_https() {
    let settings = Settings {
        clock: Clock::frozen(NOON),
        public_url: Some("https://docket.example".to_owned()),
        ..Settings::default()
    };
    let app = TestApp::with(settings).await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let browser = app.anonymous();
    let response = browser.sign_in("olga", PASSWORD).await;
    let cookie = response.header("set-cookie");
    assert!(cookie.starts_with("__Host-docket-step=") && cookie.contains("; Secure"), "{cookie}");
    assert_eq!(enter(&browser, &next_code(&app, &secret)).await.status, 200);
    assert!(is_signed_in(&browser).await);
}
