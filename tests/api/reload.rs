//! SIGHUP: a running server loads its configuration again.

use std::path::Path;

use base::settings::Settings as LiveSettings;
use reqwest::Method;
use secrecy::SecretString;
use wiremock::ResponseTemplate;

use crate::helpers::{
    Browser, Installation, KEY, METRICS_TOKEN, NEW_KEY, New, Provider, Served, Settings, TestApp,
    detached_job, json, remote_job, until,
};
use crate::service::managed;

/// Part of a page that reports a refused configuration.
const ADMIN_NOTICE: &str = "did not apply it, because it is invalid";

/// A server with the configuration file `docket.toml`, and keys in the files `one` and `two`.
struct Configured {
    installation: Installation,
    upstream: String,
}

impl Configured {
    fn new(upstream: &str) -> Self {
        let installation = Installation::with_administrator(upstream);
        let installation =
            ["DOCKET_API_KEY", "DOCKET_PROJECTS", "DOCKET_UPSTREAM_URL", "DOCKET_ANALYTICS_RESERVE"]
                .into_iter()
                .fold(installation, Installation::unset);
        for (name, text) in [("one", KEY), ("two", NEW_KEY), ("token", METRICS_TOKEN)] {
            std::fs::write(installation.path(name), text).unwrap();
        }
        Self { installation, upstream: upstream.to_owned() }
    }

    /// Writes the file, with `more` lines.
    fn write(&self, more: &str) {
        let text = format!("upstream_url = \"{}\"\nmetrics_token_file = \"token\"\n{more}\n", self.upstream);
        std::fs::write(self.installation.path("docket.toml"), text).unwrap();
    }

    fn serve(&self) -> Served {
        self.installation.serve(&["serve", "--config", "docket.toml"])
    }
}

/// The value of a metric without labels.
async fn metric(browser: &Browser, name: &str) -> f64 {
    let response = browser.send(browser.request(Method::GET, "/metrics").bearer_auth(METRICS_TOKEN)).await;
    assert_eq!(response.status, 200);
    let line = response.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {}", response.text)).parse().unwrap()
}

/// Requests a reload, and waits for `words` in the log, which must be new.
async fn reload(server: &Served, words: &str) {
    assert!(!server.output().contains(words), "{words}");
    server.signal("HUP");
    until(words, async || server.output().contains(words).then_some(())).await;
}

const BEFORE: &str =
    "api_key_file = \"one\"\nprojects = \"docs=Docs\"\nagent_per_hour = 5\nanalytics_reserve = 100";

