//! The admin key and its source. Only this module reads its text.

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use super::error::ConfigError;
use super::key::missing;
use super::setting::OptionalSetting;
use super::source::Source;

/// The admin key. It must never reach a page, a log, an error or the database. So it has no `Debug` and no `Display`,
/// and only the code that writes the `Authorization` header calls [`ApiKey::bearer`].
#[derive(Clone)]
pub struct ApiKey(SecretString);

/// The maximum number of the key's first characters that may stay unmasked at the end of a text: a product's prefix
/// such as `mint_`.
const HARMLESS_BEGINNING: usize = 5;

/// The minimum length of the admin key, in characters: a shorter text may occur by chance in what the upstream sends, where the key is masked.
const ADMIN_KEY_MIN: usize = 16;

impl ApiKey {
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("it is empty");
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a key has no spaces, line ends or letters outside ASCII");
        }
        Ok(Self(SecretString::from(text)))
    }

    /// Parses the admin key, which is masked and so may not be short.
    fn parse_admin(text: &str) -> Result<Self, &'static str> {
        let key = Self::parse(text)?;
        if key.length() < ADMIN_KEY_MIN {
            return Err("it has fewer than 16 characters, so it is no complete admin key");
        }
        Ok(key)
    }

    /// Reads the key from a file, without surrounding white space.
    pub fn read(file: &Path) -> Result<Self, String> {
        Self::parse(text_in(file)?.trim()).map_err(str::to_owned)
    }

    /// Reads the admin key from a file, without surrounding white space.
    pub fn read_admin(file: &Path) -> Result<Self, String> {
        Self::parse_admin(text_in(file)?.trim()).map_err(str::to_owned)
    }

    /// The value of an `Authorization` header.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0.expose_secret())
    }

    /// `text` with the key replaced by dots wherever it occurs. A prefix of the key at the end of a truncated text is
    /// replaced too.
    pub fn mask(&self, text: &str) -> String {
        const DOTS: &str = "•••";
        let key = self.0.expose_secret();
        let mut masked = text.replace(key, DOTS);
        let cut = (HARMLESS_BEGINNING + 1..key.len()).rev().find(|length| masked.ends_with(&key[..*length]));
        if let Some(length) = cut {
            masked.truncate(masked.len() - length);
            masked.push_str(DOTS);
        }
        masked
    }

    /// Whether `text` contains the whole key.
    pub fn is_in(&self, text: &str) -> bool {
        text.contains(self.0.expose_secret())
    }

    /// Whether both are the same key.
    pub fn is(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }

    /// The length of the key in bytes.
    pub fn length(&self) -> usize {
        self.0.expose_secret().len()
    }
}

fn text_in(file: &Path) -> Result<String, String> {
    let text = std::fs::read(file).map_err(|error| format!("it cannot be read: {error}"))?;
    String::from_utf8(text).map_err(|_| "it is no text".to_owned())
}

/// The configured key, and the file it was read from, if any.
pub(super) fn api_key(source: &Source) -> Result<(ApiKey, Option<PathBuf>), ConfigError> {
    if let Some(key) = source.raw.api_key.parse(ApiKey::parse_admin)? {
        return Ok((key, None));
    }
    source
        .raw
        .api_key_file
        .parse(|path| {
            let file = PathBuf::from(path);
            let key = ApiKey::read_admin(&file).map_err(|error| format!("{path}: {error}"))?;
            Ok::<_, String>((key, Some(file)))
        })?
        .ok_or_else(|| missing("api_key"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_text_reveals_at_most_the_keys_prefix() {
        let key = ApiKey::parse("mint_abcdefgh").expect("a key");
        assert_eq!(key.mask("a mint_abcdefgh b mint_abcdefgh"), "a ••• b •••");
        assert_eq!(key.mask("nothing of mint_"), "nothing of mint_");
        let text = "key: mint_abcdefgh, again mint_abcdefgh.";
        for end in 0..=text.len() {
            assert!(!key.mask(&text[..end]).contains("mint_a"), "{}", &text[..end]);
        }
    }

    #[test]
    fn short_admin_key_is_refused_and_short_token_is_not() {
        assert!(ApiKey::parse_admin("mint_0123456789").is_err());
        assert!(ApiKey::parse_admin("mint_0123456789a").is_ok());
        assert!(ApiKey::parse("glpat-1").is_ok());
    }
}
