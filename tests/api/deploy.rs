//! The example in `docs/deploy`: a load balancer in front of two processes on one PostgreSQL database.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use base::config::KEYS;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::databases::TestDatabase;
use crate::helpers::{
    Browser, Installation, Ledger, New, PASSWORD, PausedUpstream, Served, http_client, until,
};
use crate::traces::Collector;

const CADDYFILE: &str = include_str!("../../docs/deploy/Caddyfile");
const DROP_IN: &str = include_str!("../../docs/deploy/several-machines.conf");

/// The documented time after which the load balancer uses an instance that became ready.
const SEEN: Duration = Duration::from_secs(5);

/// Killed with the test.
struct Caddy(Child);

impl Caddy {
    /// The example, at `port` of this machine, in front of two instances.
    fn start(installation: &Installation, port: u16, instances: [&str; 2]) -> Self {
        let mut config = format!("{{\n\tadmin off\n}}\n{CADDYFILE}");
        let ours = format!("http://127.0.0.1:{port} {{");
        for (example, here) in [
            ("docket.example.com {", ours.as_str()),
            ("10.0.0.11:3000", instances[0]),
            ("10.0.0.12:3000", instances[1]),
        ] {
            assert_eq!(config.matches(example).count(), 1, "{example}");
            config = config.replace(example, here);
        }
        let file = installation.path("Caddyfile");
        std::fs::write(&file, config).unwrap();
        let caddy = Command::new("caddy")
            .args(["run", "--adapter", "caddyfile", "--config"])
            .arg(&file)
            .env("HOME", installation.path(""))
            .env("XDG_DATA_HOME", installation.path(""))
            .env("XDG_CONFIG_HOME", installation.path(""))
            .stderr(Stdio::null())
            .spawn();
        Self(caddy.unwrap_or_else(|error| panic!("caddy cannot be run ({error}): scripts/setup.sh test")))
    }
}

impl Drop for Caddy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An instance of the example.
struct Machine {
    installation: Installation,
    server: Served,
    address: String,
}

impl Machine {
    async fn start(installation: Installation) -> Self {
        let server = installation.serve(&["serve"]);
        let address = server.output_after("listening address=").await;
        // A restart uses the same address.
        let machine = Self { installation: installation.set("DOCKET_ADDR", &address), server, address };
        machine.is_ready().await;
        machine
    }

    /// Runs the next version, as `systemctl restart` does.
    async fn restart(self) -> Self {
        self.server.signal("TERM");
        assert!(self.server.ended().await.success());
        Self::start(self.installation).await
    }

    async fn kill(&self) {
        self.server.signal("KILL");
        self.server.ended().await;
    }

    async fn is_ready(&self) {
        let here = Browser::at(&format!("http://{}", self.address));
        until("it is ready", async || {
            let response = here.try_send(here.request(reqwest::Method::GET, "/readyz")).await.ok()?;
            (response.status == 200).then_some(())
        })
        .await;
    }
}

/// Users who read and post until a signal stops them. Returns their posts, each of which was accepted.
fn start_users(
    browser: &Arc<Browser>,
    stop: &CancellationToken,
) -> Vec<tokio::task::JoinHandle<Vec<String>>> {
    let person = |n: usize| {
        let (browser, stop) = (browser.clone(), stop.clone());
        tokio::spawn(async move {
            let mut posted = Vec::new();
            while !stop.is_cancelled() {
                let page =
                    browser.try_send(browser.request(reqwest::Method::GET, "/p/docs/jobs")).await.unwrap();
                assert_eq!(page.status, 200, "{}", page.text);
                let prompt = format!("Prompt {} of person {n}", posted.len());
                let response = browser.try_send(New::job(&prompt).request(&browser)).await.unwrap();
                assert_eq!(response.status, 200, "{}", response.text);
                posted.push(prompt);
                sleep(Duration::from_millis(100)).await;
            }
            posted
        })
    };
    (0..4).map(person).collect()
}

