//! The relying party: the public URL to which passkeys belong. Pure.

use std::time::Duration;

use serde_json::Value;
use url::Url;
use webauthn_rs::prelude::CreationChallengeResponse;
use webauthn_rs::{Webauthn, WebauthnBuilder};

use super::CHALLENGE_SECONDS;
use base::config::PublicUrl;

/// The name that browsers may show beside the URL.
const NAME: &str = "Docket";

/// The relying party for this URL. `None` if browsers support no passkeys for it: they need a host name, and https
/// except on localhost.
pub(super) fn of(public_url: &PublicUrl) -> Option<Webauthn> {
    let origin = Url::parse(public_url.origin()).ok()?;
    let host = origin.domain()?;
    let is_here = host == "localhost" || host.ends_with(".localhost");
    if !public_url.is_https() && !is_here {
        return None;
    }
    let timeout = Duration::from_secs(CHALLENGE_SECONDS.unsigned_abs());
    let built = WebauthnBuilder::new(host, &origin).ok()?.rp_name(NAME).timeout(timeout).build();
    built.inspect_err(|error| tracing::warn!(%error, "no passkeys at this address")).ok()
}

/// The creation options, with a credential that can be used without a username. The library leaves this to the
/// authenticator, and offers the setting only together with attestation.
pub(super) fn discoverable(options: &CreationChallengeResponse) -> Result<Value, serde_json::Error> {
    let mut options = serde_json::to_value(options)?;
    let selection = &mut options["publicKey"]["authenticatorSelection"];
    selection["residentKey"] = Value::from("required");
    selection["requireResidentKey"] = Value::from(true);
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passkeys_need_a_host_name_and_https_or_localhost() {
        let possible = |url: &str| of(&PublicUrl::parse(url).expect("an address")).is_some();
        for url in [
            "https://docket.example",
            "https://docket.example:8443",
            "http://localhost:3000",
            "http://docket.localhost",
        ] {
            assert!(possible(url), "{url}");
        }
        for url in
            ["http://docket.example", "http://127.0.0.1:3000", "https://10.0.0.7", "https://[::1]:3000"]
        {
            assert!(!possible(url), "{url}");
        }
    }
}
