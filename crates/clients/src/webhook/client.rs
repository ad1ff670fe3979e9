//! One request to a receiver: a deadline for the whole exchange, no redirects, no proxies, a limited response. It has
//! its own connections, so that no request to the upstream ends here.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use rustls::pki_types::CertificateDer;
use url::Url;

use super::address::Allowed;
use super::network::{PublicOnly, REFUSED, Refused};
use base::http_client;

/// The deadline of a whole exchange.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// The maximum size of a received response in bytes, and of a shown one in characters.
const READ_MAX_BYTES: usize = 4 * 1024;
const SHOWN_MAX_CHARS: usize = 300;

/// The result of a request.
pub struct WebhookResponse {
    /// `None` without a response.
    pub status: Option<u16>,
    /// The start of the response, or the reason why there is none. It never contains parts of the URL.
    pub note: Option<String>,
}

/// Clones share the connections.
#[derive(Clone)]
pub struct Client {
    allowed: Allowed,
    authorities: Arc<[CertificateDer<'static>]>,
    /// Created on first use: it fails without trusted certificates, and Docket must work without webhooks then.
    https: Arc<OnceLock<Option<reqwest::Client>>>,
    plain: Arc<OnceLock<Option<reqwest::Client>>>,
}

impl Client {
    pub fn new(allowed: Allowed, authorities: &[CertificateDer<'static>]) -> Self {
        Self { allowed, authorities: authorities.into(), https: Arc::default(), plain: Arc::default() }
    }

    /// Posts JSON to `url`, which was validated with the same rules.
    pub async fn post(&self, url: Url, headers: HeaderMap, body: String) -> WebhookResponse {
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
            Ok(response) => response_of(response).await,
            Err(error) => no_response(reason(&error)),
        }
    }

    fn client(&self, is_https: bool) -> Option<reqwest::Client> {
        let mut client = http_client::builder(DEADLINE)
            .no_proxy()
            .no_gzip()
            .no_brotli()
            // No idle connections, so that each connection resolves the name again.
            .pool_max_idle_per_host(0);
        if is_https && !self.allowed.private {
            client = client.dns_resolver(Arc::new(PublicOnly));
        }
        http_client::build(client, is_https, &self.authorities).ok()
    }
}

/// The status decides; if the body is incomplete, only the receiver's message is lost.
async fn response_of(mut response: Response) -> WebhookResponse {
    let status = response.status().as_u16();
    let mut text = Vec::new();
    while text.len() < READ_MAX_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        text.extend_from_slice(&chunk[..chunk.len().min(READ_MAX_BYTES - text.len())]);
    }
    let text: String = String::from_utf8_lossy(&text).chars().filter(|c| !c.is_control()).collect();
    let text: String = text.trim().chars().take(SHOWN_MAX_CHARS).collect();
    let note = match (status, text.is_empty()) {
        (300..400, _) => Some("The receiver sent a redirect, which webhooks do not follow.".to_owned()),
        (_, true) => None,
        (_, false) => Some(text),
    };
    WebhookResponse { status: Some(status), note }
}

fn no_response(reason: &str) -> WebhookResponse {
    WebhookResponse { status: None, note: Some(reason.to_owned()) }
}

/// The reason for a missing response. The libraries' messages would repeat the URL.
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
