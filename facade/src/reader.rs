//! A serde deserializer for values of `JSON.parse`. Supports the types of this project: numbers, strings, lists, structs, and enums of unit and
//! struct variants. Errors have no details, because serde's messages would add number formatting code.

use std::fmt;

use real::wasm_bindgen::{JsCast, JsValue};
use real::web_sys::js_sys::{Array, JSON, Object, Reflect};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// The text is not JSON, or not JSON of the requested type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unreadable")
    }
}

impl std::error::Error for Unreadable {}

impl de::Error for Unreadable {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn invalid_value(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }

    fn invalid_length(_: usize, _: &dyn de::Expected) -> Self {
        Self
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn missing_field(_: &'static str) -> Self {
        Self
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}

/// A value of `JSON.parse`.
pub(crate) struct Reader(JsValue);

impl Reader {
    pub(crate) fn of(text: &str) -> Result<Self, Unreadable> {
        JSON::parse(text).map(Self).map_err(|_| Unreadable)
    }

    fn is_nothing(&self) -> bool {
        self.0.is_null() || self.0.is_undefined()
    }
}

impl<'de> Deserializer<'de> for Reader {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if let Some(text) = self.0.as_string() {
            visitor.visit_string(text)
        } else if let Some(number) = self.0.as_f64() {
            // JavaScript numbers are exact for integers up to 2^53.
            match number as i64 {
                whole if whole as f64 != number => visitor.visit_f64(number),
                whole if whole < 0 => visitor.visit_i64(whole),
                whole => visitor.visit_u64(whole as u64),
            }
        } else if let Some(truth) = self.0.as_bool() {
            visitor.visit_bool(truth)
        } else if let Some(list) = self.0.dyn_ref::<Array>() {
            visitor.visit_seq(List { list: list.clone(), at: 0 })
        } else if self.is_nothing() {
            visitor.visit_unit()
        } else {
            Err(Unreadable)
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        if self.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(Fields { of: self.0, left: fields })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        if let Some(name) = self.0.as_string() {
            return visitor.visit_enum(name.into_deserializer());
        }
        let object = self.0.dyn_ref::<Object>().ok_or(Unreadable)?;
        let name = Object::keys(object).get(0).as_string().ok_or(Unreadable)?;
        let content = Reflect::get(&self.0, &JsValue::from_str(&name)).map_err(|_| Unreadable)?;
        visitor.visit_enum(Variant { name, content })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unreadable> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        identifier
    }
}

/// Iterates over a list.
struct List {
    list: Array,
    at: u32,
}

impl<'de> SeqAccess<'de> for List {
    type Error = Unreadable;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unreadable> {
        if self.at >= self.list.length() {
            return Ok(None);
        }
        let value = self.list.get(self.at);
        self.at += 1;
        seed.deserialize(Reader(value)).map(Some)
    }
}

/// Iterates over an object's fields in the order of the struct.
struct Fields {
    of: JsValue,
    left: &'static [&'static str],
}

impl<'de> SeqAccess<'de> for Fields {
    type Error = Unreadable;

    /// `None` for a missing field: serde then uses its default or fails.
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unreadable> {
        match self.next() {
            Some(value) => seed.deserialize(Reader(value)).map(Some),
            None => Ok(None),
        }
    }
}

impl Fields {
    fn next(&mut self) -> Option<JsValue> {
        let (name, left) = self.left.split_first()?;
        self.left = left;
        let value = Reflect::get(&self.of, &JsValue::from_str(name)).ok()?;
        (!value.is_undefined()).then_some(value)
    }
}

/// A variant of an enum with its content: an object with the variant's name as its only key.
struct Variant {
    name: String,
    content: JsValue,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Unreadable;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Unreadable> {
        let name: de::value::StrDeserializer<'_, Unreadable> = self.name.as_str().into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant {
    type Error = Unreadable;

    fn unit_variant(self) -> Result<(), Unreadable> {
        Err(Unreadable)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Unreadable> {
        seed.deserialize(Reader(self.content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Unreadable> {
        Err(Unreadable)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unreadable> {
        visitor.visit_seq(Fields { of: self.content, left: fields })
    }
}
