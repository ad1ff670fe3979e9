//! What the audit log records, and what it must not contain.

use std::time::Duration;

use base::clock::Clock;
use base::config::{AuditConfig, WebhookConfig};
use model::audit::Record;
use model::time::Timestamp;
use serde_json::Value;
use service::audit::AuditMaintenance;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::{recorded, records};
use crate::helpers::work::work;
use crate::helpers::{
    Archive, Browser, Installation, PASSWORD, Settings, TestApp, day, intent, remote_job, rows, secrets_in,
};
use crate::second_factor;

/// Part of every text that users type in these tests.
pub(super) const TYPED: &str = "pineapple";

pub(super) fn settings() -> Settings {
    let mut settings = Settings {
        clock: Clock::frozen("2026-11-20T12:00:00Z".parse::<Timestamp>().unwrap()),
        webhooks: WebhookConfig { private: true },
        ..Settings::default()
    };
    settings.budget.agent_per_hour = 3;
    settings
}

/// Actor, action and project of a record.
fn summary(record: &Record) -> (&str, &str, &str) {
    (&record.actor, &record.action, &record.project)
}

pub(super) async fn post(person: &Browser, endpoint: &str, fields: &[(&str, &str)]) -> Value {
    let fields = [&[("project", "docs")], fields].concat();
    person.post_json(endpoint, &fields).await
}

pub(super) fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

#[tokio::test]
async fn prompts_and_decisions_leave_one_record_each() {
    let app = TestApp::with(settings()).await;
    let olga = app.sign_in("olga").await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let sent = intent();
    let (response, record) = recorded(&app, olga.create(TYPED, &sent)).await;
    let job = response.json();
    assert_eq!((summary(&record), record.subject.as_str()), (("olga", "job_start", "docs"), id(&job)));
    let before = records(&app).await.len();
    assert_eq!(olga.create(TYPED, &sent).await.json()["id"], job["id"]);
    assert_eq!(records(&app).await.len(), before, "a resubmitted form adds no record");

    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    let outcome = [("job", id(&job)), ("message", "0"), ("attempt", "0"), ("outcome", "not_started")];
    let (_, record) = recorded(&app, post(&olga, "/api/jobs/resolve", &outcome)).await;
    assert_eq!((summary(&record), record.subject.as_str()), (("olga", "resend", "docs"), id(&job)));
    let (_, record) = recorded(&app, olga.follow_up(&job, TYPED, &intent())).await;
    assert_eq!((summary(&record), record.subject.as_str()), (("olga", "follow_up", "docs"), id(&job)));

    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "active"))).await;
    let unresolved = olga.created(TYPED).await;
    let outcome = [("job", id(&unresolved)), ("message", "0"), ("attempt", "0")];
    let started = [&outcome[..], &[("outcome", "started"), ("remote_id", "job_7")]].concat();
    let (_, record) = recorded(&app, post(&olga, "/api/jobs/resolve", &started)).await;
    assert_eq!((summary(&record), record.subject.as_str()), (("olga", "resolve", "docs"), id(&unresolved)));

    // The hourly budget is used up.
    let queued = [("prompt", TYPED), ("intent", &intent()), ("queue", "on")];
    let (waiting, _) = recorded(&app, post(&olga, "/api/jobs/create", &queued)).await;
    let queue = post(&olga, "/api/queue/list", &[]).await;
    let message = [("message", queue["waiting"][0]["message"].as_str().unwrap())];
    let (_, record) = recorded(&app, post(&olga, "/api/queue/cancel", &message)).await;
    assert_eq!((summary(&record), record.subject.as_str()), (("olga", "cancel", "docs"), id(&waiting)));

    let batch = [("prompt", "pineapple {{page}}"), ("values", "/a\n/b"), ("intent", &intent())];
    let batch = post(&olga, "/api/batches/prepare", &batch).await;
    let (_, record) = recorded(&app, post(&olga, "/api/batches/start", &[("batch", id(&batch))])).await;
    assert_eq!((summary(&record), record.subject.as_str()), (("olga", "batch_start", "docs"), id(&batch)));
    assert_eq!(record.detail, "2 jobs");
    let name = [("batch", id(&batch)), ("name", "pineapple")];
    let (_, record) = recorded(&app, post(&olga, "/api/batches/rename", &name)).await;
    assert_eq!((summary(&record), record.subject.as_str()), (("olga", "batch_rename", "docs"), id(&batch)));
    let before = records(&app).await.len();
    post(&olga, "/api/batches/start", &[("batch", id(&batch))]).await;
    assert_eq!(records(&app).await.len(), before, "it was started already");
    post(&olga, "/api/batches/cancel", &[("batch", id(&batch))]).await;
    let cancelled = records(&app).await.split_off(before);
    assert!(cancelled.len() == 2 && cancelled.iter().all(|record| record.action == "cancel"));

    app.upstream.reset().await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_8", "active"))).await;
    let imported = [("remote_id", "job_8"), ("note", TYPED)];
    let (job, record) = recorded(&app, post(&olga, "/api/jobs/import", &imported)).await;
    assert_eq!((summary(&record), record.subject.as_str()), (("olga", "adopt", "docs"), id(&job)));
    is_complete_without_secrets(&app).await;
}