#[tokio::test]
async fn reload_applies_settings_and_logs_those_that_need_a_restart() {
    let app = TestApp::start().await;
    let refused = ResponseTemplate::new(401).set_body_json(json!({"error": "no"}));
    app.upstream.on_create(refused).await;
    let configured = Configured::new(&app.upstream.url());
    configured.write(BEFORE);
    let server = configured.serve();
    let browser = server.signed_in().await;
    assert_eq!(browser.create("Refused", &crate::helpers::intent()).await.json()["state"], "rejected");
    assert!(metric(&browser, "docket_upstream_key_refused").await > 0.0);
    assert_eq!(browser.get("/p/api/jobs").await.status, 404);

    configured.write(
        "api_key_file = \"two\"\nprojects = \"docs=Handbook,api=API reference\"\nagent_per_hour = 2\nanalytics_reserve = 100\n\
         poll_seconds = 9\nlog = \"info,docket=debug\"\nmetrics_addr = \"9464\"",
    );
    reload(&server, "DOCKET_AGENT_PER_HOUR is now “2”, it was “5”").await;
    until("the former refusal is cleared", async || {
        (metric(&browser, "docket_upstream_key_refused").await == 0.0).then_some(())
    })
    .await;
    let log = server.output();
    assert!(log.contains("DOCKET_API_KEY_FILE is now “two”, it was “one”"), "{log}");
    assert!(
        log.contains("need a restart") && log.contains("DOCKET_POLL_SECONDS, DOCKET_METRICS_ADDR"),
        "{log}"
    );
    assert!(log.contains("the log has another filter"), "{log}");
    assert!(browser.get("/p/docs/jobs").await.text.contains("Handbook"));
    assert_eq!(browser.get("/p/api/jobs").await.status, 200);
    app.upstream.reset().await;
    let accepted = ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "active"));
    app.upstream.on_create(accepted).await;
    browser.created("With the other key").await;
    let more = "One too many";
    let queued = New::job(more).with("queue", "on").post(&browser).await;
    assert_eq!(queued.json()["state"], "queued", "{}", queued.text);
    let calls = app.upstream.posts().await;
    let keys: Vec<&str> = calls.iter().map(|call| call.headers["authorization"].to_str().unwrap()).collect();
    assert_eq!(keys, [format!("Bearer {NEW_KEY}")]);
    assert_eq!(metric(&browser, "docket_config_last_reload_successful").await, 1.0);
    let records = "SELECT COUNT(*) FROM audit WHERE action = 'configuration_reload' AND actor = 'Docket' AND detail LIKE '%DOCKET_PROJECTS%'";
    let ledger = configured.installation.ledger();
    until("the record", async || (ledger.count(records).await == 1).then_some(())).await;
    configured.write("api_key_file = \"two\"\nprojects = \"api=API reference\"\nagent_per_hour = 2");
    reload(&server, "1 prompt of docs waits").await;
    server.signal("TERM");
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn invalid_configuration_is_not_applied() {
    let configured = Configured::new("http://127.0.0.1:9");
    configured.write(BEFORE);
    let server = configured.serve();
    let browser = server.signed_in().await;
    let begun = metric(&browser, "docket_config_last_reload_success_timestamp_seconds").await;
    assert_eq!(metric(&browser, "docket_config_last_reload_successful").await, 1.0);
    assert!(!browser.page("/admin/upstream").await.contains(ADMIN_NOTICE));
    for (more, words) in [
        (
            "projects = \"docs=Docs,api=API\"\napi_key_file = \"one\"\nagent_per_hour = 0",
            "`agent_per_hour` in",
        ),
        ("projects = \"docs=Docs,api=API\"\napi_key_file = \"missing\"", "`api_key_file` in"),
        ("projects = \"docs=Docs,api=API\"", "DOCKET_API_KEY is required"),
        ("projects = [", "is not valid TOML"),
        ("project = \"docs=Docs,api=API\"", "Unknown key"),
        ("projects = \"docs=Docs,api=API\"\nprojects = \"docs=Docs,api=API\"", "duplicate key"),
        ("api_key = \"mint_of_another_file\"\nprojects = \"\"", "`projects` in"),
    ] {
        configured.write(more);
        reload(&server, words).await;
        assert_eq!(browser.get("/p/docs/jobs").await.status, 200, "{words}");
        assert_eq!(browser.get("/p/api/jobs").await.status, 404, "{words}");
        assert_eq!(metric(&browser, "docket_config_last_reload_successful").await, 0.0, "{words}");
    }
    std::fs::remove_file(configured.installation.path("docket.toml")).unwrap();
    reload(&server, "The configuration file").await;
    std::fs::write(configured.installation.path("docket.toml"), [0xff, 0xfe, 0x00]).unwrap();
    reload(&server, "UTF-8").await;
    assert_eq!(browser.get("/p/docs/jobs").await.status, 200);
    assert!(server.output().contains("nothing was changed"));
    assert!(browser.get("/admin/upstream").await.text.contains(ADMIN_NOTICE));
    let last = metric(&browser, "docket_config_last_reload_success_timestamp_seconds").await;
    assert!((last - begun).abs() < f64::EPSILON, "{last}");

    configured.write(&format!("{BEFORE}\nprompt_max = 9"));
    reload(&server, "DOCKET_PROMPT_MAX is now “9”").await;
    until("it is valid", async || {
        (metric(&browser, "docket_config_last_reload_successful").await == 1.0).then_some(())
    })
    .await;
    assert!(!browser.page("/admin/upstream").await.contains(ADMIN_NOTICE));
    browser.create("Longer than nine", &crate::helpers::intent()).await.refused(400, "bad_input");
}

#[tokio::test]
async fn reload_is_reported_to_the_service_manager() {
    let configured = Configured::new("http://127.0.0.1:9");
    let (installation, manager) = managed(configured.installation);
    let configured = Configured { installation, ..configured };
    configured.write(BEFORE);
    let server = configured.serve();
    assert_eq!(manager.next().await, "READY=1");
    for more in [BEFORE, "projects = ["] {
        configured.write(more);
        server.signal("HUP");
        let message = manager.next().await;
        let (first, second) = message.split_once('\n').unwrap();
        assert_eq!(first, "RELOADING=1");
        assert!(second.strip_prefix("MONOTONIC_USEC=").unwrap().parse::<u64>().unwrap() > 0);
        assert_eq!(manager.next().await, "READY=1");
    }
}

#[tokio::test]
async fn reload_applies_client_secret_and_group_roles() {
    let provider = Provider::start().await;
    let app = TestApp::with(Settings { identity: provider.config(), ..Settings::default() }).await;
    let right = app.state().settings();
    let with = |secret: &str| {
        let mut config = (*right.single_sign_on.clone().unwrap()).clone();
        config.client_secret = SecretString::from(secret);
        LiveSettings { single_sign_on: Some(config.into()), ..(*right).clone() }
    };
    let sign_in = async || {
        let browser = app.anonymous();
        let begun = browser.get("/login/sso?next=%2Fp%2Fdocs%2Fjobs").await;
        browser.get(&provider.sign_in(begun.location(), "mia").await).await
    };
    app.state().settings.replace(with("a few unrelated words instead"), app.clock().now());
    assert_ne!(sign_in().await.status, 303);
    app.state().settings.replace((*right).clone(), app.clock().now());
    let response = sign_in().await;
    assert_eq!((response.status, response.location()), (303, "/p/docs/jobs"), "{}", response.text);
}

#[test]
fn documents_list_every_reloadable_setting() {
    let document = include_str!("../../docs/operate/service.md");
    let source = include_str!("../../crates/base/src/config/changes.rs");
    let (_, rest) = source.split_once("const RELOADED: &[&str] = &[").unwrap();
    let names: Vec<&str> = rest.split_once("];").unwrap().0.split('"').skip(1).step_by(2).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let variable = format!("`DOCKET_{}`", name.to_uppercase());
        assert!(document.contains(&variable), "{variable}");
    }
    assert!(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/docket.socket")).exists());
}
