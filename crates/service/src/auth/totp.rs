//! Time-based one-time codes (RFC 6238): six digits, steps of 30 seconds, SHA-1, as every authenticator supports. Pure.

use data_encoding::BASE32_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

use model::time::Timestamp;

/// How long a code is current, in seconds.
const STEP_SECONDS: i64 = 30;
/// Digits of a code.
pub(super) const DIGITS: usize = 6;
/// How many steps a person's clock may be behind or ahead.
const DRIFT: i64 = 1;

/// A new secret of 160 bits, in base32.
pub(super) fn new_secret() -> String {
    BASE32_NOPAD.encode(&rand::random::<[u8; 20]>())
}

/// The time step at which `code` is the code of `secret`, if it is within the allowed drift of now.
pub(super) fn step_of(secret: &str, code: &str, now: Timestamp) -> Option<i64> {
    let now = now.as_millis().div_euclid(STEP_SECONDS * 1000);
    // All are compared in full, for constant time.
    let near = now - DRIFT..=now + DRIFT;
    let is_same = |step| self::code(secret, step).is_some_and(|right| same(&right, code));
    near.fold(None, |found, step| if is_same(step) { Some(step) } else { found })
}

/// The code that an authenticator shows; `None` if the secret is not in base32.
pub fn code_at(secret: &str, now: Timestamp) -> Option<String> {
    code(secret, now.as_millis().div_euclid(STEP_SECONDS * 1000))
}

/// The `otpauth:` URL that an authenticator reads: the secret, the issuer and the account.
pub(super) fn url(secret: &str, issuer: &str, person: &str) -> String {
    let [issuer, person] = [issuer, person].map(|text| {
        let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        encoded.replace('+', "%20")
    });
    format!("otpauth://totp/{issuer}:{person}?secret={secret}&issuer={issuer}")
}

/// The product and the host of its URL, so that authenticators show two installations separately. A colon would end the
/// issuer in the label, so the port is omitted.
pub(super) fn issuer(origin: &str) -> String {
    let host = url::Url::parse(origin).ok().and_then(|url| url.host_str().map(str::to_owned));
    match host {
        Some(host) => format!("Docket ({})", host.replace(':', "-")),
        None => "Docket".to_owned(),
    }
}

/// `None` if the stored secret is not in base32: then no code is right.
fn code(secret: &str, step: i64) -> Option<String> {
    let key = BASE32_NOPAD.decode(secret.as_bytes()).ok().filter(|key| !key.is_empty())?;
    code_of_key(&key, step)
}

/// Always `Some`, because HMAC accepts keys of any length.
fn code_of_key(key: &[u8], step: i64) -> Option<String> {
    let mut mac = Hmac::<Sha1>::new_from_slice(key).ok()?;
    mac.update(&step.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let at = usize::from(digest[digest.len() - 1] & 0xf);
    let number = u32::from_be_bytes([digest[at], digest[at + 1], digest[at + 2], digest[at + 3]]);
    Some(format!("{:06}", (number & 0x7fff_ffff) % 1_000_000))
}

fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |odd, (a, b)| odd | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of the RFC's examples, `12345678901234567890`.
    const SECRET: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn codes_match_the_examples_of_the_rfc() {
        // The last six of the eight digits in its appendix B.
        for (seconds, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(code(SECRET, seconds / 30).as_deref(), Some(expected), "{seconds}");
            assert_eq!(step_of(SECRET, expected, at(seconds)), Some(seconds / 30));
        }
    }

    #[test]
    fn code_is_valid_within_one_step_of_drift() {
        for (seconds, good) in [(-31, false), (-30, true), (0, true), (30, true), (59, true), (60, false)] {
            let found = step_of(SECRET, "081804", at(1_111_111_080 + seconds));
            assert_eq!(found.is_some(), good, "{seconds}");
        }
        for odd in ["", "08180", "0818044", "O81804", "081804 "] {
            assert_eq!(step_of(SECRET, odd, at(1_111_111_109)), None, "{odd:?}");
        }
    }

    #[test]
    fn secret_that_is_not_base32_has_no_right_code() {
        let of_empty_key = code_of_key(&[], 1).expect("a code");
        for secret in ["", "not base32", "1", "ABC=", "gezdgnbv"] {
            assert_eq!(step_of(secret, &of_empty_key, at_step(1)), None, "{secret}");
            assert_eq!(step_of(secret, "", at_step(1)), None, "{secret}");
        }
    }

    fn at_step(step: i64) -> Timestamp {
        at(step * STEP_SECONDS)
    }

    #[test]
    fn secrets_are_random_and_long() {
        let (one, other) = (new_secret(), new_secret());
        assert!(one != other && one.len() == 32);
    }

    #[test]
    fn otpauth_url_names_issuer_and_account() {
        assert_eq!(
            url("ABC", &issuer("https://docket.example:3000"), "Ada & co"),
            "otpauth://totp/Docket%20%28docket.example%29:Ada%20%26%20co?secret=ABC&issuer=Docket%20%28docket.example%29"
        );
        assert_eq!(issuer("http://[::1]:3000"), "Docket ([--1])");
    }
}