#[tokio::test]
async fn settings_exports_and_sessions_leave_one_record_each() {
    let app = TestApp::with(settings()).await;
    let (ada, olga) = (app.sign_in("ada").await, app.sign_in("olga").await);
    let by = |endpoint: &'static str, fields: Vec<(&'static str, String)>| {
        let browser = if endpoint.starts_with("/api/webhooks") { &ada } else { &olga };
        async move {
            let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            post(browser, endpoint, &fields).await
        }
    };
    let text = || TYPED.to_owned();

    let named = vec![("name", "Spelling".to_owned()), ("text", text())];
    let (template, record) = recorded(&app, by("/api/templates/save", named.clone())).await;
    assert_eq!((summary(&record), record.detail.as_str()), (("olga", "template_add", "docs"), "Spelling"));
    let id = template.as_str().unwrap().to_owned();
    let change = [named, vec![("template", id.clone())]].concat();
    let (_, record) = recorded(&app, by("/api/templates/save", change)).await;
    assert_eq!((summary(&record), &record.subject), (("olga", "template_change", "docs"), &id));
    let (_, record) = recorded(&app, by("/api/templates/remove", vec![("template", id.clone())])).await;
    assert_eq!((summary(&record), record.detail.as_str()), (("olga", "template_remove", "docs"), "Spelling"));

    let receiver = MockServer::start().await;
    Mock::given(matchers::any()).respond_with(ResponseTemplate::new(200)).mount(&receiver).await;
    let address = vec![("kind", "json".to_owned()), ("address", format!("{}/{TYPED}", receiver.uri()))];
    let (added, record) = recorded(&app, by("/api/webhooks/add", address)).await;
    assert_eq!((summary(&record), record.detail.as_str()), (("ada", "webhook_add", "docs"), "json"));
    let (webhook, secret) = (self::id(&added).to_owned(), added["secret"].as_str().unwrap().to_owned());
    for (verb, action) in [
        ("renew", "webhook_secret"),
        ("events", "webhook_events"),
        ("disable", "webhook_disable"),
        ("enable", "webhook_enable"),
        ("test", "webhook_test"),
    ] {
        let endpoint: &'static str = format!("/api/webhooks/{verb}").leak();
        let (_, record) = recorded(&app, by(endpoint, vec![("webhook", webhook.clone())])).await;
        assert_eq!((summary(&record), &record.subject), (("ada", action, "docs"), &webhook));
    }
    let log = by("/api/webhooks/deliveries", vec![("webhook", webhook.clone())]).await;
    let event = vec![("delivery", self::id(&log[0]).to_owned())];
    let (_, record) = recorded(&app, by("/api/webhooks/retry", event)).await;
    assert_eq!((summary(&record), &record.subject), (("ada", "webhook_resend", "docs"), &webhook));
    let (_, record) = recorded(&app, by("/api/webhooks/retry-all", vec![("webhook", webhook.clone())])).await;
    assert_eq!((summary(&record), &record.subject), (("ada", "webhook_resend_all", "docs"), &webhook));
    let (_, record) = recorded(&app, by("/api/webhooks/remove", vec![("webhook", webhook.clone())])).await;
    assert_eq!(summary(&record), ("ada", "webhook_remove", "docs"));

    let days = vec![("from", "2026-03-01".to_owned()), ("to", "2026-03-05".to_owned())];
    let (_, record) = recorded(&app, by("/api/history/fetch", days.clone())).await;
    assert_eq!((summary(&record), record.detail.as_str()), (("olga", "history_fetch", "docs"), "5 days"));
    let before = records(&app).await.len();
    by("/api/history/fetch", days).await;
    assert_eq!(records(&app).await.len(), before, "they wait already");

    let (response, record) = recorded(&app, ada.get("/admin/audit/export.csv?person=olga")).await;
    assert_eq!((response.status, summary(&record)), (200, ("ada", "audit_export", "")));
    assert_eq!(record.detail, "csv person=olga");

    let (signed_in, record) = recorded(&app, app.sign_in("vera")).await;
    assert_eq!((summary(&record), record.outcome.as_str()), (("vera", "sign_in", ""), "done"));
    let (_, record) = recorded(&app, signed_in.post("/api/session/logout", &[])).await;
    assert_eq!(summary(&record), ("vera", "sign_out", ""));
    for (name, person) in [("vera", "vera"), ("pineapple", ""), (PASSWORD, "")] {
        let anonymous = app.anonymous();
        let (response, record) = recorded(&app, anonymous.sign_in(name, "pineapple upside down")).await;
        response.refused(401, "unauthenticated");
        assert_eq!((summary(&record), record.outcome.as_str()), ((person, "sign_in", ""), "refused"));
    }
    assert!(!format!("{:?}", records(&app).await).contains(&secret));
    is_complete_without_secrets(&app).await;
}

