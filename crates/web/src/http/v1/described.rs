//! What the description says about every endpoint: headers, scopes and lengths of this installation. A field of the address that an endpoint does not
//! describe is refused.

use std::sync::LazyLock;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use axum::{Json, http::Method};
use serde::Deserialize;
use serde_json::{Value, json};

use super::endpoints;
use super::input::Fields;
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

const HEADERS: [Header; 8] = [
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

/// An endpoint without fields of the address.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoFields {}

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
    Fields(NoFields {}): Fields<NoFields>,
) -> Json<Value> {
    let mut description = description().clone();
    for prompt in PROMPTS {
        if let Some(prompt) = description.pointer_mut(prompt) {
            prompt["maxLength"] = state.settings().prompt_max.into();
        }
    }
    Json(description)
}

fn completed(mut description: Value) -> Value {
    let paths = description["paths"].as_object_mut().into_iter().flatten();
    for operation in paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten()) {
        let (_, operation) = operation;
        describe_scopes(operation);
        for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            add_headers(status.parse().unwrap_or_default(), response);
        }
    }
    description
}

/// Names the scopes that an endpoint needs in words, too.
fn describe_scopes(operation: &mut Value) {
    let Some(scopes) = operation.pointer("/security/0/token").and_then(Value::as_array) else { return };
    let scopes: Vec<String> =
        scopes.iter().filter_map(Value::as_str).map(|scope| format!("`{scope}`")).collect();
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

/// A layer of all endpoints: a field of the address that is not in the description of the endpoint is refused.
pub(super) async fn known_fields(request: Request, next: Next) -> Result<Response, Problem> {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    if let (Some(path), Some(query)) = (path, request.uri().query()) {
        check_fields(path, request.method(), query)?;
    }
    Ok(next.run(request).await)
}

fn check_fields(path: &str, method: &Method, query: &str) -> Result<(), Problem> {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let item = &description()["paths"][path];
    let operation = &item[method.as_str().to_ascii_lowercase()];
    // Responds that there is no such endpoint.
    if operation.is_null() {
        return Ok(());
    }
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
