//! Identifiers, validated when they are parsed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The text is not a valid identifier of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidId(&'static str);

impl std::error::Error for InvalidId {}

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Parses the id of a form field; `None` if the field is missing or empty.
pub fn optional<T: FromStr<Err = InvalidId>>(text: Option<&str>) -> Result<Option<T>, InvalidId> {
    text.filter(|text| !text.is_empty()).map(str::parse).transpose()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $valid:expr, $error:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let valid: fn(&str) -> bool = $valid;
                valid(text).then(|| Self(text.to_owned())).ok_or(InvalidId($error))
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A configured project of the upstream: 1 to 64 of letters, digits, `-`, `_`.
    ProjectId,
    |text| is_token(text, 64),
    "A project id is 1 to 64 letters, digits, - or _."
);
id!(
    /// Docket's own id of a job: a UUID of version 7, so that ids sort by time.
    JobId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid job id."
);
id!(
    /// Docket's own id of a prompt and its delivery: a UUID of version 7.
    MessageId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid prompt id."
);
id!(
    /// Docket's own id of a batch: a UUID of version 7.
    BatchId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid batch id."
);
id!(
    /// The upstream's id of a job, as typed by a person. It cannot contain characters that change a request's path.
    RemoteId,
    is_remote_id,
    "Docket accepts a platform id of 1 to 200 characters, without spaces, control characters, /, \\, %, ? or #."
);
id!(
    /// Docket's own id of a saved template.
    TemplateId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid template id."
);
id!(
    /// Docket's own id of a person: a UUID of version 7.
    PersonId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid person id."
);
id!(
    /// A session's public id: the stored hash of the session's id, 43 characters.
    SessionId,
    |text| text.len() == 43 && is_token(text, 43),
    "That is not a valid session id."
);
id!(
    /// Docket's own id of a saved view.
    SavedViewId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid saved view id."
);
id!(
    /// Docket's own id of a passkey.
    PasskeyId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid passkey id."
);
id!(
    /// Docket's own id of an API token.
    ApiTokenId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid token id."
);
id!(
    /// Docket's own id of an annotation.
    AnnotationId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid note id."
);
id!(
    /// A prefilled form for a new job. Each has its own draft; the form that is not prefilled has no key.
    FormKey,
    |text| is_token(text, 36),
    "The key of a form is 1 to 36 letters, digits, - or _."
);
id!(
    /// The id of a rendered form, or the idempotency key of a script: a prompt is delivered at most once per intent.
    IntentId,
    |text| is_token(text, 64),
    "An idempotency key is 1 to 64 letters, digits, - or _."
);

id!(
    /// The id of a webhook, or of an event for one: a UUID of version 7.
    WebhookId,
    |text| text.len() == 36 && is_token(text, 36),
    "That is not a valid id of a webhook or one of its events."
);

fn is_token(text: &str, longest: usize) -> bool {
    (1..=longest).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn is_remote_id(text: &str) -> bool {
    let plain = |c: char| !c.is_control() && !c.is_whitespace() && !"/\\%?#\u{fffd}".contains(c);
    (1..=200).contains(&text.chars().count()) && text.chars().all(plain) && text != "." && text != ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_could_change_a_url_is_not_an_id() {
        for text in ["", "../x", "a/b", "a%2eb", "a?b", "a\r\nb", "a\0b", "a b", "é", &"a".repeat(10_000)] {
            assert!(text.parse::<ProjectId>().is_err(), "{text:?}");
            assert!(text.parse::<JobId>().is_err(), "{text:?}");
            assert!(text.parse::<TemplateId>().is_err(), "{text:?}");
            assert!(text.parse::<IntentId>().is_err(), "{text:?}");
            assert!(text.parse::<WebhookId>().is_err(), "{text:?}");
        }
        for text in
            ["", ".", "..", "a/b", "a\\b", "a%2eb", "a?b", "a#b", "a\r\nb", "a\0b", "a b", &"a".repeat(201)]
        {
            assert!(text.parse::<RemoteId>().is_err(), "{text:?}");
        }
        for text in ["job_1", "0", "...", "é:@~", &"a".repeat(200)] {
            assert!(text.parse::<RemoteId>().is_ok(), "{text:?}");
        }
    }
}
