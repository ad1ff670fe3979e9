//! Connections to the upstream: trusted certificates, and what a proxy can see. Uses the binary, because proxies are
//! configured in its environment.

use crate::helpers::{Act, RawUpstream};
use crate::helpers::{
    Browser, Installation, KEY, PASSWORD, Proxy, Served, TlsUpstream, json, remote_job, secrets_in,
};

/// A job that the upstream accepts.
fn upstream() -> TlsUpstream {
    TlsUpstream::start(&remote_job("job_1", "completed"))
}

/// The configuration for `upstream`, trusting its certificate authority.
fn trusting(upstream: &TlsUpstream) -> Installation {
    let installation = Installation::configured(&upstream.url()).set("DOCKET_CA_FILE", "ca.pem");
    std::fs::write(installation.path("ca.pem"), &upstream.authority).unwrap();
    installation
}

/// Starts the server and a job: its state and reason.
async fn job_at(installation: &Installation) -> (Served, String, String) {
    installation.run_with_input(&["user", "add", "olga", "--role", "operator"], PASSWORD);
    let server = installation.serve(&[]);
    let olga = Browser::at(&server.address().await);
    assert_eq!(olga.sign_in("olga", PASSWORD).await.status, 200);
    let job = olga.created("Fix typos").await;
    let text = |field: &str| job[field].as_str().unwrap_or_default().to_owned();
    (server, text("state"), text("reason"))
}

/// Checks that the upstream received one request with the key.
#[track_caller]
fn got_one_prompt(upstream: &TlsUpstream) {
    let requests = upstream.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].starts_with("POST /v2/agent/docs/job HTTP/1.1\r\n"), "{requests:?}");
    assert!(requests[0].contains(&format!("authorization: Bearer {KEY}\r\n")), "{requests:?}");
}

#[tokio::test]
async fn upstream_of_a_private_authority_is_trusted_with_its_certificate() {
    let upstream = upstream();
    let (_server, state, reason) = job_at(&trusting(&upstream)).await;
    assert_eq!((state.as_str(), reason.as_str()), ("completed", ""));
    got_one_prompt(&upstream);
}

#[tokio::test]
async fn certificate_file_may_contain_several_authorities_and_comments() {
    let (upstream, other) = (upstream(), upstream());
    let installation = trusting(&upstream);
    let file = format!("# Other\n{}\n# Ours\n{}", other.authority, upstream.authority);
    std::fs::write(installation.path("ca.pem"), file).unwrap();
    let (_server, state, _) = job_at(&installation).await;
    assert_eq!(state, "completed");
}

#[tokio::test]
async fn upstream_with_an_untrusted_certificate_receives_nothing() {
    let (upstream, other) = (upstream(), upstream());
    let anonymous = Installation::configured(&upstream.url());
    let wrong_authority = trusting(&upstream);
    std::fs::write(wrong_authority.path("ca.pem"), &other.authority).unwrap();
    for installation in [anonymous, wrong_authority] {
        let (_server, state, reason) = job_at(&installation).await;
        assert_eq!(state, "rejected");
        assert!(reason.contains("nothing was started"), "{reason}");
        let check = installation.run(&["check"]);
        assert!(check.code == Some(1) && check.stdout.contains("certificate"), "{check:?}");
    }
    assert_eq!(upstream.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn proxy_to_an_https_upstream_cannot_see_the_key() {
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let (upstream, proxy) = (upstream(), Proxy::start());
        let (_server, state, _) = job_at(&trusting(&upstream).set(variable, &proxy.url())).await;
        assert_eq!(state, "completed", "{variable}");
        got_one_prompt(&upstream);
        let heard = proxy.heard();
        let address = upstream.url().replace("https://", "");
        assert!(heard.starts_with(&format!("CONNECT {address} HTTP/1.1\r\n")), "{variable}: {heard:?}");
        assert_eq!(secrets_in(&heard), Vec::<&str>::new(), "{variable}");
        for inside in ["authorization", "Bearer", "/v2/agent", "Fix typos"] {
            assert!(!heard.contains(inside), "{variable}: {inside} in {heard:?}");
        }
    }
}

#[tokio::test]
async fn no_proxy_variable_bypasses_the_proxy() {
    let (upstream, proxy) = (upstream(), Proxy::start());
    let installation = trusting(&upstream).set("HTTPS_PROXY", &proxy.url()).set("NO_PROXY", "127.0.0.1");
    let (_server, state, _) = job_at(&installation).await;
    assert_eq!(state, "completed");
    assert_eq!(proxy.heard(), "");
}

#[tokio::test]
async fn prompt_is_not_sent_through_a_proxy_that_refuses() {
    for status in ["403 Forbidden", "407 Proxy Authentication Required", "502 Bad Gateway"] {
        let (upstream, proxy) = (upstream(), Proxy::answering(status));
        let (_server, state, _) = job_at(&trusting(&upstream).set("HTTPS_PROXY", &proxy.url())).await;
        assert_eq!(state, "rejected", "{status}");
        assert_eq!(secrets_in(&proxy.heard()), Vec::<&str>::new(), "{status}");
        assert_eq!(upstream.requests(), Vec::<String>::new(), "{status}");
    }
}

#[tokio::test]
async fn plain_http_to_localhost_bypasses_the_proxy() {
    let job = json!({"id": "job_1", "status": "completed"}).to_string();
    let response = format!("HTTP/1.1 201 Created\r\ncontent-length: {}\r\n\r\n{job}", job.len());
    let (upstream, proxy) =
        (RawUpstream::start(move |_| Act::Send(response.clone().into_bytes())), Proxy::start());
    let variables = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"];
    let installation =
        variables.iter().fold(Installation::configured(&upstream.url()), |installation, variable| {
            installation.set(variable, &proxy.url())
        });
    let (_server, state, _) = job_at(&installation).await;
    assert_eq!(state, "completed");
    assert_eq!((upstream.requests(), proxy.heard().as_str()), (1, ""));
}

#[tokio::test]
async fn missing_system_certificates_are_reported_without_stopping_the_server() {
    let bare = |installation: Installation| {
        installation.set("SSL_CERT_FILE", "/nowhere").set("SSL_CERT_DIR", "/nowhere")
    };
    bare(Installation::configured("http://127.0.0.1:9")).serve(&[]).address().await;

    let upstream = upstream();
    let (_server, state, _) = job_at(&bare(trusting(&upstream))).await;
    assert_eq!(state, "completed");

    let finished = bare(Installation::configured(&upstream.url())).run(&["serve"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished.stderr.contains("DOCKET_CA_FILE") && finished.stderr.contains("ca-certificates"),
        "{finished:?}"
    );
}
