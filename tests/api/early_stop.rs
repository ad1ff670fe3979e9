//! A signal that stops a process also ends its start, as the first process of a container too, and leaves nothing behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;

use crate::helpers::{Browser, Installation, Served, until, within_deadline};

/// The end takes milliseconds, and what the start waits for takes minutes.
const MOST: Duration = Duration::from_secs(10);

/// Checks that the process ends soon after the signal, by itself and successfully: no signal killed it.
async fn ends_after(signal: &str, server: &Served) {
    let sent = Instant::now();
    server.signal(signal);
    let status = server.ended().await;
    assert_eq!(status.code(), Some(0), "{signal}: {status:?} {}", server.output());
    assert!(sent.elapsed() < MOST, "{signal}: it took {:?}", sent.elapsed());
}

/// A demonstration whose temporary folders are in a folder of its own.
fn demo(line: &str) -> (Installation, Served, PathBuf) {
    let installation = Installation::new();
    let folder = installation.path("temporary");
    std::fs::create_dir(&folder).unwrap();
    let installation = installation.set("TMPDIR", folder.to_str().unwrap());
    let demo = installation.serve_by(line, &["demo", "--addr", "127.0.0.1:0"]);
    (installation, demo, folder)
}

const STARTED: &str = "exec \"$0\" \"$@\"";

fn number_of_files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[tokio::test]
async fn signal_ends_the_wait_for_a_database() {
    for signal in ["TERM", "INT"] {
        // It accepts connections, and never answers.
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://docket:docket@{}/docket", silent.local_addr().unwrap());
        let server = Installation::in_file("http://127.0.0.1:9")
            .set("DOCKET_DATABASE_URL", &url)
            .set("DOCKET_DATABASE_WAIT_SECONDS", "600")
            .serve(&["serve"]);
        let connection = within_deadline("Docket connects", silent.accept()).await.unwrap();
        ends_after(signal, &server).await;
        let expected = format!("stopping on SIG{signal}, before the start was complete");
        until(&expected, async || server.output().contains(&expected).then_some(())).await;
        drop(connection);
    }
}

#[tokio::test]
async fn stopped_demonstration_leaves_no_folder() {
    for signal in ["TERM", "INT", "HUP"] {
        let (_installation, starting, folder) = demo(STARTED);
        until("the start has begun", async || (number_of_files(&folder) > 0).then_some(())).await;
        ends_after(signal, &starting).await;
        assert_eq!(number_of_files(&folder), 0, "{signal}");
    }
    let (_installation, ready, folder) = demo(STARTED);
    ready.output_after("Password").await;
    assert_eq!(number_of_files(&folder), 1);
    // As a terminal that is closed.
    ends_after("HUP", &ready).await;
    assert_eq!(number_of_files(&folder), 0);
}

#[tokio::test]
async fn demonstration_of_nohup_outlives_its_terminal() {
    let (_installation, demo, _) = demo("trap '' HUP; exec \"$0\" \"$@\"");
    let browser = Browser::at(&demo.output_after("Address").await);
    demo.signal("HUP");
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(browser.get("/healthz").await.status, 200);
    }
    ends_after("TERM", &demo).await;
}
