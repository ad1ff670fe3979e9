//! The text of an API token: `dkt_`, 32 random characters, and a checksum of them. Only its hash is stored.

use std::str::FromStr;

use rand::distr::{Alphanumeric, SampleString};
use secrecy::{ExposeSecret, SecretString};

use super::token;
use model::ParseError;

const PREFIX: &str = "dkt_";

/// The number of random characters: 190 bits.
const RANDOM_CHARS: usize = 32;

/// The number of characters of the checksum, CRC-32 in base 62.
const CHECKSUM_CHARS: usize = 6;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A token with a right checksum. `Debug` omits it.
#[derive(Debug, Clone)]
pub struct TokenText(SecretString);

impl TokenText {
    /// A new random token.
    pub fn random() -> Self {
        let random = Alphanumeric.sample_string(&mut rand::rng(), RANDOM_CHARS);
        Self(SecretString::from(format!("{PREFIX}{random}{}", checksum(&random))))
    }

    /// The token itself, to show it once.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// The stored hash.
    pub fn hash(&self) -> String {
        token::hash(self.expose())
    }

    /// The last four characters, which are a part of the checksum.
    pub fn last_four(&self) -> &str {
        let text = self.expose();
        &text[text.len() - 4..]
    }
}

impl FromStr for TokenText {
    type Err = ParseError;

    /// Needs no database, so that mistyped and invented tokens cost nothing.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let is_right = text.strip_prefix(PREFIX).is_some_and(|rest| {
            rest.len() == RANDOM_CHARS + CHECKSUM_CHARS
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && checksum(&rest[..RANDOM_CHARS]) == rest[RANDOM_CHARS..]
        });
        if is_right {
            Ok(Self(SecretString::from(text)))
        } else {
            Err("This is not an API token of Docket.".into())
        }
    }
}

/// The CRC-32 of `text` in base 62, the most significant digit first.
fn checksum(text: &str) -> String {
    let mut number = crc32fast::hash(text.as_bytes()) as usize;
    let mut digits = [b'0'; CHECKSUM_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[number % DIGITS.len()];
        number /= DIGITS.len();
    }
    digits.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_token_has_the_documented_form() {
        let token = TokenText::random();
        let rest = token.expose().strip_prefix("dkt_").unwrap_or_default();
        assert_eq!(rest.len(), 38);
        assert!(rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert!(token.expose().ends_with(token.last_four()) && token.last_four().len() == 4);
        assert_ne!(token.expose(), TokenText::random().expose());
        assert_eq!(token.expose().parse::<TokenText>().map(|parsed| parsed.hash()), Ok(token.hash()));
    }

    /// As documented for secret scanners: 0xCBF43926 is the check value of CRC-32.
    #[test]
    fn checksum_is_crc_32_in_base_62() {
        assert_eq!(checksum("123456789"), "3jZRME");
        assert_eq!(checksum(""), "000000");
    }

    #[test]
    fn token_with_a_wrong_checksum_is_refused() {
        let token = TokenText::random();
        let text = token.expose();
        for at in 4..text.len() {
            let other = if &text[at..=at] == "a" { "b" } else { "a" };
            let wrong = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            assert!(wrong.parse::<TokenText>().is_err(), "{at}");
        }
        for wrong in ["", "dkt_", "dkt", &text[4..], &text[..41], &format!("{text}0"), &format!(" {text}")] {
            assert!(wrong.parse::<TokenText>().is_err());
        }
        assert!(text.replacen("dkt_", "DKT_", 1).parse::<TokenText>().is_err());
        assert!(format!("dkt_{}", "é".repeat(19)).parse::<TokenText>().is_err());
    }

    #[test]
    fn debug_output_omits_the_token() {
        let token = TokenText::random();
        assert!(!format!("{token:?}").contains(&token.expose()[4..]));
    }
}
