//! The types of inputs. Each decodes exactly what the description of the API, and the schemas of tools, say about it.

use std::borrow::Cow;

use rmcp::schemars::{JsonSchema, Schema as ToolSchema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use model::analytics::choice::{Order, Readers, Sort};
use model::job::JobState;
use model::job_query::NO_CHANGES;
use model::page_path::PATH_MAX_CHARS;
use model::pull_request::PullRequestFilter;
use model::saved_template::NAME_MAX_CHARS;
use model::tag::TAG_MAX_CHARS;
use service::jobs::filter::FIELD_MAX_CHARS;
use service::jobs::waiting::WAIT_MAX;

/// A value whose type says what is valid.
pub(super) trait Value: Sized {
    /// What it is decoded from.
    type Raw: DeserializeOwned;

    /// The value, or why it is none, as the end of a sentence.
    fn of(raw: Self::Raw) -> Result<Self, String>;

    fn schema() -> ObjectBuilder;
}

/// An input that has this value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct In<T>(pub(super) T);

/// A word to search or filter by.
pub(super) type Words = In<Text<FIELD_MAX_CHARS>>;
/// The path of a page.
pub(super) type PagePath = In<Text<PATH_MAX_CHARS>>;
/// A page of a new job: its path or its address, in which letters may be encoded.
pub(super) type WrittenPage = In<Text<10_000>>;
/// A tag of a new job.
pub(super) type TagText = In<Text<TAG_MAX_CHARS>>;
/// The name of a template.
pub(super) type TemplateName = In<Text<NAME_MAX_CHARS>>;
/// A cursor.
pub(super) type CursorText = In<Text<200>>;
/// A state, or `no-changes`.
pub(super) type Status = In<StatusFilter>;
/// Whether there is a pull request, or of which kind.
pub(super) type PullRequests = In<PullRequestChoice>;
/// The order of a table of pages.
pub(super) type PageOrder = In<Order>;
/// Whose views a change is about.
pub(super) type ReadersChoice = In<Readers>;
/// The number of jobs of a page.
pub(super) type JobLimit = In<Number<1, 100, 50>>;
/// The number of jobs in the result of a tool.
pub(super) type ToolLimit = In<Number<1, 100, 20>>;
/// The number of rows of a table.
pub(super) type RowLimit = In<Number<1, 250, 50>>;
/// The number of rows to skip.
pub(super) type Offset = In<Number<0, 1_000_000_000, 0>>;
/// Seconds to wait.
pub(super) type Seconds = In<Number<0, { WAIT_MAX.as_secs() as u32 }, 0>>;
/// Seconds to wait in a call of a tool: clients give up after 60.
pub(super) type ToolSeconds = In<Number<0, 45, 0>>;

/// A text of at most `MAX` characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text<const MAX: usize>(String);

/// A whole number from `MIN` to `MAX`, by default `DEFAULT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number<const MIN: u32, const MAX: u32, const DEFAULT: u32>(u32);

/// A filter by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusFilter {
    Of(JobState),
    NoChanges,
}

/// A filter by pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PullRequestChoice {
    Any(bool),
    Of(PullRequestFilter),
}

/// A value out of a list.
pub(super) trait Choice: Copy {
    /// Those that are valid.
    fn all() -> Vec<Self>;

    /// The name in a request.
    fn name(self) -> Cow<'static, str>;
}

impl<const MAX: usize> Value for Text<MAX> {
    type Raw = String;

    fn of(text: String) -> Result<Self, String> {
        match text.chars().count() <= MAX {
            true => Ok(Self(text)),
            false => Err(format!("it has at most {MAX} characters")),
        }
    }

    fn schema() -> ObjectBuilder {
        ObjectBuilder::new().schema_type(Type::String).max_length(Some(MAX))
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Value for Number<MIN, MAX, DEFAULT> {
    type Raw = u64;

    fn of(number: u64) -> Result<Self, String> {
        let number = u32::try_from(number).ok().filter(|number| (MIN..=MAX).contains(number));
        number.map(Self).ok_or_else(|| format!("it is {MIN} to {MAX}"))
    }

    fn schema() -> ObjectBuilder {
        let number = ObjectBuilder::new().schema_type(Type::Integer);
        number.minimum(Some(MIN)).maximum(Some(MAX)).default(Some(DEFAULT.into()))
    }
}

impl<T: Choice> Value for T {
    type Raw = String;

    fn of(name: String) -> Result<Self, String> {
        let names = || Self::all().into_iter().map(Self::name).collect::<Vec<_>>().join(", ");
        let found = Self::all().into_iter().find(|value| value.name() == name);
        found.ok_or_else(|| format!("it is one of {}", names()))
    }

    fn schema() -> ObjectBuilder {
        let names = Self::all().into_iter().map(|value| value.name().into_owned());
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names))
    }
}

impl Choice for StatusFilter {
    fn all() -> Vec<Self> {
        JobState::ALL.into_iter().map(Self::Of).chain([Self::NoChanges]).collect()
    }

    fn name(self) -> Cow<'static, str> {
        match self {
            Self::Of(state) => state.as_str().into(),
            Self::NoChanges => NO_CHANGES.into(),
        }
    }
}

impl Choice for PullRequestChoice {
    fn all() -> Vec<Self> {
        let kinds = PullRequestFilter::ALL.into_iter().map(Self::Of);
        [Self::Any(true), Self::Any(false)].into_iter().chain(kinds).collect()
    }

