//! `docket healthcheck`: whether the server on this machine is up, for containers.

use std::net::TcpListener;

use crate::helpers::{Installation, refusing_address, until};

#[tokio::test]
async fn healthcheck_exits_with_0_or_1_and_creates_nothing() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let installation = Installation::configured("http://127.0.0.1:9")
        .set("DOCKET_ADDR", &address.to_string())
        .set("DOCKET_SHUTDOWN_DELAY_SECONDS", "300");
    let server = installation.serve_on(&socket, None);
    server.address().await;
    for configured in [address.to_string(), format!("0.0.0.0:{}", address.port())] {
        // As in a container, where only the address may be set.
        let container = Installation::new().set("DOCKET_ADDR", &configured);
        let finished = container.run(&["healthcheck"]);
        assert_eq!(finished.code, Some(0), "{configured}: {finished:?}");
        assert_eq!(finished.stdout, format!("http://{address}/healthz: ok\n"));
        assert_eq!(container.files(), Vec::<String>::new());
    }
    assert_eq!(installation.run(&["healthcheck", "--ready"]).code, Some(0));
    server.signal("TERM");
    until("it is not ready", async || {
        let finished = installation.run(&["healthcheck", "--ready"]);
        (finished.code == Some(1)).then(|| assert!(finished.stderr.contains("503: stopping"), "{finished:?}"))
    })
    .await;
    assert_eq!(installation.run(&["healthcheck"]).code, Some(0), "it still serves");
}

#[test]
fn unreachable_server_is_reported_in_one_line() {
    let (_reserved, unreachable) = refusing_address();
    let finished = Installation::new()
        .set("DOCKET_ADDR", unreachable.trim_start_matches("http://"))
        .run(&["healthcheck"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("/healthz does not answer"), "{finished:?}");
    assert_eq!(finished.stderr.lines().count(), 1, "{finished:?}");
    let finished = Installation::new().set("DOCKET_ADDR", "nowhere").run(&["healthcheck"]);
    assert!(finished.code == Some(2) && finished.stderr.contains("DOCKET_ADDR"), "{finished:?}");
}
