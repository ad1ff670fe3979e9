//! The gate of the JSON API: `Authorization: Bearer dkt_…` admits the owner of the token. Cookies do not count here, and
//! tokens count nowhere else.

mod limits;

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;

pub use self::limits::TokenLimits;
use self::limits::{Wait, add_limits, add_spent};
use super::gate::Passed;
use super::{client_ip, guard};
use crate::request::problem::Problem;
use crate::state::AppState;
use model::api_token::{Scope, expires_soon};
use model::audit::{Action, Actor, AuditEvent};
use model::error::{AppError, ErrorCode};
use model::id::ProjectId;
use model::user::Project;
use service::auth::api_token::TokenText;
use service::caller::Caller;
use store::StoreError;
use store::accounts::admission::{Account, NotAdmitted};
use store::accounts::api_tokens::StoredApiToken;
use store::accounts::rate_limits::Rest;
use store::authorization::Authorization;

/// The challenge for a token that is not valid.
const INVALID: &str = "Bearer error=\"invalid_token\"";

/// When the token expires, such as `2026-12-10T10:00:00Z`, if that is within 14 days.
const TOKEN_EXPIRES: HeaderName = HeaderName::from_static("docket-token-expires");

/// After a request that took this long, the token is checked once more before the response is sent.
const LONG: Duration = Duration::from_secs(1);

/// The owner of the API token of a request, and what the token may do. [`authenticate`] adds it to the request.
#[derive(Clone)]
pub struct TokenCaller {
    caller: Caller,
    state: AppState,
    token: StoredApiToken,
    /// The stored hash of the token.
    hash: String,
    /// Why the token does not permit the request. Clones share it, so that it is recorded whatever the response looks like.
    refused: Arc<OnceLock<Cow<'static, str>>>,
}

/// What [`authenticate`] needs.
#[derive(Clone)]
pub struct Gate {
    pub state: AppState,
    pub limits: TokenLimits,
    /// The response to a request above the limit of its token, in the format of its endpoint.
    pub over_limit: fn(Request, Problem) -> BoxFuture<'static, Response>,
}

/// Why a request is refused.
enum Refusal {
    /// Without a token.
    Missing,
    /// The text is not a token.
    Malformed,
    /// The token is unknown, expired or revoked, or its owner is disabled.
    Invalid,
    /// Too many requests with this token.
    TooMany(Wait),
    /// Too many unknown tokens from this network.
    TooManyUnknown(Wait),
    Failed(AppError),
}

impl TokenCaller {
    /// Fails if the token, or the role of its owner, does not permit `scope`. The audit log has the refusal.
    pub fn needs(&self, scope: Scope) -> Result<(), Problem> {
        self.permits(scope).inspect_err(|problem| self.refuse(problem.code()))
    }

    /// Whether the token and the role of its owner permit `scope`; the problem if not.
    fn permits(&self, scope: Scope) -> Result<(), Problem> {
        if !self.token.scopes.contains(scope) {
            let detail = format!("This API token does not have the scope {}.", scope.as_str());
            return Err(Problem::new(ErrorCode::InsufficientScope, detail));
        }
        Ok(self.caller.must_be(scope.least_role())?)
    }

    /// Whether the token and the role of its owner permit `scope`. For what a response shows: nothing is refused.
    pub fn may(&self, scope: Scope) -> bool {
        self.permits(scope).is_ok()
    }

    /// The configured project with this id. A project that the token does not include is reported as missing, and the audit log has the refusal.
    pub fn project(&self, id: &str) -> Result<ProjectId, Problem> {
        let found = self.projects().into_iter().find(|project| project.id.as_str() == id);
        let found = found.map(|project| project.id);
        found.ok_or_else(|| {
            self.refuse("project not included");
            AppError::not_found("This project does not exist.").into()
        })
    }

    /// For a problem that the response reports: the audit log has it if it is a refusal.
    pub fn note_problem(&self, problem: &Problem) {
        if problem.status() == StatusCode::FORBIDDEN {
            self.refuse(problem.code());
        }
    }

    /// Remembers why the request is refused; the first reason counts.
    fn refuse(&self, reason: impl Into<Cow<'static, str>>) {
        // Later reasons follow from the first one.
        _ = self.refused.set(reason.into());
    }

    /// The projects of the token that its owner may see.
    pub fn projects(&self) -> Vec<Project> {
        let mut projects = self.caller.projects();
        projects.retain(|project| self.token.projects.contains(&project.id));
        projects
    }

