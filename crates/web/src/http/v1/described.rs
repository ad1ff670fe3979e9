//! What the description says about every endpoint: headers, scopes and lengths of this installation. What it says about scopes and about
//! fields of the address holds for every endpoint: they are checked here.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::LazyLock;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::endpoints;
use super::input::{Fields, NoFields};
use crate::auth::bearer::TokenCaller;
use crate::http::layers::compression::Unchanged;
use crate::request::codings::{Coding, accepted};
use crate::request::problem::Problem;
use crate::state::AppState;
use model::error::{AppError, ErrorCode, Retry};

/// Where the description has the prompts of bodies.
const PROMPTS: [&str; 3] = [
    "/components/schemas/NewJob/properties/prompt",
    "/components/schemas/NewFollowUp/properties/prompt",
    "/components/schemas/NewBatch/properties/prompt",
];

/// A header of responses.
struct Header {
    name: &'static str,
    description: &'static str,
    kind: &'static str,
    /// Whether responses with this status have it.
    is_of: fn(u16) -> bool,
}

const HEADERS: [Header; 9] = [
    Header {
        name: "X-Request-Id",
        description: "The id of the request in Docket’s log.",
        kind: "string",
        is_of: |_| true,
    },
    Header {
        name: "RateLimit-Policy",
        description: "The limits of the token.",
        kind: "string",
        is_of: |status| !matches!(status, 401 | 421),
    },
    Header {
        name: "RateLimit",
        description: "How many further requests fit now, and after how many seconds all fit again.",
        kind: "string",
        is_of: |status| !matches!(status, 401 | 421),
    },
    Header {
        name: "Docket-Token-Expires",
        description: "When the token expires, in its last 14 days; otherwise the header is absent.",
        kind: "string",
        is_of: |status| !matches!(status, 401 | 421),
    },
    Header {
        name: "Retry-After",
        description: "After how many seconds to try again.",
        kind: "integer",
        is_of: is_temporary,
    },
    Header {
        name: "Location",
        description: "The path of the job or the batch.",
        kind: "string",
        is_of: |status| matches!(status, 201 | 202),
    },
    Header {
        name: "Idempotent-Replayed",
        description: "`true` if an earlier request with this key was answered; otherwise the header is absent.",
        kind: "boolean",
        is_of: |status| matches!(status, 201 | 202),
    },
    Header {
        name: "WWW-Authenticate",
        description: "The scheme `Bearer`.",
        kind: "string",
        is_of: |status| status == 401,
    },
    Header {
        name: "Allow",
        description: "The permitted methods.",
        kind: "string",
        is_of: |status| status == 405,
    },
];

/// Whether an error with this status has a `Retry-After`.
fn is_temporary(status: u16) -> bool {
    ErrorCode::of_api().any(|code| code.status() == status && code.row().retry != Retry::Never)
}

/// The description of the JSON API, in OpenAPI 3.1.
pub(super) fn description() -> &'static Value {
    static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
        let (_, description) = endpoints().split_for_parts();
        completed(serde_json::to_value(description).unwrap_or_default())
    });
    &DESCRIPTION
}

/// The endpoint of the description.
pub(super) async fn get_description(
    State(state): State<AppState>,
    headers: HeaderMap,
    Fields(NoFields {}): Fields<NoFields>,
) -> Result<Response, Problem> {
    let forms = Forms::current(state.settings().prompt_max).map_err(|error| {
        tracing::error!(%error, "the description of the API could not be written");
        AppError::internal()
    })?;
    let parts = (Extension(Unchanged), [(CONTENT_TYPE, "application/json"), (VARY, "accept-encoding")]);
    Ok(match accepted(&headers).contains(&Coding::Gzip) {
        true => (parts, [(CONTENT_ENCODING, Coding::Gzip.name())], forms.gzip).into_response(),
        false => (parts, forms.plain).into_response(),
    })
}

/// The description as it is sent. All clients share it, however slowly they read it: it is large, and needs no token.
#[derive(Clone)]
struct Forms {
    prompt_max: u32,
    plain: Bytes,
    gzip: Bytes,
}

impl Forms {
    /// Those with this limit, which are made when it is configured.
    fn current(prompt_max: u32) -> io::Result<Self> {
        static CURRENT: Mutex<Option<Forms>> = Mutex::new(None);
        let mut current = CURRENT.lock();
        if let Some(forms) = current.as_ref().filter(|forms| forms.prompt_max == prompt_max) {
            return Ok(forms.clone());
        }
        Ok(current.insert(Self::of(prompt_max)?).clone())
    }

    fn of(prompt_max: u32) -> io::Result<Self> {
        let mut description = description().clone();
        for prompt in PROMPTS {
            if let Some(prompt) = description.pointer_mut(prompt) {
                prompt["maxLength"] = prompt_max.into();
            }
        }
        let plain = serde_json::to_vec(&description)?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(&plain)?;
        Ok(Self { prompt_max, gzip: gzip.finish()?.into(), plain: plain.into() })
    }
}

