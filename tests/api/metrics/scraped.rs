//! A real Prometheus scrapes a running server with the documented configuration. It evaluates every expression for operators, and
//! its own tool checks the alert rules.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::documents::{ALERTS, DASHBOARD, MONITORING, expressions, metrics_in};
use crate::helpers::{Installation, PausedUpstream, http_client, until};

const OPERATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operate");
const UNIT_TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/metrics/alerts.yml");

/// Killed with the test.
struct Prometheus {
    process: Child,
    address: String,
}

impl Prometheus {
    fn start(installation: &Installation, scrape_configs: &str) -> Self {
        let config = format!(
            "global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\nrule_files: [{OPERATE}/alerts.yml]\n{scrape_configs}"
        );
        let file = installation.path("prometheus.yml");
        std::fs::write(&file, config).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", installation.path("series").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stderr(Stdio::null())
            .spawn();
        let process = process
            .unwrap_or_else(|error| panic!("prometheus cannot be run ({error}): scripts/setup.sh test"));
        Self { process, address: format!("http://127.0.0.1:{port}") }
    }

    async fn get(&self, path: &str, pairs: &[(&str, &str)]) -> Option<Value> {
        let url = reqwest::Url::parse_with_params(&format!("{}{path}", self.address), pairs).unwrap();
        let client = http_client().build().unwrap();
        client.get(url).send().await.ok()?.json().await.ok()
    }

    /// The number of series that an expression gives.
    async fn series(&self, expression: &str) -> usize {
        let response = self.get("/api/v1/query", &[("query", expression)]).await.unwrap();
        assert_eq!(response["status"], "success", "{expression}: {response}");
        response["data"]["result"].as_array().unwrap().len()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The first scrape configuration in the document.
fn documented() -> &'static str {
    let (_, rest) = MONITORING.split_once("```yaml\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[tokio::test]
async fn prometheus_scrape_provides_data_for_every_expression() {
    let upstream = PausedUpstream::start().await;
    // A dashboard shows backups too, and only SQLite files have them.
    let installation = Installation::in_file(&upstream.url())
        .set("DOCKET_ADMIN_PASSWORD", crate::helpers::PASSWORD)
        .set("DOCKET_METRICS_ADDR", "0");
    let backups = installation.path("backups").display().to_string();
    std::fs::create_dir(&backups).unwrap();
    let installation = installation.set("DOCKET_BACKUP_DIR", &backups);
    let server = installation.serve(&["serve"]);
    let metrics = server.output_after("for metrics address=").await;
    assert_eq!(documented().matches("127.0.0.1:9464").count(), 1);
    let prometheus = Prometheus::start(&installation, &documented().replace("127.0.0.1:9464", &metrics));
    let browser = server.signed_in().await;
    browser.created("Fix typos").await;
    assert_eq!(browser.get("/p/docs/jobs").await.status, 200);

    // Rates need two scrapes that have a request of each kind.
    until("a target that is up, and a few scrapes", async || {
        let response = prometheus
            .get(
                "/api/v1/query",
                &[(
                    "query",
                    "count_over_time(docket_http_requests_total{route=\"/p/{project}/jobs\"}[1m]) >= 2",
                )],
            )
            .await?;
        (!response["data"]["result"].as_array()?.is_empty()).then_some(())
    })
    .await;
    assert_eq!(prometheus.series("up{job=\"docket\"} == 1").await, 1);
    until("every rule was evaluated", async || {
        let rules = prometheus.get("/api/v1/rules", &[]).await?;
        let rules = rules["data"]["groups"][0]["rules"].as_array()?.clone();
        assert_eq!(rules.len(), ALERTS.matches("- alert: ").count());
        let failed = rules.iter().find(|rule| rule["health"] == "err");
        assert!(failed.is_none(), "{failed:?}");
        let firing = rules.iter().find(|rule| rule["state"] == "firing");
        assert!(firing.is_none(), "nothing is wrong: {firing:?}");
        rules.iter().all(|rule| rule["health"] == "ok").then_some(())
    })
    .await;

    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    for expression in expressions(&dashboard) {
        // All instances, and no value where only numbers above zero are shown.
        let expression = expression.replace("$instance", ".*");
        prometheus.series(&expression).await;
        let whole = expression.strip_suffix(" > 0").unwrap_or(&expression);
        assert!(prometheus.series(whole).await > 0, "no data: {whole}");
    }
    let watched: Vec<&str> = ALERTS.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).collect();
    for expression in watched {
        prometheus.series(expression).await;
        for name in metrics_in(expression) {
            assert!(prometheus.series(name).await > 0, "no {name} for {expression}");
        }
    }
    server.signal("TERM");
    assert!(server.ended().await.success());
    // All alerts depend on this: Prometheus detects that the target is down.
    until("the target is down", async || {
        let response = prometheus.get("/api/v1/query", &[("query", "up{job=\"docket\"} == 0")]).await?;
        (response["data"]["result"].as_array()?.len() == 1).then_some(())
    })
    .await;
}

#[test]
fn alert_rules_pass_their_tests() {
    for arguments in [["check", "rules", &format!("{OPERATE}/alerts.yml")], ["test", "rules", UNIT_TESTS]] {
        let checked = Command::new("promtool").args(arguments).current_dir(Path::new(OPERATE)).output();
        let checked =
            checked.unwrap_or_else(|error| panic!("promtool cannot be run ({error}): scripts/setup.sh test"));
        let output = String::from_utf8_lossy(&checked.stdout) + String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{arguments:?}: {output}");
        assert!(output.contains("SUCCESS"), "{output}");
    }
}