    /// The scopes of the token that the role of its owner permits.
    pub fn scopes(&self) -> Vec<Scope> {
        self.token.scopes.permitted(self.caller.user.role)
    }

    /// What a response may say about the token.
    pub fn token(&self) -> &StoredApiToken {
        &self.token
    }

    /// Adds the header `Docket-Token-Expires` if the token expires soon.
    fn add_expiry(&self, headers: &mut HeaderMap) {
        let expires_at = self.token.expires_at;
        if expires_soon(expires_at, self.state.clock.now())
            && let Ok(expires_at) = HeaderValue::try_from(expires_at.to_string())
        {
            headers.insert(TOKEN_EXPIRES, expires_at);
        }
    }

    /// For a request that took time: fails if the token or the access of its owner changed meanwhile.
    pub async fn must_still_be_valid(&self) -> Result<(), Problem> {
        let state = &self.state;
        let reason = match state.store.api_token(&self.hash).await.map_err(AppError::from)? {
            None => Some("removed"),
            Some((token, owner)) => fault(state, &token, &owner)
                .or_else(|| (!self.caller.user.has_same_access(owner.user())).then_some("access changed")),
        };
        let Some(reason) = reason else { return Ok(()) };
        self.refuse(format!("{reason} during the request"));
        let detail = "This API token, or the access of its owner, changed during the request.";
        Err(Problem::new(ErrorCode::InvalidToken, detail))
    }

    /// The owner. Must not decide which projects the request may use: [`Self::project`] does.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The services.
    pub fn state(&self) -> &AppState {
        &self.state
    }
}

/// Admits a request with a valid token as a [`TokenCaller`]. Its headers decide: the body of another request is not read. The response to a request
/// that took long is sent only if the token is still valid.
pub async fn authenticate(
    State(Gate { state, limits, over_limit }): State<Gate>,
    mut request: Request,
    next: Next,
) -> Response {
    let client_ip = client_ip::of(request.extensions());
    let admitted = admit(&state, &limits, request.headers(), client_ip).await;
    // No later code can use or log them.
    request.headers_mut().remove(AUTHORIZATION);
    request.headers_mut().remove(COOKIE);
    let (caller, rest) = match admitted {
        Ok(admitted) => admitted,
        Err(Refusal::TooMany(wait)) => {
            let mut response = over_limit(request, too_many(wait)).await;
            add_spent(response.headers_mut(), wait);
            return response;
        }
        Err(refusal) => return refusal.into_response(),
    };
    request.extensions_mut().insert(caller.clone());
    let mut response = respond(&caller, request, next).await;
    add_limits(response.headers_mut(), rest);
    caller.add_expiry(response.headers_mut());
    response.extensions_mut().insert(Passed { person: caller.caller.user.id.clone(), is_refresh: false });
    response
}

/// Of a request that may have changed something, while the database is unavailable.
const UNCHECKED: &str = "The request was carried out, but your API token could not be checked again, so there is no result. Send it again with the same idempotency key.";

/// The response to an admitted request. The audit log has a refusal, whatever its status is.
async fn respond(caller: &TokenCaller, request: Request, next: Next) -> Response {
    let (started, reads) = (Instant::now(), request.method().is_safe());
    let mut response = next.run(request).await;
    if started.elapsed() >= LONG
        && response.status().is_success()
        && let Err(problem) = caller.must_still_be_valid().await
    {
        response = match reads || problem.status() == StatusCode::UNAUTHORIZED {
            true => problem.into_response(),
            false => Problem::new(ErrorCode::DatabaseUnavailable, UNCHECKED).into_response(),
        };
    }
    match response.extensions().get::<Problem>() {
        Some(problem) => caller.note_problem(problem),
        // Of a service that writes its responses itself.
        None if response.status() == StatusCode::FORBIDDEN => caller.refuse("forbidden"),
        None => {}
    }
    if response.status() == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(INVALID));
    }
    if let Some(reason) = caller.refused.get() {
        caller.note_refusal(reason).await;
    }
    response
}