    fn name(self) -> Cow<'static, str> {
        match self {
            Self::Any(true) => "yes".into(),
            Self::Any(false) => "no".into(),
            Self::Of(kind) => kind.as_str().into(),
        }
    }
}

impl Choice for Readers {
    fn all() -> Vec<Self> {
        vec![Self::People, Self::Ai, Self::All]
    }

    fn name(self) -> Cow<'static, str> {
        self.as_str().into()
    }
}

/// Without those that compare periods.
impl Choice for Order {
    fn all() -> Vec<Self> {
        let columns = [Sort::Total, Sort::Human, Sort::Ai, Sort::Share, Sort::Path];
        let order = |reversed| columns.map(|by| Self { by, reversed });
        order(false).into_iter().chain(order(true)).collect()
    }

    fn name(self) -> Cow<'static, str> {
        self.to_string().into()
    }
}

impl<'de, T: Value> Deserialize<'de> for In<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::of(T::Raw::deserialize(from)?).map(Self).map_err(D::Error::custom)
    }
}

impl<T: Value> PartialSchema for In<T> {
    fn schema() -> RefOr<Schema> {
        T::schema().into()
    }
}

impl<T: Value> ToSchema for In<T> {}

impl<T: Value> JsonSchema for In<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Input".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> ToolSchema {
        let schema = serde_json::to_value(<Self as PartialSchema>::schema());
        // A schema that permits everything, which no type has.
        schema.ok().and_then(|schema| schema.try_into().ok()).unwrap_or_else(|| true.into())
    }
}

impl<const MAX: usize> From<In<Text<MAX>>> for String {
    fn from(In(Text(text)): In<Text<MAX>>) -> Self {
        text
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> In<Number<MIN, MAX, DEFAULT>> {
    pub(super) const fn get(self) -> u32 {
        self.0.0
    }
}

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> Default for In<Number<MIN, MAX, DEFAULT>> {
    fn default() -> Self {
        Self(Number(DEFAULT))
    }
}

impl From<ToolLimit> for JobLimit {
    fn from(In(Number(number)): ToolLimit) -> Self {
        Self(Number(number))
    }
}

impl<T: Choice> In<T> {
    pub(super) fn name(self) -> String {
        self.0.name().into_owned()
    }
}

/// The texts of a list, whose items are of the type `T`.
pub(super) fn texts<'de, T, D>(from: D) -> Result<Vec<String>, D::Error>
where
    T: Deserialize<'de> + Into<String>,
    D: Deserializer<'de>,
{
    Ok(Vec::<T>::deserialize(from)?.into_iter().map(Into::into).collect())
}

/// An optional text of the type `T`.
pub(super) fn text<'de, T, D>(from: D) -> Result<Option<String>, D::Error>
where
    T: Deserialize<'de> + Into<String>,
    D: Deserializer<'de>,
{
    Ok(Option::<T>::deserialize(from)?.map(Into::into))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn decoded<T: DeserializeOwned>(value: Json) -> Result<T, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    fn enumerated<T: PartialSchema>() -> Vec<String> {
        let schema = serde_json::to_value(T::schema()).unwrap_or_default();
        serde_json::from_value(schema["enum"].clone()).unwrap_or_default()
    }

    /// Every name that a schema has is decoded to a value of this name, and no other text is.
    fn enumerates<T: Choice + std::fmt::Debug>() {
        let names = enumerated::<In<T>>();
        assert!(names.len() > 3, "{names:?}");
        for name in names {
            assert_eq!(decoded::<In<T>>(json!(name)).map(In::name), Ok(name));
        }
        for text in ["", "nonsense", "Total", " yes", "--path", "-"] {
            assert!(decoded::<In<T>>(json!(text)).is_err_and(|error| error.contains("one of")), "{text}");
        }
    }

    #[test]
    fn schema_enumerates_what_is_decoded() {
        enumerates::<StatusFilter>();
        enumerates::<PullRequestChoice>();
        enumerates::<Order>();
        assert!(decoded::<PageOrder>(json!("change")).is_err(), "it needs a compared period");
    }

    #[test]
    fn number_and_text_have_the_bounds_of_their_schema() {
        for (value, number) in [(0, None), (1, Some(1)), (250, Some(250)), (251, None), (u64::MAX, None)] {
            assert_eq!(decoded::<RowLimit>(json!(value)).ok().map(In::get), number);
        }
        for value in [json!(-1), json!(1.5), json!("1"), json!(null)] {
            assert!(decoded::<RowLimit>(value).is_err());
        }
        assert_eq!(RowLimit::default().get(), 50);
        assert_eq!(
            serde_json::to_value(<RowLimit as PartialSchema>::schema()).ok(),
            Some(json!({"type": "integer", "minimum": 1, "maximum": 250, "default": 50}))
        );
        let tag = |length| decoded::<TagText>(json!("é".repeat(length))).map(String::from);
        assert!(tag(TAG_MAX_CHARS).is_ok() && tag(TAG_MAX_CHARS + 1).is_err());
        let schema = serde_json::to_value(<TagText as PartialSchema>::schema()).ok();
        assert_eq!(schema, Some(json!({"type": "string", "maxLength": TAG_MAX_CHARS})));
    }
}
