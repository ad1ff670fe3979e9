//! A reader of the log that stops reading stops nothing else.

use std::io::PipeReader;
use std::net::TcpListener;

use reqwest::Method;

use crate::helpers::{Browser, Installation, METRICS_TOKEN, Served, until};

/// Enough to fill the pipe and the queue several times, if each has a long path.
const REQUESTS: usize = 1_000;
const PATH_LENGTH: usize = 8_000;

/// A server with one thread whose standard error nobody reads.
struct Unread {
    server: Served,
    log: PipeReader,
    browser: Browser,
    _installation: Installation,
}

impl Unread {
    async fn start() -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", socket.local_addr().unwrap());
        let installation = Installation::configured("http://127.0.0.1:9").set("TOKIO_WORKER_THREADS", "1");
        std::fs::write(installation.path("token"), METRICS_TOKEN).unwrap();
        let installation = installation.set("DOCKET_METRICS_TOKEN_FILE", "token");
        let (server, log) = installation.serve_unread(&socket);
        let browser = Browser::at(&address);
        Self { server, log, browser, _installation: installation }
    }

    /// Each request adds a long line to the log.
    async fn flood(&self) {
        let path = format!("/{}", "x".repeat(PATH_LENGTH));
        for _ in 0..REQUESTS {
            assert_eq!(self.browser.get(&path).await.status, 303);
        }
    }

    async fn dropped(&self) -> f64 {
        let request = self.browser.request(Method::GET, "/metrics").bearer_auth(METRICS_TOKEN);
        let metrics = self.browser.send(request).await.text;
        let value = metrics.lines().find_map(|line| line.strip_prefix("docket_log_lines_dropped_total "));
        value.unwrap_or_else(|| panic!("no such metric: {metrics}")).parse().unwrap()
    }
}

#[tokio::test]
async fn full_standard_error_delays_neither_requests_nor_shutdown() {
    let unread = Unread::start().await;
    unread.flood().await;
    assert!(unread.dropped().await > 100.0);
    assert_eq!(unread.browser.get("/login").await.status, 200);
    unread.server.signal("TERM");
    assert!(unread.server.ended().await.success());
    // Nobody has read it.
    drop(unread.log);
}

#[tokio::test]
async fn log_continues_with_the_number_of_dropped_lines() {
    let unread = Unread::start().await;
    unread.flood().await;
    let dropped = unread.dropped().await;
    let Unread { server, log, browser, _installation } = unread;
    server.read(log);
    until("the dropped lines are reported", async || {
        server.output().contains("log lines were dropped").then_some(())
    })
    .await;
    let reported: f64 = {
        let output = server.output();
        let (before, _) = output.split_once(" log lines were dropped").unwrap();
        before.rsplit_once(' ').unwrap().1.parse().unwrap()
    };
    assert!(reported >= dropped, "{reported} of {dropped}");
    assert_eq!(browser.get("/after-the-flood").await.status, 303);
    server.output_after("/after-the-flood").await;
    server.signal("TERM");
    assert!(server.ended().await.success());
    let output = server.output();
    assert_eq!(output.matches("log lines were dropped").count(), 1, "it is reported once");
    // The last lines are not lost.
    until("the last line", async || server.output().contains("stopping on SIGTERM").then_some(())).await;
}

#[tokio::test]
async fn error_of_a_failed_start_is_the_last_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let installation = Installation::configured("http://127.0.0.1:9").set("DOCKET_ADDR", &address);
    // A first start, so that the log has other lines before.
    let finished = installation.set("DOCKET_LOG", "debug").run(&["serve"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let last = finished.stderr.lines().last().unwrap();
    assert!(last.starts_with(&format!("docket: cannot listen on {address}")), "{finished:?}");
}