/// The caller with the token in these headers, and the rest of its quota. A text that is not a token needs no database.
async fn admit(
    state: &AppState,
    limits: &TokenLimits,
    headers: &HeaderMap,
    client_ip: IpAddr,
) -> Result<(TokenCaller, Rest), Refusal> {
    let hash = token_of(headers)?.hash();
    limits.must_be_free(state, &hash).map_err(Refusal::TooMany)?;
    let Some((token, owner)) = state.store.api_token(&hash).await? else {
        let counted = limits.count_unknown(state, client_ip).await?;
        counted.or_refuse(Wait).map_err(Refusal::TooManyUnknown)?;
        let event = AuditEvent::new(Action::ApiTokenUse).refused().with_detail("unknown token");
        let by = Actor::unknown(&client_ip.to_string());
        state.refusals.note(&by, &event).await;
        return Err(Refusal::Invalid);
    };
    let counted = limits.count(state, &hash, &token.id).await?;
    let rest = counted.or_refuse(Wait).map_err(Refusal::TooMany)?;
    let user = match (fault(state, &token, &owner), owner) {
        (None, Account::Admitted(user)) => user,
        (fault, owner) => {
            let by = owner.user().actor(&client_ip.to_string());
            note_refusal(state, &by, &token, fault.unwrap_or_default()).await;
            return Err(Refusal::Invalid);
        }
    };
    let authorization = Authorization::of_token(user, &token.id, client_ip, state.clock.clone());
    let caller = guard::caller(state, authorization, false);
    let caller = TokenCaller { caller, state: state.clone(), token, hash, refused: Arc::default() };
    state.store.note_api_token_use(&caller.token, state.clock.now()).await?;
    Ok((caller, rest))
}

/// The token of the only `Authorization` header.
fn token_of(headers: &HeaderMap) -> Result<TokenText, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), others) = (values.next(), values.next()) else { return Err(Refusal::Missing) };
    let (scheme, text) = value.to_str().ok().and_then(|value| value.split_once(' ')).unwrap_or_default();
    match scheme.eq_ignore_ascii_case("bearer") {
        true if others.is_none() => text.trim().parse().map_err(|_| Refusal::Malformed),
        true => Err(Refusal::Malformed),
        false => Err(Refusal::Missing),
    }
}

/// Why a known token is not valid.
fn fault(state: &AppState, token: &StoredApiToken, owner: &Account) -> Option<&'static str> {
    if token.is_revoked {
        Some("revoked")
    } else if token.expires_at <= state.clock.now() {
        Some("expired")
    } else {
        match owner {
            Account::Admitted(_) => None,
            Account::Refused(_, NotAdmitted::Disabled) => Some("owner disabled"),
            Account::Refused(..) => Some("owner invited"),
        }
    }
}

impl TokenCaller {
    /// Records the refusal of a response that is being sent.
    pub async fn note_refused(&self) {
        if let Some(reason) = self.refused.get() {
            self.note_refusal(reason).await;
        }
    }

    async fn note_refusal(&self, reason: &str) {
        note_refusal(&self.state, &self.caller.actor(), &self.token, reason).await;
    }
}

async fn note_refusal(state: &AppState, by: &Actor, token: &StoredApiToken, reason: &str) {
    let event = AuditEvent::new(Action::ApiTokenUse).refused().on(&token.id).with_detail(reason);
    state.refusals.note(by, &event).await;
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

fn too_many(Wait(wait): Wait) -> Problem {
    let detail = "Too many requests with this API token. The limit is 60 per minute, and 30 at once.";
    Problem::new(ErrorCode::TooManyRequests, detail).with_retry_after(wait)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        const CREATE: &str = "Create one at /account/tokens, and send it as Authorization: Bearer dkt_….";
        let unauthorized = |challenge: &'static str, code: ErrorCode, detail: String| {
            let mut response = Problem::new(code, detail).into_response();
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
            response
        };
        match self {
            Self::Missing => {
                unauthorized("Bearer", ErrorCode::MissingToken, format!("An API token is required. {CREATE}"))
            }
            Self::Malformed => unauthorized(
                INVALID,
                ErrorCode::InvalidToken,
                "This is not an API token of Docket. Check that it was copied completely.".to_owned(),
            ),
            Self::Invalid => unauthorized(
                INVALID,
                ErrorCode::InvalidToken,
                "This API token is not valid. It may have expired or been revoked. Create a new one at /account/tokens."
                    .to_owned(),
            ),
            Self::TooMany(wait) => too_many(wait).into_response(),
            Self::TooManyUnknown(Wait(wait)) => {
                let detail = "Too many requests with invalid API tokens. Wait, then try again.";
                Problem::new(ErrorCode::TooManyRequests, detail).with_retry_after(wait).into_response()
            }
            Self::Failed(error) => Problem::from(error).into_response(),
        }
    }
}
