//! The relying party: the public address, for which browsers keep passkeys. Pure.

use std::time::Duration;

use serde_json::Value;
use url::Url;
use webauthn_rs::prelude::CreationChallengeResponse;
use webauthn_rs::{Webauthn, WebauthnBuilder};

use super::CHALLENGE_SECONDS;
use crate::server::config::PublicUrl;

/// The name that browsers may show beside the address.
const NAME: &str = "Docket";

/// The relying party of this address; `None` if browsers have no passkeys for it: they need a host name, and https except for
/// this machine.
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

/// What the browser is asked for, with a credential that is found without a username. The library leaves that to the
/// authenticator, and offers it only together with attestation.
pub(super) fn discoverable(asked: &CreationChallengeResponse) -> Result<Value, serde_json::Error> {
    let mut asked = serde_json::to_value(asked)?;
    let selection = &mut asked["publicKey"]["authenticatorSelection"];
    selection["residentKey"] = Value::from("required");
    selection["requireResidentKey"] = Value::from(true);
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passkeys_need_a_host_name_and_https_or_this_machine() {
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
