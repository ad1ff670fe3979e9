//! One request to a receiver: a deadline for the whole exchange, no redirects, no proxies, a limited response. Uses its
//! own connections, so that nothing meant for the upstream is sent here.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use rustls::pki_types::CertificateDer;
use url::Url;

use super::address::Allowed;
use super::network::{PublicOnly, REFUSED, Refused};
use crate::server::http_client;

/// For a whole exchange.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

/// How much of a response is received, in bytes, and shown, in characters.
const READ_MAX_BYTES: usize = 4 * 1024;
const SHOWN_MAX_CHARS: usize = 300;

/// The result of a request.
pub(super) struct WebhookResponse {
    /// `None` without a response.
    pub(super) status: Option<u16>,
    /// The start of the response, or why there is none; never a part of the address.
    pub(super) note: Option<String>,
}

/// Clones share the connections.
#[derive(Clone)]
pub(super) struct Client {
    allowed: Allowed,
    authorities: Arc<[CertificateDer<'static>]>,
    /// Created when first needed: it fails without trusted certificates, and the rest of Docket must work then.
    https: Arc<OnceLock<Option<reqwest::Client>>>,
    plain: Arc<OnceLock<Option<reqwest::Client>>>,
}

impl Client {
    pub(super) fn new(allowed: Allowed, authorities: &[CertificateDer<'static>]) -> Self {
        Self { allowed, authorities: authorities.into(), https: Arc::default(), plain: Arc::default() }
    }

    /// Posts JSON to `url`, which was validated with the same rules.
    pub(super) async fn post(&self, url: Url, headers: HeaderMap, body: String) -> WebhookResponse {
        let client = match url.scheme() {
            "http" => self.plain.get_or_init(|| self.client(false)),
            _ => self.https.get_or_init(|| self.client(true)),
        };
        let Some(client) = client else {
            return no_response(
                "There are no certificates to trust: install the system’s, or set DOCKET_CA_FILE.",
            );
        };
        let request = client.post(url).headers(headers).header(CONTENT_TYPE, "application/json").body(body);
        match request.send().await {
            Ok(answer) => response_of(answer).await,
            Err(error) => no_response(reason(&error)),
        }
    }

    fn client(&self, is_https: bool) -> Option<reqwest::Client> {
        let mut client = http_client::builder(DEADLINE)
            .no_proxy()
            .no_gzip()
            .no_brotli()
            // Each connection is made to an address that was looked at just then.
            .pool_max_idle_per_host(0);
        if is_https && !self.allowed.private {
            client = client.dns_resolver(Arc::new(PublicOnly));
        }
        http_client::build(client, is_https, &self.authorities).ok()
    }
}

/// The status decides; if the body is incomplete, only the receiver's message is lost.
async fn response_of(mut answer: Response) -> WebhookResponse {
    let status = answer.status().as_u16();
    let mut said = Vec::new();
    while said.len() < READ_MAX_BYTES
        && let Ok(Some(chunk)) = answer.chunk().await
    {
        said.extend_from_slice(&chunk[..chunk.len().min(READ_MAX_BYTES - said.len())]);
    }
    let said: String = String::from_utf8_lossy(&said).chars().filter(|c| !c.is_control()).collect();
    let said: String = said.trim().chars().take(SHOWN_MAX_CHARS).collect();
    let note = match (status, said.is_empty()) {
        (300..400, _) => Some("The receiver sent a redirect, which webhooks do not follow.".to_owned()),
        (_, true) => None,
        (_, false) => Some(said),
    };
    WebhookResponse { status: Some(status), note }
}

fn no_response(reason: &str) -> WebhookResponse {
    WebhookResponse { status: None, note: Some(reason.to_owned()) }
}

/// Why there was no response. In our own words: those of the libraries repeat the address.
fn reason(error: &reqwest::Error) -> &'static str {
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(inner) = cause {
        if inner.is::<Refused>() {
            return REFUSED;
        }
        cause = inner.source();
    }
    if error.is_timeout() {
        "The receiver did not answer in time."
    } else if error.is_connect() {
        "The receiver could not be reached."
    } else {
        "The receiver closed the connection."
    }
}
