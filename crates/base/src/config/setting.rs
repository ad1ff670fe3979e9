//! One setting: a text, and the functions that parse it.

use std::borrow::Cow;
use std::fmt::Display;

use secrecy::SecretString;
use serde::Deserialize;

use super::error::ConfigError;

/// A value as text: from the file or the environment, or the default.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Setting {
    /// `place` and `example` are for errors.
    Set {
        text: String,
        place: String,
        example: String,
    },
    DefaultText(String),
    DefaultNumber(u32),
    DefaultSwitch(bool),
}

impl Setting {
    pub(super) fn is_set(&self) -> bool {
        matches!(self, Self::Set { .. })
    }

    pub(super) fn parse<T, E: Display>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        parse(self.text().trim()).map_err(|error| {
            ConfigError(match self {
                Self::Set { place, example, .. } => {
                    format!("{place} is wrong: {error}. An example: {example}")
                }
                default => format!("the default “{}” is wrong: {error}", default.text()),
            })
        })
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Set { text, .. } | Self::DefaultText(text) => text.into(),
            Self::DefaultNumber(number) => number.to_string().into(),
            Self::DefaultSwitch(switch) => switch.to_string().into(),
        }
    }
}

/// A setting without a default.
pub(super) trait OptionalSetting {
    /// The parsed value, or `None` if it is not set.
    fn parse<T, E: Display>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, ConfigError>;
}

impl OptionalSetting for Option<Setting> {
    fn parse<T, E: Display>(
        &self,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, ConfigError> {
        self.as_ref().map(|setting| setting.parse(parse)).transpose()
    }
}

/// A whole number of at least `least`.
pub(super) fn whole_number(least: u32) -> impl Fn(&str) -> Result<u32, String> {
    move |text| {
        text.parse()
            .ok()
            .filter(|number| *number >= least)
            .ok_or_else(|| format!("“{text}” is not a whole number of at least {least}"))
    }
}

/// A whole number from `least` to `most`.
pub(super) fn number_between(least: u32, most: u32) -> impl Fn(&str) -> Result<u32, String> {
    move |text| {
        text.parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("“{text}” is not a whole number from {least} to {most}"))
    }
}

/// `true` or `false`.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("“{text}” is neither true nor false"))
}

/// Parses a secret, which must not appear in errors.
pub(super) fn secret(text: &str) -> Result<SecretString, &'static str> {
    if text.is_empty() { Err("it is empty") } else { Ok(SecretString::from(text)) }
}

/// Reads a secret from a file, without surrounding white space.
pub(super) fn secret_in_file(path: &str) -> Result<SecretString, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
    secret(text.trim()).map_err(str::to_owned)
}
