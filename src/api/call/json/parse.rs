//! JSON as a tree of what stands in it. Numbers are whole.

/// How deep values may lie in each other; ours lie a few deep.
const DEEPEST: usize = 32;

#[derive(Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Natural(u64),
    Negative(i64),
    Text(String),
    List(Vec<Json>),
    Fields(Vec<(String, Json)>),
}

/// The value that is written in `text`, with nothing behind it.
pub(super) fn parse(text: &str) -> Option<Json> {
    let mut reader = Reader { rest: text };
    let json = reader.value(DEEPEST)?;
    reader.skip_spaces();
    reader.rest.is_empty().then_some(json)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self, deeper: usize) -> Option<Json> {
        self.skip_spaces();
        let deeper = deeper.checked_sub(1)?;
        match self.rest.as_bytes().first()? {
            b'n' => self.takes("null").then_some(Json::Null),
            b't' => self.takes("true").then_some(Json::Bool(true)),
            b'f' => self.takes("false").then_some(Json::Bool(false)),
            b'"' => self.text().map(Json::Text),
            b'[' => self.each(']', |reader| reader.value(deeper)).map(Json::List),
            b'{' => self.each('}', |reader| reader.field(deeper)).map(Json::Fields),
            _ => self.number(),
        }
    }

    /// What stands between an opening bracket and `end`.
    fn each<T>(&mut self, end: char, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.next()?;
        let mut all = Vec::new();
        if self.takes_sign(end) {
            return Some(all);
        }
        loop {
            all.push(one(self)?);
            if self.takes_sign(end) {
                return Some(all);
            }
            if !self.takes_sign(',') {
                return None;
            }
        }
    }

    fn field(&mut self, deeper: usize) -> Option<(String, Json)> {
        self.skip_spaces();
        let name = self.text()?;
        let value = if self.takes_sign(':') { self.value(deeper)? } else { return None };
        Some((name, value))
    }

    fn text(&mut self) -> Option<String> {
        if self.next()? != '"' {
            return None;
        }
        let mut text = String::new();
        loop {
            // All that stands for itself is taken at once.
            let plain = self.rest.find(['"', '\\'])?;
            text.push_str(&self.rest[..plain]);
            self.rest = &self.rest[plain..];
            match self.next()? {
                '"' => return Some(text),
                _ => text.push(self.escaped()?),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let high = self.hexadecimal()?;
                let low = if (0xd800..0xdc00).contains(&high) && self.takes("\\u") {
                    self.hexadecimal()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?
                } else {
                    return char::from_u32(high);
                };
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?
            }
            itself @ ('"' | '\\' | '/') => itself,
            _ => return None,
        })
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4)?;
        self.rest = &self.rest[4..];
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Option<Json> {
        let ends = |sign: char| !sign.is_ascii_digit() && sign != '-';
        let (number, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
        self.rest = rest;
        match number.parse() {
            Ok(natural) => Some(Json::Natural(natural)),
            Err(_) => number.parse().ok().map(Json::Negative),
        }
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let next = letters.next();
        self.rest = letters.as_str();
        next
    }

    /// Whether `sign` comes next, after spaces; it is passed then.
    fn takes_sign(&mut self, sign: char) -> bool {
        self.skip_spaces();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn takes(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn plain(json: Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Bool(value) => value.into(),
            Json::Natural(number) => number.into(),
            Json::Negative(number) => number.into(),
            Json::Text(text) => text.into(),
            Json::List(values) => values.into_iter().map(plain).collect(),
            Json::Fields(fields) => fields.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..8)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_reads_what_serde_json_writes(value in values(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            prop_assert_eq!(parse(&text).map(plain), Some(value));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}\",:\\\\ud8c0-9a-f é-]{0,40}") {
            let ours = parse(&text).map(plain);
            if let Some(value) = ours {
                let theirs = serde_json::from_str::<Value>(&text).ok();
                prop_assert!(theirs.is_none_or(|theirs| theirs == value), "{}", text);
            }
        }
    }

    #[test]
    fn escapes_of_every_kind_are_understood() {
        let text = r#" "\"\\\/\b\f\n\r\t\u00e9\ud83e\udd80" "#;
        assert_eq!(parse(text), Some(Json::Text("\"\\/\u{8}\u{c}\n\r\té🦀".to_owned())));
    }

    #[test]
    fn what_breaks_off_or_goes_on_is_nothing() {
        for text in
            ["", "[1", "[1,]", "{\"a\"}", "\"a", "\"\\", "\"\\ud83e\"", "1 2", "1.5", "nul", "[[", "-"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)), None);
    }
}
