//! Encodes query strings. Pure.

use std::borrow::Cow;
use std::fmt::Write;

use percent_encoding::percent_decode_str;

/// `path` with a query of the `fields` that are not empty.
pub fn with_query(path: &str, fields: &[(&str, &str)]) -> String {
    let mut url = path.to_owned();
    let mut separator = '?';
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        url.push(separator);
        url.push_str(name);
        url.push('=');
        encode(value, &mut url);
        separator = '&';
    }
    url
}

/// `text` as a data URL, for a link that downloads it.
pub fn text_file(text: &str) -> String {
    let mut url = "data:text/plain;charset=utf-8,".to_owned();
    encode(text, &mut url);
    url
}

/// A page's path as part of a URL. What is encoded already stays: the platform reports paths in both forms.
pub fn encoded_path(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    let mut parts = path.split('%');
    encode(parts.next().unwrap_or_default(), &mut encoded);
    for part in parts {
        let is_code = part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        encoded.push_str(if is_code { "%" } else { "%25" });
        encode(part, &mut encoded);
    }
    encoded
}

/// `text` without percent-encoding; unchanged if the result is not UTF-8.
pub fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

/// Percent-encodes everything that has a meaning in a query, except `/`.
fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            into.push(byte as char);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_encoded_once() {
        for (path, encoded) in [
            ("/caf\u{e9}/", "/caf%C3%A9/"),
            ("/caf%C3%a9/x y", "/caf%C3%a9/x%20y"),
            ("/100%_done%", "/100%25_done%25"),
            ("/a,b?c#d", "/a%2Cb%3Fc%23d"),
        ] {
            assert_eq!(encoded_path(path), encoded);
        }
    }

    #[test]
    fn query_omits_empty_fields() {
        assert_eq!(with_query("/p/docs/jobs", &[("status", ""), ("q", "")]), "/p/docs/jobs");
        assert_eq!(with_query("/x", &[("a", ""), ("b", "1"), ("c", "2")]), "/x?b=1&c=2");
    }
}
