//! The inputs of the JSON API: fields of the address, JSON bodies and the idempotency key. Each mistake is a `Problem`.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::extract::{Extension, FromRequest, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use tokio::time::timeout;
use url::form_urlencoded;
use utoipa::IntoParams;

use crate::auth::bearer::TokenCaller;
use crate::http::layers::bodies;
use crate::request::problem::Problem;
use crate::state::AppState;
use model::error::{AppError, ErrorCode};
use model::id::IntentId;

/// In UTF-8. Some programs on Windows write it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// How long a client may take to send a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// The fields of the address. A field that is unknown or has an invalid value is refused.
pub(super) struct Fields<T>(pub(super) T);

/// A body in JSON. A field that is unknown or has a wrong type is refused.
pub(super) struct Body<T>(pub(super) T);

/// The header `Idempotency-Key`.
#[derive(IntoParams)]
#[into_params(names("Idempotency-Key"), parameter_in = Header)]
pub(super) struct IdempotencyKey(
    /// Requests with the same key have one effect.
    #[param(value_type = String, pattern = "^[A-Za-z0-9_-]{1,64}$", min_length = 1, max_length = 64)]
    pub(super) IntentId,
);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Fields<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let fields = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
        decoded(fields, "The fields of the address are not valid").map(Self)
    }
}

impl<T: DeserializeOwned> FromRequest<AppState> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        must_be_json(request.headers())?;
        // The layer of all endpoints has received it.
        let whole = whole(request.into_body(), most_bytes(state), PATIENCE).await?;
        let text = str::from_utf8(&whole).map_err(|_| invalid("The body is not UTF-8."))?;
        let mut body = serde_json::Deserializer::from_str(text);
        let Object(decoded) = decoded(&mut body, "The body is not valid")?;
        body.end().map_err(|error| invalid(format!("The body is not valid: {error}.")))?;
        Ok(Self(decoded))
    }
}

/// A struct that is decoded from an object only. Without it, `serde` takes a list, too, whose items are the fields in the order of the source.
#[derive(Debug, Default)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(OfFields(PhantomData))
    }
}

struct OfFields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OfFields<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
    }
}

/// The optional object of a field.
pub(super) fn object<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::<Object<T>>::deserialize(from)?.map(|Object(fields)| fields))
}

/// A request without a body, or with an empty object. A field is refused, as everywhere.
pub(super) struct NoBody;

/// No fields, of an address or of a body.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoFields {}

impl FromRequest<AppState> for NoBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        if request.body().is_end_stream() {
            return Ok(Self);
        }
        let Body(NoFields {}) = Body::from_request(request, state).await?;
        Ok(Self)
    }
}

/// Decodes an input. The problem begins with `what`, and names the field that is not valid.
pub(super) fn decoded<'de, T, D>(input: D, what: &str) -> Result<T, Problem>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
    D::Error: std::fmt::Display,
{
    serde_path_to_error::deserialize(input).map_err(|error| {
        let (path, reason) = (error.path().to_string(), error.inner().to_string());
        let problem = invalid(format!("{what}: {}.", in_words(&reason)));
        match field_of(&path, &reason) {
            Some(field) => problem.about(&field),
            None => problem,
        }
    })
}

/// What `serde` says about JSON, and what the author of a client says.
const WORDS: [(&str, &str); 10] = [
    ("invalid digit found in string", "it is not a whole number"),
    ("cannot parse integer from empty string", "it is not a whole number"),
    ("number too large to fit in target type", "it is too large"),
    ("number too small to fit in target type", "it is too small"),
    ("a sequence", "a list"),
    ("sequence", "a list"),
    ("a map", "an object"),
    ("map", "an object"),
    ("u64", "a whole number"),
    ("u32", "a whole number"),
];

/// The reason of an error of decoding, without the words of Rust and without the period at its end.
fn in_words(reason: &str) -> String {
    let reason = reason.trim_end_matches('.');
    let (what, place) = reason.split_at(reason.find(" at line ").unwrap_or(reason.len()));
    let said = match what.strip_prefix("invalid type: ").and_then(|of| of.split_once(", expected ")) {
        Some((got, expected)) => format!("invalid type: {}, expected {}", word(got), word(expected)),
        None => word(what).to_owned(),
    };
    format!("{said}{place}")
}

fn word(text: &str) -> &str {
    WORDS.iter().find(|(word, _)| *word == text).map_or(text, |(_, words)| words)
}

/// The field that an error of decoding is about. The path of a field that is missing or repeated is that of its object; `?` is that of an input that
/// cannot be read at all.
fn field_of(path: &str, reason: &str) -> Option<String> {
    let object = if matches!(path, "." | "?") { "" } else { path };
    let of_object = ["missing field `", "duplicate field `"];
    let name = of_object.iter().find_map(|start| reason.strip_prefix(start)?.split('`').next());
    match (object, name) {
        ("", name) => name.map(str::to_owned),
        (object, Some(name)) => Some(format!("{object}.{name}")),
        (field, None) => Some(field.to_owned()),
    }
}