fn completed(mut description: Value) -> Value {
    let paths = description["paths"].as_object_mut().into_iter().flatten();
    for operation in paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten()) {
        let (_, operation) = operation;
        describe_scopes(operation);
        let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            remove_null(&mut parameter["schema"]);
        }
        for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            add_headers(status.parse().unwrap_or_default(), response);
            if let Some(schema) = response.pointer_mut("/content/application~1json/schema") {
                permit_several(schema);
            }
        }
    }
    require_all_fields_of_responses(&mut description);
    description
}

/// A parameter of an address or a header may be missing, and is never null.
fn remove_null(schema: &mut Value) {
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    let other =
        schema["oneOf"].as_array().and_then(|schemas| schemas.iter().find(|schema| schema["type"] != "null"));
    if let Some(other) = other.cloned() {
        *schema = other;
    }
}

/// A response is one of several schemas, and may fit others, too: fields are only added.
fn permit_several(schema: &mut Value) {
    if let Some(schema) = schema.as_object_mut()
        && let Some(schemas) = schema.remove("oneOf")
    {
        schema.insert("anyOf".to_owned(), schemas);
    }
}

/// A response has each of its fields, also those that may be null.
fn require_all_fields_of_responses(description: &mut Value) {
    let mut requested = BTreeSet::new();
    for operation in description["paths"]
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(|(_, item)| item.as_object())
        .flatten()
    {
        collect_schemas(description, &operation.1["requestBody"], &mut requested);
    }
    for (name, schema) in description["components"]["schemas"].as_object_mut().into_iter().flatten() {
        if let Some(fields) = schema["properties"].as_object()
            && !requested.contains(name)
        {
            let names: Vec<String> = fields.keys().cloned().collect();
            schema["required"] = names.into();
        }
    }
}

/// The names of the schemas that a part of the description refers to.
fn collect_schemas(description: &Value, part: &Value, names: &mut BTreeSet<String>) {
    match part {
        Value::Object(fields) => {
            let name = fields.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            if let Some(name) = name.filter(|name| names.insert((*name).to_owned())) {
                collect_schemas(description, &description["components"]["schemas"][name], names);
            }
            fields.values().for_each(|value| collect_schemas(description, value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_schemas(description, item, names)),
        _ => {}
    }
}

/// Names the scopes that an endpoint needs in words, too.
fn describe_scopes(operation: &mut Value) {
    let scopes: Vec<String> = scopes(operation).map(|scope| format!("`{scope}`")).collect();
    if !scopes.is_empty() {
        let needs = format!("Needs the scope {}.", scopes.join(" and "));
        let text = operation["description"].as_str().map(|text| format!("{text}\n\n{needs}"));
        operation["description"] = text.unwrap_or(needs).into();
    }
}

fn add_headers(status: u16, response: &mut Value) {
    for Header { name, description, kind, .. } in HEADERS.iter().filter(|header| (header.is_of)(status)) {
        response["headers"][name] = json!({"description": description, "schema": {"type": kind}});
    }
}

/// A layer of all endpoints: the token needs the scopes of the description, and a field of the address that is not in the description is refused.
pub(super) async fn as_described(
    Extension(caller): Extension<TokenCaller>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    if let Some(operation) = path.and_then(|path| operation(path, request.method())) {
        check_scopes(&caller, operation)?;
        check_fields(operation, request.uri().query().unwrap_or_default())?;
    }
    Ok(next.run(request).await)
}

/// The description of an endpoint; `None` for a method that the path does not have.
fn operation(path: &str, method: &Method) -> Option<&'static Value> {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    description()["paths"][path].get(method.as_str().to_ascii_lowercase())
}

fn check_scopes(caller: &TokenCaller, operation: &Value) -> Result<(), Problem> {
    for scope in scopes(operation) {
        caller.needs(scope.parse().map_err(AppError::from)?)?;
    }
    Ok(())
}

fn scopes(operation: &Value) -> impl Iterator<Item = &str> {
    let scopes = operation.pointer("/security/0/token").and_then(Value::as_array);
    scopes.into_iter().flatten().filter_map(Value::as_str)
}

fn check_fields(operation: &Value, query: &str) -> Result<(), Problem> {
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let known: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter["in"] == "query")
        .filter_map(|parameter| parameter["name"].as_str())
        .collect();
    let mut fields = url::form_urlencoded::parse(query.as_bytes());
    match fields.find(|(name, _)| !known.contains(&name.as_ref())) {
        Some((name, _)) => Err(unknown_field(&name, &known)),
        None => Ok(()),
    }
}

fn unknown_field(name: &str, known: &[&str]) -> Problem {
    let others = match known {
        [] => "This endpoint has none.".to_owned(),
        known => format!("The fields are {}.", known.join(", ")),
    };
    Problem::from(AppError::bad_input(format!("There is no field “{name}” of the address. {others}")))
        .about(name)
}
