//! Every server function that writes leaves an audit record. The list is that of `web::auth::roles`: a new one must be called here, or be
//! listed as one that only reads or writes nothing that others see.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use web::auth::roles;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::recorded::id;
use super::records;
use crate::helpers::{
    Browser, New, PASSWORD, Settings, TestApp, TestResponse, intent, json, remote_job, token, until,
};
use crate::queue::per_hour;
use crate::{clock_jump, passkeys, second_factor};

const CHOSEN: &str = "a sentence of my own";

/// Server functions that only read.
const READS: &[&str] = &[
    "/api/account/get",
    "/api/analytics/compare",
    "/api/analytics/job",
    "/api/analytics/pages",
    "/api/analytics/trend",
    "/api/analytics/views",
    "/api/audit/list",
    "/api/batches/form",
    "/api/batches/get",
    "/api/batches/list",
    "/api/batches/unstarted",
    "/api/checklist/get",
    "/api/history/missing",
    "/api/history/state",
    "/api/history/stored",
    "/api/jobs/form",
    "/api/jobs/get",
    "/api/jobs/mentioned-pages",
    "/api/jobs/list",
    "/api/jobs/overview",
    "/api/jobs/similar",
    "/api/jobs/statuses",
    "/api/jobs/suggest-pages",
    "/api/jobs/unknown-pages",
    "/api/palette/find",
    "/api/pull-requests/reviews",
    "/api/queue/list",
    "/api/saved-views/list",
    "/api/session/current",
    "/api/session/link",
    "/api/templates/form",
    "/api/templates/list",
    "/api/tokens/all",
    "/api/tokens/list",
    "/api/upstream/budgets",
    "/api/upstream/status",
    "/api/users/get",
    "/api/users/list",
    "/api/webhooks/deliveries",
    "/api/webhooks/list",
];

/// Server functions that write without a record, and why.
const WITHOUT_RECORD: &[(&str, &str)] = &[
    ("/api/batches/discard", "a draft of the caller; its start is recorded"),
    ("/api/batches/prepare", "a draft of the caller; its start is recorded"),
    ("/api/batches/use-template", "a draft of the caller; its start is recorded"),
    ("/api/jobs/draft", "a draft of the caller; the sent prompt is recorded"),
    ("/api/notifications/archive", "which notifications the caller archived"),
    ("/api/notifications/list", "when the caller last looked"),
    ("/api/notifications/read", "what the caller has seen"),
    ("/api/passkeys/begin", "a challenge for a device; adding the passkey is recorded"),
    ("/api/passkeys/proof-options", "a challenge for a device; what it proves is recorded"),
    ("/api/second-factor/begin", "a secret that is not in use before the recorded confirmation"),
    ("/api/session/open-link", "a cookie of the browser; using the link is recorded"),
    ("/api/session/passkey-options", "a challenge for a device; the sign-in is recorded"),
];

/// The endpoints whose calls were recorded.
#[derive(Default)]
struct Recorded(RefCell<BTreeSet<String>>);

impl Recorded {
    /// Calls an endpoint in the project, which must succeed and leave a record.
    async fn call(&self, app: &TestApp, person: &Browser, endpoint: &str, fields: &[(&str, &str)]) -> Value {
        let fields = [&[("project", "docs")], fields].concat();
        let response = self.of(app, endpoint, person.post(endpoint, &fields)).await;
        serde_json::from_str(&response.text).unwrap_or_default()
    }

    /// As [`Recorded::call`], by an administrator for the account `name`.
    async fn manage(&self, app: &TestApp, by: &Browser, verb: &str, name: &str) -> Value {
        let fields: &[_] = if verb == "change" { &[("role", "operator")] } else { &[] };
        let endpoint = format!("/api/users/{verb}");
        self.of(app, &endpoint, app.manage(by, verb, name, fields)).await.json()
    }

    async fn of(
        &self,
        app: &TestApp,
        endpoint: &str,
        call: impl Future<Output = TestResponse>,
    ) -> TestResponse {
        let before = records(app).await.len();
        let response = call.await;
        assert_eq!(response.status, 200, "{endpoint}: {}", response.text);
        assert!(records(app).await.len() > before, "{endpoint} left no record");
        self.0.borrow_mut().insert(endpoint.to_owned());
        response
    }
}