#[tokio::test]
async fn rolling_upgrade_and_killed_instance_lose_no_request() {
    let upstream = PausedUpstream::start().await;
    let database = TestDatabase::of_server("").await;
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let public = format!("http://127.0.0.1:{port}");
    let installation = || {
        Installation::in_file(&upstream.url())
            .set("DOCKET_ADMIN_PASSWORD", PASSWORD)
            .set("DOCKET_DATABASE_URL", database.url())
            .set("DOCKET_PUBLIC_URL", &public)
            .set("DOCKET_TRUSTED_PROXIES", "127.0.0.1")
            .set("DOCKET_SHUTDOWN_DELAY_SECONDS", "5")
            .set("DOCKET_AGENT_PER_HOUR", "100000")
    };
    let (mut one, mut other) = tokio::join!(Machine::start(installation()), Machine::start(installation()));
    let _caddy = Caddy::start(&one.installation, port, [&one.address, &other.address]);
    let browser = Arc::new(Browser::at(&public));
    until("the load balancer responds", async || {
        let response = browser.try_send(browser.request(reqwest::Method::GET, "/login")).await.ok()?;
        (response.status == 200).then_some(())
    })
    .await;
    assert_eq!(browser.sign_in("admin", PASSWORD).await.status, 200);

    let stop = CancellationToken::new();
    let people = start_users(&browser, &stop);
    one = one.restart().await;
    sleep(SEEN).await;
    other = other.restart().await;
    sleep(SEEN).await;
    let ledger = Ledger::at(database.url());
    let accepted = "SELECT COUNT(*) FROM messages WHERE state = 'accepted'";
    until("forty accepted prompts", async || (ledger.count(accepted).await >= 40).then_some(())).await;
    stop.cancel();
    let mut posted = 0;
    for person in people {
        for prompt in person.await.expect("a request was lost") {
            assert_eq!(upstream.posts_of(&prompt), 1, "{prompt}");
            posted += 1;
        }
    }
    assert_eq!(ledger.count(accepted).await, posted);

    // After the browser's instance is killed, the other one sends the next response.
    one.kill().await;
    assert_eq!(browser.get("/p/docs/jobs").await.status, 200);
    let _one = Machine::start(one.installation).await;
    sleep(SEEN).await;
    other.kill().await;
    assert_eq!(browser.get("/p/docs/jobs").await.status, 200);
}

/// An administrator who trusts a header of the load balancer must not trust the clients behind it.
#[tokio::test]
async fn load_balancer_removes_headers_of_clients() {
    const SECRET: &str = "what only an authenticating proxy may know";
    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    let (upstream, collector) = (PausedUpstream::start().await, Collector::start().await);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let public = format!("http://127.0.0.1:{port}");
    let installation = Installation::configured(&upstream.url())
        .set("DOCKET_ADMIN_PASSWORD", PASSWORD)
        .set("DOCKET_PUBLIC_URL", &public)
        .set("DOCKET_TRUSTED_PROXIES", "127.0.0.1")
        .set("DOCKET_TRUSTED_HEADER", "x-forwarded-user")
        .set("DOCKET_TRUSTED_SECRET", SECRET)
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.uri());
    let machine = Machine::start(installation).await;
    let _caddy = Caddy::start(&machine.installation, port, [&machine.address, &machine.address]);
    let visitor = Browser::at(&public);
    until("the load balancer responds", async || {
        let response = visitor.try_send(visitor.request(reqwest::Method::GET, "/login")).await.ok()?;
        (response.status == 200).then_some(())
    })
    .await;
    let http = http_client().build().unwrap();
    let named = async |address: &str| {
        let request = http.get(format!("http://{address}/p/docs")).header("accept", "text/html");
        let request = request
            .header("host", format!("127.0.0.1:{port}"))
            .header("X-Forwarded-User", "admin")
            .header("X-Forwarded-Groups", "leads")
            .header("Docket-Proxy-Secret", SECRET)
            .header("traceparent", format!("00-{TRACE}-b7ad6b7169203331-01"));
        request.send().await.unwrap()
    };
    assert_eq!(named(&machine.address).await.status(), 200, "the headers work without the load balancer");
    let through = named(&format!("127.0.0.1:{port}")).await;
    assert_eq!(through.status(), 303);
    assert_eq!(through.headers()["location"], "/login?next=%2Fp%2Fdocs");
    machine.server.signal("TERM");
    assert!(machine.server.ended().await.success());
    let spans = collector.spans().await;
    let of_visitor = spans.iter().filter(|span| span.trace == TRACE && span.name == "GET /p/{project}");
    assert_eq!(of_visitor.count(), 1, "only the trace without the load balancer is continued: {spans:?}");
}

#[test]
fn example_uses_only_known_settings() {
    let settings: Vec<&str> = DROP_IN.lines().filter_map(|line| line.strip_prefix("Environment=")).collect();
    assert!(settings.len() >= 5, "{settings:?}");
    for setting in settings {
        let (variable, value) = setting.split_once('=').unwrap();
        assert!(KEYS.iter().any(|key| key.variable() == variable), "{variable}");
        if let Some(name) = value.strip_prefix("%d/") {
            assert!(DROP_IN.contains(&format!("LoadCredential={name}:/etc/docket/{name}\n")), "{name}");
        }
    }
}