#[tokio::test]
async fn account_changes_leave_one_record_each() {
    let app = TestApp::with(settings()).await;
    let ada = app.sign_in("ada").await;
    let text_of = |record: &Record| {
        format!("{} {} {} {}", record.actor, record.action, record.subject, record.detail)
            .trim_end()
            .to_owned()
    };
    let (_, record_of_it) = recorded(&app, ada.invite("ivan", "operator", "docs")).await;
    assert_eq!(text_of(&record_of_it), "ada user_invite ivan operator, sees docs");
    assert_eq!(record_of_it.client_ip, "127.0.0.1");
    let manage = async |verb: &str, name: &str, more: &[(&str, &str)]| {
        let (response, record) = recorded(&app, app.manage(&ada, verb, name, more)).await;
        assert_eq!(response.status, 200, "{}", response.text);
        text_of(&record)
    };
    assert_eq!(manage("renew", "ivan", &[]).await, "ada user_invite_again ivan");
    assert_eq!(manage("withdraw", "ivan", &[]).await, "ada user_withdraw ivan");
    let token = ada.invite("ivan", "viewer", "").await;
    let (ivan, before) = (app.anonymous(), records(&app).await.len());
    assert_eq!(ivan.accept(&token, "pineapple upside down").await.status, 200);
    let came: Vec<_> = records(&app).await.split_off(before).iter().map(text_of).collect();
    assert_eq!(came, ["ivan user_join", "ivan sign_in"]);

    let access = [("role", "operator"), ("projects", "docs")];
    assert_eq!(manage("change", "ivan", &access).await, "ada user_access ivan viewer → operator, sees docs");
    let none = [("role", "operator"), ("access", "selected")];
    let change = "ada user_access ivan operator, sees docs → operator, sees no project";
    assert_eq!(manage("change", "ivan", &none).await, change);
    assert_eq!(manage("disable", "ivan", &[]).await, "ada user_disable ivan");
    assert_eq!(manage("enable", "ivan", &[]).await, "ada user_enable ivan");
    assert_eq!(manage("sign-out", "ivan", &[]).await, "ada sessions_end ivan all sessions");

    let (olga, _elsewhere) = (app.sign_in("olga").await, app.sign_in("olga").await);
    let (_, record) = recorded(&app, olga.post("/api/account/sign-out-others", &[])).await;
    assert_eq!(text_of(&record), "olga sessions_end olga 1 other sessions");
    let change = [("old", PASSWORD), ("new", "pineapple upside down")];
    let (_, record) = recorded(&app, olga.post("/api/account/password", &change)).await;
    assert_eq!(text_of(&record), "olga user_password olga");
    is_complete_without_secrets(&app).await;
}