async fn jobs(recorded: &Recorded) {
    let app = TestApp::with(per_hour(100)).await;
    let olga = app.operator().await;
    let call =
        async |endpoint: &str, fields: &[(&str, &str)]| recorded.call(&app, &olga, endpoint, fields).await;
    app.upstream.on_create(ResponseTemplate::new(500)).await;
    let unknown = call("/api/jobs/create", &[("prompt", "Fix it"), ("intent", &intent())]).await;
    call("/api/jobs/create", &[("prompt", "Fix that"), ("intent", &intent())]).await;
    app.upstream.reset().await;
    app.upstream.accepts_jobs().await;
    let decision = [("job", id(&unknown)), ("message", "0"), ("attempt", "0"), ("outcome", "not_started")];
    let job = call("/api/jobs/resolve", &decision).await;
    call("/api/jobs/send-all-again", &[("as_of", "9000000000000")]).await;
    let remote = job["remote"]["id"].as_str().unwrap().to_owned();
    let active = ResponseTemplate::new(200).set_body_json(remote_job(&remote, "active"));
    app.upstream.on_follow_up(active.clone()).await;
    let job = id(&job).to_owned();
    call("/api/jobs/message", &[("job", &job), ("prompt", "More"), ("intent", &intent())]).await;
    for (verb, field) in [
        ("archive", None),
        ("unarchive", None),
        ("tag", Some(("tag", "sdk"))),
        ("untag", Some(("tag", "sdk"))),
        ("add-page", Some(("path", "/a"))),
        ("remove-page", Some(("path", "/a"))),
    ] {
        let fields: Vec<_> = [("jobs", job.as_str())].into_iter().chain(field).collect();
        call(&format!("/api/jobs/{verb}"), &fields).await;
    }
    app.ledger().run("UPDATE jobs SET next_poll_at = NULL, polled_at = NULL").await;
    app.upstream.on_read(active).await;
    call("/api/jobs/check", &[("job", &job)]).await;

    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    let rejected = olga.created("Fix it").await;
    for verb in ["dismiss", "undismiss"] {
        call(&format!("/api/jobs/{verb}"), &[("jobs", id(&rejected))]).await;
    }
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_8", "active"))).await;
    call("/api/jobs/import", &[("remote_id", "job_8")]).await;
}

async fn queue_and_batches(recorded: &Recorded) {
    let app = TestApp::with(per_hour(2)).await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    let (ada, olga) = (app.sign_in("ada").await, app.operator().await);
    let call =
        async |endpoint: &str, fields: &[(&str, &str)]| recorded.call(&app, &olga, endpoint, fields).await;
    let prepared = async |person: &Browser| New::batch("Fix {{a}}", "1\n2\n3").id(person).await;
    let batch = prepared(&olga).await;
    call("/api/batches/start", &[("batch", &batch)]).await;
    call("/api/batches/rename", &[("batch", &batch), ("name", "Spelling")]).await;
    let failed = until("one is rejected", async || {
        let jobs = olga.post_json("/api/jobs/list", &[("project", "docs"), ("status", "rejected")]).await;
        jobs["jobs"][0]["id"].as_str().map(str::to_owned)
    })
    .await;
    call("/api/batches/retry", &[("batch", &batch), ("jobs", &failed)]).await;
    let queue = olga.post_json("/api/queue/list", &[("project", "docs")]).await;
    let last = queue["waiting"].as_array().unwrap().last().unwrap()["message"].as_str().unwrap().to_owned();
    call("/api/queue/move", &[("message", &last), ("to", "first")]).await;
    app.ledger()
        .run("INSERT INTO upstream_circuits (circuit, failures, tried_at) VALUES ('credits:docs', 1, 1)")
        .await;
    call("/api/queue/try", &[]).await;
    app.ledger().run("DELETE FROM upstream_circuits").await;
    call("/api/queue/cancel", &[("message", &last)]).await;
    call("/api/batches/cancel", &[("batch", &batch)]).await;

    for verb in ["release", "cancel"] {
        let batch = prepared(&olga).await;
        olga.post_json("/api/batches/start", &[("project", "docs"), ("batch", &batch)]).await;
        recorded.manage(&app, &ada, "change", "olga").await;
        recorded.manage(&app, &ada, "disable", "olga").await;
        recorded.manage(&app, &ada, &format!("{verb}-prompts"), "olga").await;
        recorded.manage(&app, &ada, "enable", "olga").await;
        olga.sign_in("olga", PASSWORD).await;
    }
}

