//! Verifies ID tokens (OpenID Connect Core 1.0, section 3.1.3.7). The library `openidconnect` verifies the signature; its own type of claims refuses a
//! token if any claim of the standard has an unexpected form, also one that Docket does not use.

use data_encoding::BASE64URL_NOPAD;
use openidconnect::JsonWebKey;
use openidconnect::core::{CoreJsonWebKey, CoreJwsSigningAlgorithm};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};
use thiserror::Error;

use super::metadata::Metadata;
use model::time::Timestamp;

/// How far the clock of the provider may differ, in seconds.
const CLOCKS_APART: i64 = 60;

/// The maximum length of a token, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// The types in the header of an ID token, if it has one. An access token and a logout token have others.
const ID_TOKEN_TYPES: [&str; 4] = ["jwt", "application/jwt", "jose", "application/jose"];

/// What a token must be for.
pub(super) struct Expected<'a> {
    pub(super) client_id: &'a str,
    pub(super) client_secret: &'a str,
    pub(super) nonce: &'a str,
    pub(super) now: Timestamp,
}

/// Why a token is refused. The text is for the log; it contains nothing of the token.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum Refused {
    #[error("it has no form of a signed token")]
    Form,
    #[error("it has a header that must be understood")]
    CriticalHeader,
    #[error("it is a token of another kind")]
    Kind,
    #[error("its algorithm is none that the metadata of the provider lists")]
    Algorithm,
    #[error("the provider publishes no key for it")]
    NoKey,
    #[error("its signature is wrong")]
    Signature,
    #[error("it is of another issuer")]
    Issuer,
    #[error("it is for another client")]
    Audience,
    #[error("it is for several clients, and not issued to this one")]
    AuthorizedParty,
    #[error("it has expired, or is not valid yet: compare the clocks")]
    Time,
    #[error("its nonce is of another sign-in")]
    Nonce,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    typ: Option<String>,
    kid: Option<String>,
    crit: Option<IgnoredAny>,
}

/// The claims of a valid token.
pub(super) fn verified(
    token: &str,
    metadata: &Metadata,
    expected: &Expected<'_>,
) -> Result<Map<String, Value>, Refused> {
    if token.len() > MAX_BYTES {
        return Err(Refused::Form);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(Refused::Form)?;
    let (header, payload) = signed.split_once('.').ok_or(Refused::Form)?;
    let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).map_err(|_| Refused::Form)?;
    must_be_signed(decoded(header)?, signed.as_bytes(), &signature, metadata, expected.client_secret)?;
    let claims: Map<String, Value> = decoded(payload)?;
    must_be_for(&claims, metadata, expected)?;
    Ok(claims)
}

fn decoded<T: DeserializeOwned>(part: &str) -> Result<T, Refused> {
    let json = BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| Refused::Form)?;
    serde_json::from_slice(&json).map_err(|_| Refused::Form)
}

fn must_be_signed(
    header: Header,
    signed: &[u8],
    signature: &[u8],
    metadata: &Metadata,
    secret: &str,
) -> Result<(), Refused> {
    if header.crit.is_some() {
        return Err(Refused::CriticalHeader);
    }
    if header.typ.is_some_and(|kind| !ID_TOKEN_TYPES.contains(&kind.to_ascii_lowercase().as_str())) {
        return Err(Refused::Kind);
    }
    let algorithm = serde_json::from_value(Value::String(header.alg)).map_err(|_| Refused::Algorithm)?;
    if !metadata.algorithms.contains(&algorithm) {
        return Err(Refused::Algorithm);
    }
    let is_valid = |key: &CoreJsonWebKey| key.verify_signature(&algorithm, signed, signature).is_ok();
    if let Some(bytes) = mac_bytes(&algorithm) {
        // Never a published key: everyone knows those. The library panics at a tag of another length.
        let key = CoreJsonWebKey::new_symmetric(secret.as_bytes().to_vec());
        return (signature.len() == bytes && is_valid(&key)).then_some(()).ok_or(Refused::Signature);
    }
    let mut keys = metadata.keys(header.kid.as_deref()).peekable();
    if keys.peek().is_none() {
        return Err(Refused::NoKey);
    }
    // Without the id of its key, the token may be of a new one.
    let refused = if header.kid.is_none() { Refused::NoKey } else { Refused::Signature };
    keys.any(is_valid).then_some(()).ok_or(refused)
}

/// The length of the tag of a symmetric algorithm.
fn mac_bytes(algorithm: &CoreJwsSigningAlgorithm) -> Option<usize> {
    use CoreJwsSigningAlgorithm::{HmacSha256, HmacSha384, HmacSha512};
    match algorithm {
        HmacSha256 => Some(32),
        HmacSha384 => Some(48),
        HmacSha512 => Some(64),
        _ => None,
    }
}

fn must_be_for(
    claims: &Map<String, Value>,
    metadata: &Metadata,
    expected: &Expected<'_>,
) -> Result<(), Refused> {
    let text = |claim: &str| claims.get(claim).and_then(Value::as_str);
    if text("iss") != Some(&metadata.issuer) {
        return Err(Refused::Issuer);
    }
    must_be_for_client(claims, expected.client_id)?;
    must_be_valid_now(claims, expected.now)?;
    if text("nonce") == Some(expected.nonce) { Ok(()) } else { Err(Refused::Nonce) }
}

/// Other clients may be named beside this one if the token was issued to this one.
fn must_be_for_client(claims: &Map<String, Value>, client_id: &str) -> Result<(), Refused> {
    let audiences = match claims.get("aud") {
        Some(Value::Array(audiences)) => audiences.as_slice(),
        Some(audience) => std::slice::from_ref(audience),
        None => &[],
    };
    if !audiences.iter().any(|audience| audience == client_id) {
        return Err(Refused::Audience);
    }
    match claims.get("azp").filter(|party| !party.is_null()) {
        Some(party) if party != client_id => Err(Refused::AuthorizedParty),
        None if audiences.iter().any(|audience| audience != client_id) => Err(Refused::AuthorizedParty),
        _ => Ok(()),
    }
}

/// A time of another form than a number refuses the token.
fn must_be_valid_now(claims: &Map<String, Value>, now: Timestamp) -> Result<(), Refused> {
    let now = now.as_millis() / 1000;
    let seconds = |claim: &Value| claim.as_f64().map(|seconds| seconds as i64).ok_or(Refused::Time);
    let expires = seconds(claims.get("exp").ok_or(Refused::Time)?)?;
    let begins = claims.get("nbf").map(seconds).transpose()?;
    match expires.saturating_add(CLOCKS_APART) <= now || begins.is_some_and(|at| at > now + CLOCKS_APART) {
        true => Err(Refused::Time),
        false => Ok(()),
    }
}