#[tokio::test]
async fn second_factor_records_contain_no_codes() {
    let app = second_factor::app().await;
    let olga = app.sign_in("olga").await;
    let ((secret, codes), record) = recorded(&app, second_factor::switch_on(&app, &olga)).await;
    assert_eq!(summary(&record), ("olga", "second_factor_on", ""));
    let before = records(&app).await.len();
    let again = second_factor::first_step(&app, "olga").await;
    assert_eq!(records(&app).await.len(), before, "the password alone gives no session");
    let (_, record) = recorded(&app, second_factor::enter(&again, "000000")).await;
    assert_eq!((record.action.as_str(), record.outcome.as_str()), ("sign_in", "refused"));
    assert_eq!((record.actor.as_str(), record.detail.as_str()), ("olga", "second factor"));
    let code = second_factor::next_code(&app, &secret);
    let (response, record) = recorded(&app, second_factor::enter(&again, &code)).await;
    assert_eq!((response.status, summary(&record)), (200, ("olga", "sign_in", "")));

    let pairs = [("password", PASSWORD), ("code", codes[0].as_str())];
    let (_, record) = recorded(&app, olga.post("/api/second-factor/renew", &pairs)).await;
    assert_eq!(summary(&record), ("olga", "recovery_codes", ""));
    let off = [("password", PASSWORD), ("code", &second_factor::next_code(&app, &secret))];
    let (response, record) = recorded(&app, olga.post("/api/second-factor/remove", &off)).await;
    assert_eq!((response.status, summary(&record)), (200, ("olga", "second_factor_off", "")));
    let all = format!("{:?}", records(&app).await);
    assert!(!all.contains(&secret) && codes.iter().all(|code| !all.contains(code)), "{all}");
    is_complete_without_secrets(&app).await;
}

#[tokio::test]
async fn forbidden_requests_are_recorded() {
    let app = TestApp::with(settings()).await;
    let vera = app.sign_in("vera").await;
    let create = [("project", "docs"), ("prompt", TYPED), ("intent", TYPED)];
    let (response, record) = recorded(&app, vera.post("/api/jobs/create", &create)).await;
    response.refused(403, "forbidden");
    assert_eq!((summary(&record), record.outcome.as_str()), (("vera", "denied", ""), "refused"));
    assert_eq!(record.subject, "/api/jobs/create");
    let (_, record) = recorded(&app, vera.get("/admin/audit?person=pineapple")).await;
    assert_eq!(record.subject, "/admin/audit");
    for _ in 0..30 {
        vera.get("/admin/audit").await;
    }
    let denied = records(&app).await.iter().filter(|record| record.action == "denied").count();
    assert_eq!(denied, 20);
    is_complete_without_secrets(&app).await;
}

#[tokio::test]
async fn account_commands_are_recorded() {
    let app = TestApp::with(settings()).await;
    let installation = Installation::new().set("DOCKET_DATABASE_URL", app.database_url());
    let before = records(&app).await.len();
    installation.run_with_input(&["user", "add", "eva", "--role", "viewer"], PASSWORD);
    installation.run_with_input(&["user", "passwd", "eva"], PASSWORD);
    installation.run(&["user", "disable", "eva"]);
    installation.run(&["user", "enable", "eva"]);
    let new = records(&app).await.split_off(before);
    let actions: Vec<_> = new.iter().map(|record| record.action.as_str()).collect();
    assert_eq!(actions, ["user_add", "user_password", "user_disable", "user_enable"]);
    assert!(new.iter().all(|record| record.actor == "command line" && record.subject == "eva"));
}

#[tokio::test]
async fn refused_actions_leave_no_record_of_success() {
    let app = TestApp::with(settings()).await;
    let (olga, vera) = (app.sign_in("olga").await, app.sign_in("vera").await);
    let before = records(&app).await.len();
    olga.create(" ", &intent()).await.refused(400, "bad_input");
    let none = "0".repeat(36);
    for (endpoint, fields, status, code) in [
        ("/api/templates/save", [("name", ""), ("text", TYPED)], 400, "bad_input"),
        ("/api/templates/remove", [("template", none.as_str()), ("text", "")], 404, "not_found"),
        ("/api/queue/cancel", [("message", none.as_str()), ("text", "")], 404, "not_found"),
    ] {
        let fields = [&[("project", "docs")], &fields[..]].concat();
        olga.post(endpoint, &fields).await.refused(status, code);
    }
    assert_eq!(vera.get("/p/docs/analytics/export.csv?from=x").await.status, 400);
    let new = records(&app).await.split_off(before);
    assert!(new.is_empty(), "{new:?}");
}