async fn project_settings(recorded: &Recorded) {
    let settings = super::recorded::settings();
    let app = TestApp::with(settings).await;
    let (ada, olga) = (app.sign_in("ada").await, app.operator().await);
    let call = async |endpoint: &str, fields: &[(&str, &str)]| {
        let person = if endpoint.starts_with("/api/webhooks") { &ada } else { &olga };
        recorded.call(&app, person, endpoint, fields).await
    };
    let template = call("/api/templates/save", &[("name", "Spelling"), ("text", "Fix it")]).await;
    call("/api/templates/remove", &[("template", template.as_str().unwrap())]).await;
    let note = call("/api/annotations/save", &[("day", "2026-11-19"), ("text", "Released")]).await;
    call("/api/annotations/remove", &[("id", id(&note))]).await;
    let views = call("/api/saved-views/save", &[("name", "x"), ("query", "q=x"), ("shared", "true")]).await;
    call("/api/saved-views/update", &[("view", id(&views[0])), ("shared", "false")]).await;
    call("/api/saved-views/remove", &[("view", id(&views[0]))]).await;
    call("/api/history/fetch", &[("from", "2026-03-01"), ("to", "2026-03-05")]).await;

    let receiver = MockServer::start().await;
    Mock::given(matchers::any()).respond_with(ResponseTemplate::new(200)).mount(&receiver).await;
    let webhook = call("/api/webhooks/add", &[("kind", "json"), ("address", &receiver.uri())]).await;
    let webhook = [("webhook", id(&webhook))];
    for verb in ["renew", "events", "disable", "enable", "test"] {
        call(&format!("/api/webhooks/{verb}"), &webhook).await;
    }
    let log = ada.post_json("/api/webhooks/deliveries", &[("project", "docs"), webhook[0]]).await;
    call("/api/webhooks/retry", &[("delivery", id(&log[0]))]).await;
    call("/api/webhooks/retry-all", &webhook).await;
    call("/api/webhooks/remove", &webhook).await;
}

async fn people(recorded: &Recorded) {
    let app = TestApp::with(Settings::default()).await;
    let ada = app.sign_in("ada").await;
    let invite = [("name", "ivan"), ("role", "viewer"), ("access", "all"), ("projects", "")];
    recorded.call(&app, &ada, "/api/users/invite", &invite).await;
    recorded.manage(&app, &ada, "renew", "ivan").await;
    recorded.manage(&app, &ada, "withdraw", "ivan").await;
    app.managed(&ada, "change", "otto", &[("role", "admin")]).await;
    let link = app.sign_in("otto").await.invite("ivan", "viewer", "").await;
    recorded.manage(&app, &ada, "disable", "otto").await;
    recorded.manage(&app, &ada, "release-invitation", "ivan").await;
    let ivan = app.anonymous();
    recorded.of(&app, "/api/session/setup", ivan.accept(&link, CHOSEN)).await;
    let link = token(&recorded.manage(&app, &ada, "password-link", "olga").await);
    assert_eq!(app.anonymous().accept(&link, PASSWORD).await.status, 200);
    recorded.manage(&app, &ada, "sign-out", "olga").await;
}

async fn own_account(recorded: &Recorded) {
    let app = second_factor::app().await;
    let olga = app.anonymous();
    recorded.of(&app, "/api/session/login", olga.sign_in("olga", PASSWORD)).await;
    app.sign_in("olga").await;
    let call = async |person: &Browser, endpoint: &str, fields: &[(&str, &str)]| {
        recorded.call(&app, person, endpoint, fields).await
    };
    call(&olga, "/api/account/sign-out-others", &[]).await;
    call(&olga, "/api/account/password", &[("old", PASSWORD), ("new", CHOSEN)]).await;
    call(&olga, "/api/account/password", &[("old", CHOSEN), ("new", PASSWORD)]).await;
    let token = [("name", "CI"), ("scopes", "jobs:read"), ("access", "all"), ("password", PASSWORD)];
    for (person, endpoint) in [(&olga, "revoke"), (&app.sign_in("ada").await, "revoke-any")] {
        call(&olga, "/api/tokens/create", &token).await;
        let listed = olga.post_json("/api/tokens/list", &[]).await;
        let active = listed["tokens"].as_array().unwrap().iter().find(|token| token["state"] != "revoked");
        call(person, &format!("/api/tokens/{endpoint}"), &[("token", id(active.unwrap()))]).await;
    }
    call(&olga, "/api/tokens/create", &token).await;
    let listed = olga.post_json("/api/tokens/list", &[]).await;
    let rotated = [("token", id(&listed["tokens"][0])), ("password", PASSWORD)];
    call(&olga, "/api/tokens/rotate", &rotated).await;
    recorded
        .of(&app, "/api/second-factor/confirm", async {
            second_factor::switch_on(&app, &olga).await;
            olga.get("/account").await
        })
        .await;
    recorded.manage(&app, &app.sign_in("ada").await, "reset-second-factor", "olga").await;
    let olga = app.sign_in("olga").await;
    let (secret, codes) = second_factor::switch_on(&app, &olga).await;
    let waiting = second_factor::first_step(&app, "olga").await;
    let code = second_factor::next_code(&app, &secret);
    recorded.of(&app, "/api/session/code", second_factor::enter(&waiting, &code)).await;
    call(&olga, "/api/second-factor/renew", &[("code", &codes[0]), ("password", PASSWORD)]).await;
    let code = second_factor::next_code(&app, &secret);
    call(&olga, "/api/second-factor/remove", &[("password", PASSWORD), ("code", &code)]).await;
    call(&olga, "/api/session/logout", &[]).await;
    let olga = app.sign_in("olga").await;
    app.sign_in("olga").await;
    let account = olga.post_json("/api/account/get", &[]).await;
    let other = account["sessions"].as_array().unwrap().iter().find(|session| session["is_here"] == false);
    call(&olga, "/api/account/sign-out", &[("session", id(other.unwrap()))]).await;
}