/// The layer of all endpoints that need a token, inside of the check of the token: they get a body when it is complete, and only if the token is
/// still valid then. A byte order mark before JSON is removed.
pub(super) async fn whole_body(
    State(state): State<AppState>,
    Extension(caller): Extension<TokenCaller>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    if body.is_end_stream() {
        return Ok(next.run(Request::from_parts(parts, body)).await);
    }
    if bodies::is_encoded(&parts.headers) {
        let detail = "Send the body without compression: no Content-Encoding is accepted.";
        return Err(Problem::new(ErrorCode::UnsupportedMediaType, detail));
    }
    let mut body = Bytes::from(whole(body, most_bytes(&state), PATIENCE).await?);
    caller.must_still_be_valid().await?;
    if body.starts_with(BYTE_ORDER_MARK) {
        body = body.slice(BYTE_ORDER_MARK.len()..);
    }
    Ok(next.run(Request::from_parts(parts, body.into())).await)
}

/// The maximum size of a body. It may contain a prompt.
fn most_bytes(state: &AppState) -> usize {
    bodies::with_prompt(state.settings().prompt_max)
}

/// The complete body, of at most `most` bytes, if it arrives in time.
async fn whole(body: axum::body::Body, most: usize, patience: Duration) -> Result<Vec<u8>, Problem> {
    let size = body.size_hint().exact();
    let whole = timeout(patience, bodies::read(body, size, most)).await.map_err(|_| {
        let detail = "The request took too long to arrive. Send it again.";
        Problem::new(ErrorCode::TooSlow, detail)
    })?;
    let whole = whole.map_err(|_| invalid("The request was interrupted. Send it again."))?;
    whole.ok_or_else(|| {
        let detail = format!("The body is too large: the limit is {} KiB.", most / 1024);
        Problem::new(ErrorCode::TooLarge, detail)
    })
}

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut keys = parts.headers.get_all("idempotency-key").iter();
        match (keys.next().map(|key| key.to_str()), keys.next()) {
            // The standard writes it in quotes.
            (Some(Ok(key)), None) => key.trim().trim_matches('"').parse().map(Self).map_err(invalid),
            (Some(Err(_)), None) => Err(invalid("A key is 1 to 64 letters, digits, - or _, without accents.")),
            _ => Err(Problem::new(
                ErrorCode::IdempotencyKeyRequired,
                "The header Idempotency-Key is required once: 1 to 64 letters, digits, - or _. A retry must have the same key.",
            )),
        }
        .map_err(|problem| problem.about("Idempotency-Key"))
    }
}

/// Whether the body is JSON, according to its header.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()?.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The media ranges that contain JSON, the most specific one first.
const RANGES_OF_JSON: [&str; 3] = ["application/json", "application/*", "*/*"];

/// Whether a client accepts JSON. Without a header, it accepts everything.
pub(super) fn accepts_json(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accepted = values.collect::<Vec<_>>().join(",").to_ascii_lowercase();
    let ranges: Vec<(&str, f32)> = accepted.split(',').filter_map(range_and_weight).collect();
    let weight = |wanted: &&str| ranges.iter().find(|(range, _)| range == wanted).map(|(_, weight)| *weight);
    ranges.is_empty() || RANGES_OF_JSON.iter().find_map(weight).is_some_and(|weight| weight > 0.0)
}

fn range_and_weight(text: &str) -> Option<(&str, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?;
    let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
    Some((range, weight.unwrap_or(1.0)))
}

fn must_be_json(headers: &HeaderMap) -> Result<(), Problem> {
    if is_json(headers) {
        return Ok(());
    }
    let detail = "Send the body as JSON, with the header Content-Type: application/json.";
    Err(Problem::new(ErrorCode::UnsupportedMediaType, detail))
}

fn invalid(detail: impl std::fmt::Display) -> Problem {
    AppError::bad_input(detail).into()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::{Body, Bytes};
    use futures::{StreamExt, stream};

    use super::*;

    #[tokio::test]
    async fn body_that_arrives_too_slowly_is_refused() {
        let first = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"x"))]);
        let body = Body::from_stream(first.chain(stream::pending()));
        let refused = whole(body, 1_000, Duration::from_millis(1)).await;
        assert_eq!(refused.map_err(|problem| problem.code()), Err("too_slow"));
    }

    #[tokio::test]
    async fn body_that_is_too_large_is_refused() {
        let refused = whole(Body::from("x".repeat(1_001)), 1_000, PATIENCE).await;
        assert_eq!(refused.map_err(|problem| problem.code()), Err("too_large"));
        assert_eq!(whole(Body::from("x"), 1_000, PATIENCE).await.map_err(drop), Ok(b"x".to_vec()));
    }
}
