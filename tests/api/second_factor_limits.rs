//! The second factor: a limit for wrong codes, notices for the user, the strength of recovery codes, and enforcement.

use std::time::Duration;

use base::clock::Clock;
use base::config::AccessConfig;

use crate::helpers::work::work_at;
use crate::helpers::{PASSWORD, Settings, TestApp};
use crate::second_factor::{self, NOON, enter, first_step, next_code, switch_on};

#[tokio::test]
async fn hundred_wrong_codes_lock_the_second_step_until_a_reset() {
    let app = second_factor::app().await;
    let olga = app.operator().await;
    let (secret, codes) = switch_on(&app, &olga).await;
    let spend = async |wrong: usize| {
        for _ in 0..wrong {
            let pairs = [("password", PASSWORD), ("code", "000000")];
            olga.post("/api/second-factor/renew", &pairs).await.refused(400, "bad_input");
            app.clock().advance(Duration::from_secs(60));
        }
    };
    spend(99).await;
    // A correct code resets the count.
    assert_eq!(enter(&first_step(&app, "olga").await, &codes[0]).await.status, 200);
    spend(100).await;
    let browser = first_step(&app, "olga").await;
    for code in [next_code(&app, &secret), codes[1].clone()] {
        let message = enter(&browser, &code).await.refused(403, "forbidden");
        assert!(message.contains("docket user passwd"), "{message}");
        let pairs = [("password", PASSWORD), ("code", code.as_str())];
        olga.post("/api/second-factor/renew", &pairs).await.refused(403, "forbidden");
    }
    // A new password set by the user does not lift the limit.
    let change = [("old", PASSWORD), ("new", "quite another sentence")];
    assert_eq!(olga.post("/api/account/password", &change).await.status, 200);
    let pairs = [("password", "quite another sentence"), ("code", codes[1].as_str())];
    olga.post("/api/second-factor/renew", &pairs).await.refused(403, "forbidden");

    app.set_password("olga", PASSWORD).await;
    assert_eq!(enter(&first_step(&app, "olga").await, &next_code(&app, &secret)).await.status, 200);
}

#[tokio::test]
async fn sign_in_reports_wrong_codes_since_the_last_one() {
    let app = second_factor::app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let thief = first_step(&app, "olga").await;
    for _ in 0..3 {
        enter(&thief, "000000").await.refused(401, "unauthenticated");
    }
    let olga = first_step(&app, "olga").await;
    assert_eq!(enter(&olga, &next_code(&app, &secret)).await.status, 200);
    olga.get("/").await;
    let (first, second) = (olga.page("/p/docs/jobs").await, olga.page("/p/docs/jobs").await);
    assert!(first.contains("3 wrong codes were entered for your account"), "{first}");
    assert!(!second.contains("wrong codes"), "it is shown again");
    let again = first_step(&app, "olga").await;
    assert_eq!(enter(&again, &next_code(&app, &secret)).await.status, 200);
    assert!(!again.page("/account").await.contains("wrong code"));
}

#[tokio::test]
async fn recovery_codes_have_112_bits_and_older_ones_stay_valid() {
    let app = second_factor::app().await;
    let olga = app.operator().await;
    let (_, codes) = switch_on(&app, &olga).await;
    for code in &codes {
        let bits = code.chars().filter(char::is_ascii_alphanumeric).count() * 5;
        assert!(bits >= 112, "{code} has {bits}");
    }
    let old = "abcde-fghij-klmno-pqrst";
    let mut connection = app.ledger().connection().await;
    sqlx::query("INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)")
        .bind(app.id_of("olga").await)
        .bind(service::auth::token::hash(&old.replace('-', "")))
        .execute(&mut connection)
        .await
        .unwrap();
    assert_eq!(enter(&first_step(&app, "olga").await, old).await.status, 200);
}

#[tokio::test]
async fn required_second_factor_blocks_everything_until_set_up() {
    let access = AccessConfig { require_second_factor: true, ..AccessConfig::default() };
    let app = TestApp::with(Settings { clock: Clock::frozen(NOON), access, ..Settings::default() }).await;
    let olga = app.operator().await;
    for path in ["/", "/p/docs", "/p/docs/jobs?q=x", "/account", "/admin/users", "/nowhere"] {
        let response = olga.get(path).await;
        assert_eq!((response.status, response.location()), (303, "/account/second-factor"), "{path}");
    }
    let open = [
        "/api/account/get",
        "/api/passkeys/add",
        "/api/passkeys/begin",
        "/api/second-factor/begin",
        "/api/second-factor/confirm",
        "/api/session/current",
        "/api/session/logout",
    ];
    let paths = crate::gate::endpoints()
        .into_iter()
        .filter(|path| !open.contains(path) && !crate::gate::OPEN.contains(path));
    for path in paths {
        let message = olga.post(path, &[("project", "docs")]).await.refused(403, "second_factor_required");
        assert!(message.contains("second factor"), "{path}: {message}");
    }
    let file =
        olga.request(reqwest::Method::GET, "/p/docs/analytics/export.csv").header("accept", "text/csv");
    olga.send(file).await.refused(403, "second_factor_required");

    let page = olga.get("/account/second-factor").await;
    assert!(page.status == 200 && page.text.contains("Set up a second factor"), "{}", page.text);
    assert!(!page.text.contains("API reference"), "it reveals projects");
    let from = format!("{}/account/second-factor", app.origin());
    let begun = olga.submit("/api/second-factor/begin", &[("password", "wrong")], Some(&from)).await;
    assert_eq!(begun.location(), "/account/second-factor");
    assert!(olga.get("/account/second-factor").await.text.contains("Incorrect current password"));
    olga.submit("/api/second-factor/begin", &[("password", PASSWORD)], Some(&from)).await;
    let page = olga.get("/account/second-factor").await.text;
    let secret = page.split_once("?secret=").unwrap().1.split('&').next().unwrap().to_owned();
    let confirmed =
        olga.submit("/api/second-factor/confirm", &[("code", &next_code(&app, &secret))], Some(&from)).await;
    assert_eq!((confirmed.status, confirmed.location()), (302, "/account"));
    assert!(olga.get("/account").await.text.contains(r#"aria-label="Recovery codes""#), "the codes are lost");
    assert_eq!(olga.get("/p/docs/jobs").await.status, 200);
    assert_eq!(olga.get("/account/second-factor").await.location(), "/account");

    // Without it, the user must set it up again.
    let (store, id) = (&app.state().store, app.id_of("olga").await);
    store.remove_second_factor((&work_at(NOON)).into(), &id, true).await.unwrap();
    assert_eq!(olga.get("/p/docs/jobs").await.location(), "/account/second-factor");
    assert_eq!(olga.post("/api/session/logout", &[]).await.status, 200);
}
