//! Parses JSON. Valid JSON that `serde_json` rejects is repaired: unpaired surrogates, as in text truncated by
//! JavaScript, and numbers out of range. Invalid UTF-8 is repaired too. All other invalid JSON is rejected.

use serde_json::Value;

/// Parses `body`.
pub(crate) fn json(body: &[u8]) -> Option<Value> {
    serde_json::from_slice(body).ok().or_else(|| serde_json::from_str(&mended(body)).ok())
}

/// `body` with U+FFFD for invalid characters, and with the largest floats for numbers out of range.
fn mended(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut mended = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    let mut in_text = false;
    while let Some(first) = rest.chars().next() {
        let (length, replacement) = match first {
            '\\' if in_text => escape(rest),
            '-' | '0'..='9' if !in_text => number(rest),
            _ => (first.len_utf8(), None),
        };
        in_text ^= first == '"';
        let (token, after) = rest.split_at(length);
        mended.push_str(replacement.unwrap_or(token));
        rest = after;
    }
    mended
}

/// The length of the escape that `text` begins with, and a replacement for an unpaired surrogate.
fn escape(text: &str) -> (usize, Option<&'static str>) {
    match (unit(text), text.get(6..).and_then(unit)) {
        (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, None),
        (Some(0xD800..=0xDFFF), _) => (6, Some("\\ufffd")),
        // The character after the backslash may be a quotation mark, which does not end the string.
        _ => (1 + text[1..].chars().next().map_or(0, char::len_utf8), None),
    }
}

/// The UTF-16 unit of the escape `\uXXXX` that `text` begins with.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// The length of the number that `text` begins with, and a replacement if it is out of range.
fn number(text: &str) -> (usize, Option<&'static str>) {
    let length = text.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(text.len());
    match text[..length].parse() {
        Ok(f64::INFINITY) => (length, Some("1e308")),
        Ok(f64::NEG_INFINITY) => (length, Some("-1e308")),
        _ => (length, None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn valid_json_is_accepted_and_invalid_json_rejected() {
        for (body, expected) in [
            (&br#"{"a":"x\ud83d"}"#[..], Some(json!({"a": "x\u{fffd}"}))),
            (br#""\ude00\ud83d\ude00\ud83d\ud83d!""#, Some(json!("\u{fffd}😀\u{fffd}\u{fffd}!"))),
            (br#"["\"\\ud83d\ud83d\\", 1]"#, Some(json!(["\"\\ud83d\u{fffd}\\", 1]))),
            (b"[1e999, -1E+999, 12]", Some(json!([1e308, -1e308, 12]))),
            (b"[\"1e999\", 1e999]", Some(json!(["1e999", 1e308]))),
            (b"\"a\xffb\"", Some(json!("a\u{fffd}b"))),
            (b"", None),
            (b"\xff", None),
            (b"NaN", None),
            (b"[1e999", None),
            (b"[1e9999e9]", None),
            (b"\"\\ud83\"", None),
            (b"\"\\ud83d", None),
            (b"\"\\", None),
            (b"{}{}", None),
        ] {
            assert_eq!(json(body), expected, "{}", String::from_utf8_lossy(body));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn arbitrary_text_does_not_panic(text in "[\\[\\]{}:,\"\\\\ud83de0-9+.n\u{e9}-]{0,40}") {
            json(text.as_bytes());
        }

        #[test]
        fn valid_json_is_not_changed(text in "\\PC{0,20}", number in any::<f64>()) {
            let body = json!({"text": text, "number": number, "escaped": "\u{7}\"\\"}).to_string();
            prop_assert_eq!(mended(body.as_bytes()), body);
        }
    }
}