async fn own_passkeys(recorded: &Recorded) {
    let app = passkeys::app().await;
    let olga = app.operator().await;
    let mut added = None;
    recorded
        .of(&app, "/api/passkeys/add", async {
            added = Some(passkeys::add(&olga).await);
            olga.get("/account").await
        })
        .await;
    let (device, response) = added.unwrap();
    let account = olga.post_json("/api/account/get", &[]).await;
    let passkey = id(&account["passkeys"]["list"][0]).to_owned();
    let rename = [("passkey", passkey.as_str()), ("name", "Blue key")];
    recorded.call(&app, &olga, "/api/passkeys/rename", &rename).await;
    recorded.of(&app, "/api/session/passkey", passkeys::sign_in(&app.anonymous(), &device)).await;
    let codes = passkeys::recovery_codes(&response);
    let remove = [("passkey", passkey.as_str()), ("password", PASSWORD), ("code", &codes[0])];
    recorded.call(&app, &olga, "/api/passkeys/remove", &remove).await;
}

async fn clock(recorded: &Recorded) {
    let app = clock_jump::app().await;
    app.clock().advance(clock_jump::JUMP);
    assert!(clock_jump::remove(&app).await.is_err());
    recorded.call(&app, &app.sign_in("ada").await, "/api/upstream/trust-clock", &[]).await;
}

#[tokio::test]
async fn every_endpoint_that_writes_leaves_an_audit_record() {
    let recorded = Recorded::default();
    jobs(&recorded).await;
    queue_and_batches(&recorded).await;
    project_settings(&recorded).await;
    people(&recorded).await;
    own_account(&recorded).await;
    own_passkeys(&recorded).await;
    clock(&recorded).await;
    let mut found = recorded.0.into_inner();
    let without = WITHOUT_RECORD.iter().map(|(endpoint, _)| *endpoint);
    for endpoint in READS.iter().copied().chain(without) {
        assert!(found.insert(endpoint.to_owned()), "{endpoint} is recorded, and listed as one that is not");
    }
    let listed = roles::ENDPOINTS.iter().flat_map(|(_, endpoints)| endpoints.iter().map(ToString::to_string));
    let listed: BTreeSet<String> = listed.collect();
    let missing: Vec<_> = listed.difference(&found).collect();
    let unknown: Vec<_> = found.difference(&listed).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "not called: {missing:?}; unknown: {unknown:?}");
}

#[tokio::test]
async fn changed_queue_order_names_its_job_and_direction() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let olga = app.operator().await;
    olga.created("one").await;
    let queued = async |prompt: &str| New::job(prompt).with("queue", "on").made(&olga).await;
    let (_, last) = (queued("two").await, queued("three").await);
    let queue = olga.post_json("/api/queue/list", &[("project", "docs")]).await;
    let message = queue["waiting"][1]["message"].as_str().unwrap();
    let moved = [("project", "docs"), ("message", message), ("to", "first")];
    let before = records(&app).await.len();
    olga.post_json("/api/queue/move", &moved).await;
    let new = records(&app).await.split_off(before);
    assert_eq!(new.len(), 1, "{new:?}");
    assert_eq!((new[0].actor.as_str(), new[0].action.as_str()), ("olga", "queue_move"));
    assert_eq!((json!(new[0].subject), new[0].detail.as_str()), (last["id"].clone(), "first"));
    // It is the first one already.
    app.clock().advance(Duration::from_secs(1));
    olga.post_json("/api/queue/move", &[moved[0], moved[1], ("to", "up")]).await;
    assert_eq!(records(&app).await.len(), before + 1);
}