#[tokio::test]
async fn recorded_exports_are_limited() {
    let app = TestApp::with(settings()).await;
    Archive::of(&app).await.write(day("2026-11-19"), rows(&[("/a", 3, 1)])).await;
    let vera = app.sign_in("vera").await;
    let file = "/p/docs/analytics/export.csv?from=2026-11-19&to=2026-11-19&q=pineapple";
    let (response, record) = recorded(&app, vera.get(file)).await;
    assert_eq!((response.status, summary(&record)), (200, ("vera", "export", "docs")), "{}", response.text);
    assert_eq!(record.detail, "docs-pages-2026-11-19-2026-11-19.csv");
    for _ in 0..50 {
        assert_eq!(vera.get(file).await.status, 200);
    }
    let exports = records(&app).await.iter().filter(|record| record.action == "export").count();
    assert_eq!(exports, 20);
    is_complete_without_secrets(&app).await;
}

#[tokio::test]
async fn wrong_passwords_and_cross_site_requests_are_recorded() {
    let app = TestApp::with(settings()).await;
    let olga = app.operator().await;
    let pairs = [("old", "wrong"), ("new", "quite another sentence")];
    let (response, record) = recorded(&app, olga.post("/api/account/password", &pairs)).await;
    assert_eq!((response.status, summary(&record)), (400, ("olga", "user_password", "")));
    assert_eq!(record.outcome, "refused");
    let pairs = [("password", "wrong")];
    let (response, record) = recorded(&app, olga.post("/api/second-factor/begin", &pairs)).await;
    assert_eq!(
        (response.status, summary(&record)),
        (400, ("olga", "user_password", "")),
        "{}",
        response.text
    );

    let foreign = olga.form("/api/jobs/create", &[]).header("sec-fetch-site", "cross-site");
    let (response, record) = recorded(&app, olga.send(foreign)).await;
    assert_eq!((response.status, summary(&record)), (403, ("olga", "denied", "")));
    assert_eq!(record.subject, "/api/jobs/create");
    let anonymous = app.anonymous();
    let foreign = anonymous.form("/any/where", &[]).header("sec-fetch-site", "cross-site");
    let (response, record) = recorded(&app, anonymous.send(foreign)).await;
    assert_eq!((response.status, summary(&record)), (403, ("", "denied", "")));
    assert_eq!(record.subject, "");
    assert_eq!((record.client_ip.as_str(), record.detail.as_str()), ("127.0.0.1", "Another site's request"));
}

#[tokio::test]
async fn expired_records_are_removed_and_the_removal_is_recorded() {
    let app = TestApp::with(settings()).await;
    app.sign_in("vera").await;
    app.clock().advance(Duration::from_secs(86_400 * 20));
    app.sign_in("olga").await;
    app.clock().advance(Duration::from_secs(86_400 * 20));
    let keep = |days| {
        AuditMaintenance::new(
            app.state().store.clone(),
            app.state().clock_check.clone(),
            app.state().tasks.clone(),
            AuditConfig { days },
            work(),
        )
    };
    app.ledger().trust_clock().await;
    for kept in [0, 400] {
        keep(kept).tidy().await.unwrap();
        assert_eq!(records(&app).await.len(), 6);
    }
    keep(30).tidy().await.unwrap();
    let left = records(&app).await;
    assert_eq!(
        left.iter().map(summary).collect::<Vec<_>>(),
        [("olga", "sign_in", ""), ("Docket", "audit_remove", "")]
    );
    let check = app.state().store.verify_audit().await.unwrap();
    assert_eq!((check.fault, check.removed.number), (None, 5));
    // The maintenance runs every ten minutes; another removal begins after a day, and has one record.
    for _ in 0..12 {
        app.clock().advance(Duration::from_secs(600));
        app.ledger().trust_clock().await;
        keep(1).tidy().await.unwrap();
    }
    assert_eq!(records(&app).await.len(), 2);
    app.clock().advance(Duration::from_secs(86_400));
    app.ledger().trust_clock().await;
    keep(1).tidy().await.unwrap();
    let left = records(&app).await;
    assert_eq!(left.iter().map(summary).collect::<Vec<_>>(), [("Docket", "audit_remove", "")]);
}

pub(super) async fn is_complete_without_secrets(app: &TestApp) {
    assert_eq!(app.state().store.verify_audit().await.unwrap().fault, None);
    let all = format!("{:?}", records(app).await);
    assert!(!all.contains(TYPED) && secrets_in(&all).is_empty(), "{all}");
}
