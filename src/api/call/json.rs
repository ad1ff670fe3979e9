//! Reads the answers of our own server functions, without saying what is wrong with one: for every type, `serde_json` brings
//! the words for all that can be, and how to read it from an array as well, which was a tenth of the WebAssembly.
//! Must not read what others than Docket wrote, nor numbers that are not whole.

mod parse;

use std::fmt;

use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use self::parse::{Json, parse};

/// It is not JSON, or not that of a `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// The `T` that is written in `text`.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    T::deserialize(parse(text).ok_or(Unreadable)?)
}

impl<'de> Deserializer<'de> for Json {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Natural(number) => visitor.visit_u64(number),
            Self::Negative(number) => visitor.visit_i64(number),
            Self::Text(text) => visitor.visit_string(text),
            list @ Self::List(_) => list.deserialize_seq(visitor),
            fields @ Self::Fields(_) => fields.deserialize_map(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self {
            Self::Null => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self {
            Self::List(values) => visitor.visit_seq(Values(values.into_iter())),
            _ => Err(Unreadable),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self {
            Self::Fields(fields) => visitor.visit_map(Fields { rest: fields.into_iter(), value: None }),
            _ => Err(Unreadable),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        self.deserialize_map(visitor)
    }

    /// Only variants that are a word alone.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        match self {
            Self::Text(word) => {
                let word: StringDeserializer<Unreadable> = word.into_deserializer();
                visitor.visit_enum(word)
            }
            _ => Err(Unreadable),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self {
            Self::Text(text) => visitor.visit_string(text),
            _ => Err(Unreadable),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self {
            Self::Text(word) => visitor.visit_str(&word),
            _ => Err(Unreadable),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self {
            Self::Bool(value) => visitor.visit_bool(value),
            _ => Err(Unreadable),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        match self {
            Self::Natural(number) => visitor.visit_u64(number),
            _ => Err(Unreadable),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str bytes byte_buf unit unit_struct tuple_struct
    }
}

impl<'de> IntoDeserializer<'de, Unreadable> for Json {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

struct Values(std::vec::IntoIter<Json>);

impl<'de> SeqAccess<'de> for Values {
    type Error = Unreadable;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Unreadable> {
        self.0.next().map(|value| seed.deserialize(value)).transpose()
    }
}

struct Fields {
    rest: std::vec::IntoIter<(String, Json)>,
    value: Option<Json>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Unreadable;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Unreadable> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Json::Text(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Unreadable> {
        seed.deserialize(self.value.take().ok_or(Unreadable)?)
    }
}

impl de::Error for Unreadable {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the JSON of what was asked for")
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;
    use crate::error::{AppError, ErrorCode};
    use crate::model::job::JobState;
    use crate::model::time::Timestamp;

    #[derive(Debug, PartialEq, Deserialize)]
    struct All {
        at: Timestamp,
        counts: BTreeMap<JobState, u64>,
        #[serde(default)]
        names: Vec<String>,
        one: Option<u32>,
        pair: (bool, String),
    }

    #[test]
    fn every_shape_of_our_answers_is_read() {
        let text = r#"{"at": "1970-01-01T00:00:01Z", "counts": {"active": 2}, "one": 7, "pair": [true, "a"], "new": [{}]}"#;
        let expected = All {
            at: Timestamp::from_millis(1000),
            counts: BTreeMap::from([(JobState::Active, 2)]),
            names: Vec::new(),
            one: Some(7),
            pair: (true, "a".to_owned()),
        };
        assert_eq!(from_str::<All>(text), Ok(expected));
        assert_eq!(from_str::<All>(text).ok().map(|all| all.one), Some(Some(7)));
        let error = AppError::not_found("Not here.");
        assert_eq!(from_str(r#"{"code":"not_found","message":"Not here."}"#), Ok(error));
        assert_eq!(from_str::<ErrorCode>("\"nothing_of_ours\""), Err(Unreadable));
        assert_eq!(from_str::<()>("null"), Ok(()));
    }

    #[test]
    fn what_is_of_another_shape_is_unreadable() {
        for text in ["[]", "{}", "7", "\"a\"", "null", r#"{"code":"not_found","message":7}"#] {
            assert_eq!(from_str::<AppError>(text), Err(Unreadable), "{text}");
        }
        assert_eq!(from_str::<u32>("4294967296"), Err(Unreadable));
    }
}
