//! Docket as a systemd service: its messages to the service manager, and the restrictions of its unit.

use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;
use std::process::Command;

use base::config::KEYS;
use sqlx::{Connection, PgConnection};

use crate::databases::TestDatabase;
use crate::helpers::{Browser, Installation, until};

const UNIT: &str = include_str!("../../packaging/docket.service");
const UNIT_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/docket.service");

/// The highest acceptable exposure level, of 10.
const EXPOSURE_MAX: f64 = 1.5;

/// The messages of a service to its manager.
pub(crate) struct Manager(UnixDatagram);

impl Manager {
    fn of(installation: &Installation) -> Self {
        let socket = UnixDatagram::bind(installation.path("notify")).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self(socket)
    }

    /// Fills the socket, so that it takes no more messages.
    fn fill(&self, installation: &Installation) {
        let sender = UnixDatagram::unbound().unwrap();
        sender.set_nonblocking(true).unwrap();
        let full = (0..100_000).find_map(|_| sender.send_to(b"filler", installation.path("notify")).err());
        assert_eq!(full.map(|error| error.kind()), Some(ErrorKind::WouldBlock));
    }

    pub(crate) async fn next(&self) -> String {
        until("the service sends a message", async || {
            let mut text = [0; 256];
            match self.0.recv(&mut text) {
                Ok(length) => Some(String::from_utf8(text[..length].to_vec()).unwrap()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => None,
                Err(error) => panic!("{error}"),
            }
        })
        .await
        .trim()
        .to_owned()
    }
}

/// A server with its service manager.
pub(crate) fn managed(installation: Installation) -> (Installation, Manager) {
    let manager = Manager::of(&installation);
    let socket = installation.path("notify").display().to_string();
    (installation.set("NOTIFY_SOCKET", &socket), manager)
}

fn watched(installation: Installation, silence: &str) -> (Installation, Manager) {
    let (installation, manager) = managed(installation);
    (installation.set("WATCHDOG_USEC", silence), manager)
}

#[tokio::test]
async fn service_manager_gets_ready_watchdog_and_stopping_messages() {
    let (installation, manager) = watched(Installation::configured("http://127.0.0.1:9"), "200000");
    let server = installation.serve(&["serve"]);
    assert_eq!(manager.next().await, "READY=1");
    let address = server.address().await;
    assert_eq!(Browser::at(&address).get("/healthz").await.status, 200);
    // The messages repeat.
    for _ in 0..4 {
        assert_eq!(manager.next().await, "WATCHDOG=1");
    }
    server.signal("TERM");
    until("it reports that it stops", async || (manager.next().await == "STOPPING=1").then_some(())).await;
    assert!(server.ended().await.success());
}

/// The advisory lock of a migration.
const MIGRATION_LOCK: i64 = 0x64_6f63_6b65_7403;

#[tokio::test]
async fn long_migration_extends_the_start_and_is_shown_to_people() {
    let database = TestDatabase::of_server("").await;
    let mut migration = PgConnection::connect(database.url()).await.unwrap();
    let lock = sqlx::query("SELECT pg_advisory_lock($1)").bind(MIGRATION_LOCK);
    lock.execute(&mut migration).await.unwrap();
    let installation =
        Installation::configured("http://127.0.0.1:9").set("DOCKET_DATABASE_URL", database.url());
    let (installation, manager) = managed(installation);
    let server = installation.serve(&["serve"]);
    let address = server.output_after("requests get a page meanwhile address=").await;
    assert_eq!(manager.next().await, "EXTEND_TIMEOUT_USEC=60000000");
    let browser = Browser::at(&format!("http://{address}"));
    assert_eq!(browser.get("/healthz").await.status, 200);
    for (path, kind, text) in [
        ("/readyz", "text/plain", "starting"),
        ("/p/docs", "text/html", "<h1>Docket is starting</h1>"),
        ("/api/v1/jobs", "application/problem+json", "Docket is starting,"),
        ("/api/session/current", "application/json", "Docket is starting,"),
    ] {
        let response = browser.get(path).await;
        assert_eq!(response.status, 503, "{path}");
        assert!(
            response.header("content-type").starts_with(kind),
            "{path}: {}",
            response.header("content-type")
        );
        assert!(response.text.contains(text), "{path}: {}", response.text);
        assert_eq!(response.header("cache-control"), "no-store", "{path}");
        assert!(path == "/readyz" || response.header("retry-after") == "10", "{path}");
    }
    migration.close().await.unwrap();
    until("it is ready", async || (manager.next().await == "READY=1").then_some(())).await;
    // A connection that is still open may get one more of these responses.
    until("pages are served", async || (browser.get("/login").await.status == 200).then_some(())).await;
    server.signal("TERM");
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn watchdog_messages_are_half_the_interval_apart() {
    let (installation, manager) = watched(Installation::configured("http://127.0.0.1:9"), "3600000000");
    let server = installation.serve(&["serve"]);
    assert_eq!(manager.next().await, "READY=1");
    assert_eq!(manager.next().await, "WATCHDOG=1");
    // The next one is due in half an hour.
    server.signal("TERM");
    assert_eq!(manager.next().await, "STOPPING=1");
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn full_notify_socket_delays_neither_requests_nor_shutdown() {
    let (installation, manager) = watched(Installation::configured("http://127.0.0.1:9"), "20000");
    manager.fill(&installation);
    // With one thread, a blocking call stops everything.
    let installation = installation.set("TOKIO_WORKER_THREADS", "1");
    let server = installation.serve(&["serve"]);
    let address = server.address().await;
    server.output_after("a message to it was dropped").await;
    assert_eq!(Browser::at(&address).get("/healthz").await.status, 200);
    server.signal("TERM");
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn without_a_watchdog_only_start_and_stop_are_reported() {
    let (installation, manager) = managed(Installation::configured("http://127.0.0.1:9"));
    let server = installation.serve(&["serve"]);
    assert_eq!(manager.next().await, "READY=1");
    server.signal("TERM");
    assert_eq!(manager.next().await, "STOPPING=1");
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn stopping_server_is_unready_but_serves_for_the_configured_time() {
    let installation =
        Installation::configured("http://127.0.0.1:9").set("DOCKET_SHUTDOWN_DELAY_SECONDS", "300");
    let server = installation.serve(&["serve"]);
    let browser = Browser::at(&server.address().await);
    until("it is ready", async || (browser.get("/readyz").await.status == 200).then_some(())).await;
    server.signal("TERM");
    until("it is not ready", async || {
        let response = browser.get("/readyz").await;
        (response.status == 503).then(|| assert_eq!(response.text, "stopping\n"))
    })
    .await;
    for path in ["/healthz", "/login"] {
        assert_eq!(Browser::at(&server.address().await).get(path).await.status, 200, "{path}");
    }
    // A second signal ends the wait.
    server.signal("TERM");
    assert!(server.ended().await.success());
}

#[test]
fn unit_has_a_low_exposure_level() {
    let analysis = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--no-pager", UNIT_FILE])
        .output()
        .unwrap_or_else(|error| panic!("systemd-analyze cannot be run ({error}): apt-get install systemd"));
    let text = String::from_utf8_lossy(&analysis.stdout);
    let overall = text.split("Overall exposure level for docket.service: ").nth(1);
    let exposure: Option<f64> = overall.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    let exposure = exposure.unwrap_or_else(|| panic!("{analysis:?}"));
    assert!(exposure <= EXPOSURE_MAX, "{text}");
}

#[test]
fn unit_disables_core_dumps() {
    assert!(UNIT.lines().any(|line| line == "LimitCORE=0"));
}

#[test]
fn unit_names_no_database() {
    // It would override the configuration: an installation that moved to PostgreSQL would send from the old file again.
    assert!(!UNIT.contains("DOCKET_DATABASE"));
    assert!(UNIT.contains("WorkingDirectory=/var/lib/docket\n"), "the default is relative to it");
}

#[test]
fn unit_uses_known_settings_and_contains_no_secret() {
    let settings: Vec<&str> = UNIT
        .lines()
        .filter_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix("Environment="))
        .collect();
    assert!(settings.len() >= 4, "{settings:?}");
    for setting in settings {
        let (variable, value) = setting.split_once('=').unwrap();
        assert!(KEYS.iter().any(|key| key.variable() == variable), "{variable}");
        // Secrets are passed as files that only the service can read.
        if variable.ends_with("_FILE") {
            let name = value.strip_prefix("%d/").unwrap();
            assert!(UNIT.contains(&format!("LoadCredential={name}:/etc/docket/{name}\n")), "{name}");
        }
    }
    for line in
        ["Type=notify", "ExecReload=/bin/kill -HUP $MAINPID", "LoadCredential=api-key:/etc/docket/api-key"]
    {
        assert!(UNIT.lines().any(|other| other == line), "{line}");
    }
}
