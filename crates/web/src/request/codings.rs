//! Which compressed forms of a stored response a client accepts, by `Accept-Encoding` (RFC 9110, 12.5.3). The crates for this refuse a whole header because of one
//! mistake in it; here, only the part with the mistake does not count.

use std::borrow::Cow;
use std::cmp::Reverse;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;

/// The weight of a coding that is named without one, in thousandths.
const FULL: u16 = 1_000;

/// How a response is compressed. The first one is smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Brotli,
    Gzip,
}

impl Coding {
    /// The name in headers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// The ending of the names of files.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gz",
        }
    }

    /// Whether a client may mean it by `name`.
    fn is_named(self, name: &str) -> bool {
        let old_name = matches!(self, Self::Gzip).then_some("x-gzip");
        [Some(self.name()), old_name].into_iter().flatten().any(|own| name.eq_ignore_ascii_case(own))
    }
}

/// The codings that a client accepts with at least the weight of the plain form, the best one first.
pub fn accepted(request: &HeaderMap) -> Vec<Coding> {
    let lines = request.get_all(ACCEPT_ENCODING).iter();
    let lines: Vec<Cow<'_, str>> = lines.map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
    let named: Vec<_> = lines.iter().flat_map(|line| line.split(',')).map(name_and_weight).collect();
    let weight_of = |is_it: &dyn Fn(&str) -> bool| {
        named.iter().filter(|(name, _)| is_it(name)).map(|(_, weight)| *weight).max()
    };
    let plain = weight_of(&|name| name.eq_ignore_ascii_case("identity")).unwrap_or(0);
    let others = weight_of(&|name| name == "*").unwrap_or(0);
    let mut weighted = [Coding::Brotli, Coding::Gzip]
        .map(|coding| (coding, weight_of(&|name| coding.is_named(name)).unwrap_or(others)));
    // Stable: of two with the same weight, the smaller one remains the first.
    weighted.sort_by_key(|(_, weight)| Reverse(*weight));
    let accepted = weighted.into_iter().filter(|(_, weight)| *weight > 0 && *weight >= plain);
    accepted.map(|(coding, _)| coding).collect()
}

/// A part of the header: a coding and its weight, in thousandths.
fn name_and_weight(part: &str) -> (&str, u16) {
    let mut pieces = part.split(';');
    let name = pieces.next().unwrap_or(part).trim();
    let mut parameters = pieces.map(|piece| piece.split_once('=').unwrap_or((piece, "")));
    let weight = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    // A malformed weight may have been meant as a refusal.
    (name, weight.map_or(FULL, |(_, text)| thousandths(text.trim()).unwrap_or(0)))
}

/// A number from 0 to 1. What is above 0 stays above 0.
fn thousandths(text: &str) -> Option<u16> {
    let is_decimal = text.bytes().all(|letter| letter.is_ascii_digit() || letter == b'.');
    let number = text.parse::<f32>().ok().filter(|number| is_decimal && *number <= 1.0)?;
    Some((number * f32::from(FULL)).ceil() as u16)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn accepted_by(lines: &[&[u8]]) -> String {
        let values = lines.iter().map(|line| HeaderValue::from_bytes(line).expect("a value"));
        let request: HeaderMap = values.map(|value| (ACCEPT_ENCODING, value)).collect();
        accepted(&request).into_iter().map(Coding::name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn accepted_codings_are_those_of_the_header_by_weight() {
        for (header, expected) in [
            ("", ""),
            ("br", "br"),
            ("gzip, deflate, br, zstd", "br gzip"),
            ("gzip", "gzip"),
            ("x-gzip", "gzip"),
            ("X-GZIP;q=0.5", "gzip"),
            ("brotli, gzipped, br-x", ""),
            ("BR;q=0.5", "br"),
            ("gzip;q=1.0, br;q=0.1", "gzip br"),
            ("gzip;q=0.5, br;q=0.5", "br gzip"),
            ("gzip, br;q=0", "gzip"),
            ("br;Q=0", ""),
            ("br;q=0.000", ""),
            ("br ; q = 0", ""),
            ("br\t;\tq\t=\t0.9 , gzip ; q = 1", "gzip br"),
            ("br;q=0.0001", "br"),
            ("br;x=1;q=0", ""),
            ("br;q=0;x=1", ""),
            ("br;x=0", "br"),
            // Malformed.
            ("br;q=-1", ""),
            ("br;q=nan", ""),
            ("br;q=inf", ""),
            ("br;q=1e0", ""),
            ("br;q=+1", ""),
            ("br;q=2", ""),
            ("br;q=", ""),
            ("br;q", ""),
            ("br;q=\"0\"", ""),
            ("br;q=0,5", ""),
            (",,;q=1,;;=,br", "br"),
            // Any other.
            ("*", "br gzip"),
            ("*;q=0", ""),
            ("gzip, *;q=0.5", "gzip br"),
            ("br;q=0, *", "gzip"),
            ("gzip;q=0.5, *;q=0", "gzip"),
            // The plain form.
            ("identity", ""),
            ("identity, gzip", "gzip"),
            ("identity, gzip;q=0.5", ""),
            ("identity;q=0.5, gzip;q=0.2, br;q=0.5", "br"),
            ("identity;q=0", ""),
            ("identity;q=0, *;q=0", ""),
        ] {
            assert_eq!(accepted_by(&[header.as_bytes()]), expected, "{header:?}");
        }
        assert_eq!(accepted_by(&[]), "");
    }

    #[test]
    fn all_lines_count_whatever_bytes_they_have() {
        assert_eq!(accepted_by(&[b"deflate", b"br;q=0.2", b"", b"gzip"]), "gzip br");
        assert_eq!(accepted_by(&[b"br\xff, gzip"]), "gzip");
        assert_eq!(accepted_by(&[b"\xff", b"br", b"\xe4;q=0"]), "br");
        assert_eq!(accepted_by(&[b"br;q=\xff, gzip"]), "gzip");
    }
}
