//! The errors of the endpoints, for their description. Their codes are those of the table.

use std::collections::BTreeMap;

use utoipa::IntoResponses;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr};

use crate::request::problem::CONTENT_TYPE;
use model::error::ErrorCode;

/// The codes of every endpoint.
const ALWAYS: [ErrorCode; 12] = [
    ErrorCode::BadInput,
    ErrorCode::MissingToken,
    ErrorCode::InvalidToken,
    ErrorCode::Forbidden,
    ErrorCode::InsufficientScope,
    ErrorCode::NotFound,
    ErrorCode::MethodNotAllowed,
    ErrorCode::WrongHost,
    ErrorCode::TooManyRequests,
    ErrorCode::Internal,
    ErrorCode::Busy,
    ErrorCode::DatabaseUnavailable,
];

/// The codes of endpoints that send a prompt.
const PROMPT: [ErrorCode; 12] = [
    ErrorCode::IdempotencyKeyRequired,
    ErrorCode::TooSlow,
    ErrorCode::Conflict,
    ErrorCode::TooLarge,
    ErrorCode::UnsupportedMediaType,
    ErrorCode::IntentReused,
    ErrorCode::BudgetSpent,
    ErrorCode::QueueFull,
    ErrorCode::TooManyUnsent,
    ErrorCode::UpstreamFailed,
    ErrorCode::NoCredits,
    ErrorCode::UpstreamSlow,
];

/// The errors of endpoints that read.
pub(super) struct ReadErrors;

/// The errors of endpoints that search.
pub(super) struct SearchErrors;

/// The errors of tables that are continued by a cursor.
pub(super) struct CursorErrors;

/// The errors of the list of jobs, which is continued by a cursor.
pub(super) struct ChangesErrors;

/// The errors of endpoints that change something.
pub(super) struct ChangeErrors;

/// The errors of decisions about a prompt.
pub(super) struct DecisionErrors;

/// The errors of endpoints that start a job.
pub(super) struct StartErrors;

/// The errors of endpoints that send a follow-up.
pub(super) struct FollowUpErrors;

/// The errors of the endpoint that starts a batch.
pub(super) struct BatchErrors;

impl IntoResponses for ReadErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[])
    }
}

impl IntoResponses for SearchErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[ErrorCode::QueryTooSlow])
    }
}

impl IntoResponses for CursorErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[ErrorCode::FiguresChanged, ErrorCode::QueryTooSlow])
    }
}

impl IntoResponses for ChangesErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[ErrorCode::Conflict, ErrorCode::QueryTooSlow])
    }
}

impl IntoResponses for ChangeErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[
            ErrorCode::TooSlow,
            ErrorCode::Conflict,
            ErrorCode::TooLarge,
            ErrorCode::UnsupportedMediaType,
        ])
    }
}

impl IntoResponses for DecisionErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[
            ErrorCode::TooSlow,
            ErrorCode::Conflict,
            ErrorCode::TooLarge,
            ErrorCode::UnsupportedMediaType,
            ErrorCode::BudgetSpent,
            ErrorCode::UpstreamFailed,
            ErrorCode::UpstreamSlow,
        ])
    }
}

impl IntoResponses for StartErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[&PROMPT, &[ErrorCode::UnfilledPlaceholder][..]].concat())
    }
}

impl IntoResponses for FollowUpErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[&PROMPT, &[ErrorCode::NotAccepted][..]].concat())
    }
}

impl IntoResponses for BatchErrors {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        responses(&[
            ErrorCode::IdempotencyKeyRequired,
            ErrorCode::TooSlow,
            ErrorCode::UnfilledPlaceholder,
            ErrorCode::TooLarge,
            ErrorCode::UnsupportedMediaType,
            ErrorCode::IntentReused,
            ErrorCode::QueueFull,
            ErrorCode::TooManyUnsent,
        ])
    }
}

/// A response for each status of the codes that every endpoint has, and of `more`.
fn responses(more: &[ErrorCode]) -> BTreeMap<String, RefOr<Response>> {
    let mut by_status: BTreeMap<String, Vec<ErrorCode>> = BTreeMap::new();
    for code in ALWAYS.iter().chain(more) {
        by_status.entry(code.status().to_string()).or_default().push(*code);
    }
    by_status.into_iter().map(|(status, codes)| (status, response(&codes).into())).collect()
}

/// A problem with one of these codes.
fn response(codes: &[ErrorCode]) -> Response {
    let names = ObjectBuilder::new().schema_type(Type::String);
    let names = names.enum_values(Some(codes.iter().map(|code| code.as_str())));
    let narrowed = ObjectBuilder::new().schema_type(Type::Object).property("code", names);
    let problem = AllOfBuilder::new().item(Ref::from_schema_name("Problem")).item(narrowed);
    let meanings = codes.iter().map(|code| format!("`{}`: {}.", code.as_str(), code.row().meaning));
    ResponseBuilder::new()
        .description(meanings.collect::<Vec<_>>().join(" "))
        .content(CONTENT_TYPE, ContentBuilder::new().schema(Some(problem)).build())
        .build()
}
