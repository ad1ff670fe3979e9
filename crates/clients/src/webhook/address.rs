//! Validates and displays the URLs of webhooks. `network` resolves their names, for each connection.

use url::{Host, Url};

use super::network;
use model::ParseError;
use model::webhook::WebhookKind;

/// The maximum length of a URL, in bytes.
const LONGEST: usize = 2_000;

/// Allowed destinations besides the public internet.
#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    /// Private networks over https, and loopback over plain http.
    pub private: bool,
}

/// Parses the URL in `text`. The error message does not repeat it.
pub fn parse(text: &str, allowed: Allowed) -> Result<Url, ParseError> {
    let text = text.trim();
    let url = Url::parse(text)
        .map_err(|_| ParseError::from("That is not a valid address. It must begin with https://."))?;
    if url.as_str().len() > LONGEST {
        return Err(format!("The address is too long: it may have {LONGEST} characters.").into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("Remove the username and password from the address.".into());
    }
    let literal = match url.host() {
        Some(Host::Ipv4(address)) => Some(address.into()),
        Some(Host::Ipv6(address)) => Some(address.into()),
        Some(Host::Domain(_)) => None,
        None => return Err("The address has no host.".into()),
    };
    match (url.scheme(), literal) {
        ("https", Some(ip)) if !allowed.private && !network::is_public(ip) => Err(network::REFUSED.into()),
        ("https", _) => Ok(url),
        ("http", Some(ip)) if allowed.private && ip.is_loopback() => Ok(url),
        ("http", _) => Err("Plain http is not encrypted. Use https.".into()),
        _ => Err("The address must begin with https://.".into()),
    }
}

/// A URL for people and logs, without secrets: the path of a Slack webhook, and queries.
pub fn shown(address: &str, kind: WebhookKind) -> String {
    let Ok(url) = Url::parse(address) else { return "an invalid address".to_owned() };
    let origin = url.origin().ascii_serialization();
    match kind {
        WebhookKind::Slack => {
            let end: Vec<char> = url.path().chars().rev().take(4).collect();
            let end: String = end.into_iter().rev().collect();
            format!("{origin}/…{end}")
        }
        WebhookKind::Json if url.query().is_some() => format!("{origin}{}?…", url.path()),
        WebhookKind::Json => format!("{origin}{}", url.path()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Allowed = Allowed { private: false };
    const PRIVATE: Allowed = Allowed { private: true };

    #[test]
    fn only_public_https_is_accepted_by_default() {
        for good in
            ["https://hooks.example/x", "https://example.com:8443/?a=b", "https://8.8.8.8/", " https://a.b "]
        {
            assert!(parse(good, STRICT).is_ok(), "{good}");
        }
        for bad in [
            "",
            "hooks.example",
            "ftp://hooks.example",
            "file:///etc/passwd",
            "http://hooks.example/",
            "http://127.0.0.1:9/",
            "https://user@hooks.example/",
            "https://:secret@hooks.example/",
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://10.1.2.3/",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00::1]/",
        ] {
            let problem = parse(bad, STRICT).err().unwrap_or_else(|| panic!("{bad}"));
            assert!(
                problem.to_string().ends_with('.') && !problem.to_string().contains("secret"),
                "{problem}"
            );
        }
        assert!(parse(&format!("https://a.example/{}", "x".repeat(LONGEST)), STRICT).is_err());
        assert!(parse("https://10.1.2.3/", PRIVATE).is_ok());
        assert!(parse("http://10.1.2.3/", PRIVATE).is_err());
    }

    #[test]
    fn plain_http_is_accepted_for_loopback_only() {
        assert!(parse("http://127.0.0.1:9/", PRIVATE).is_ok() && parse("http://[::1]/", PRIVATE).is_ok());
        assert!(
            parse("http://localhost:9/", PRIVATE).is_err() && parse("http://10.0.0.1/", PRIVATE).is_err()
        );
    }

    #[test]
    fn secret_parts_of_a_url_are_hidden() {
        let slack = "https://hooks.slack.com/services/T000/B000/abcdefWXYZ";
        assert_eq!(shown(slack, WebhookKind::Slack), "https://hooks.slack.com/…WXYZ");
        assert_eq!(shown("https://a.example/x?token=1", WebhookKind::Json), "https://a.example/x?…");
    }
}
