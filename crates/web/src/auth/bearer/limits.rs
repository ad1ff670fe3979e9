//! The rate limits of the JSON API: requests with a token, and requests with unknown tokens. The database counts them, for
//! all processes. Each process also remembers until when a limit is used up, so that a flood costs no statements.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use quick_cache::sync::Cache;

use crate::request::problem::seconds;
use crate::state::AppState;
use model::id::ApiTokenId;
use service::auth::attempts::network;
use store::StoreError;
use store::accounts::api_tokens::cell;
use store::accounts::rate_limits::{Counted, Quota, Rest};

/// 60 requests a minute with a token, and 30 at once.
const REQUESTS: Quota = Quota { burst: 30, every: Duration::from_secs(1) };

/// The same in the words of the header.
const POLICY: &str = "\"minute\";q=60;w=60, \"burst\";q=30;w=30";

const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// How many used-up limits a process remembers.
const REMEMBERED: usize = 10_000;

/// No wait is longer, also if the clock of another process is ahead.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The used-up limits that this process knows. Clones share them.
#[derive(Clone)]
pub struct TokenLimits(Arc<Cache<String, Duration>>);

/// How long to wait before the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait(pub(super) Duration);

impl Default for TokenLimits {
    fn default() -> Self {
        Self(Arc::new(Cache::new(REMEMBERED)))
    }
}

impl TokenLimits {
    /// Fails if the limit of the token with this hash is known to be used up.
    pub(super) fn must_be_free(&self, state: &AppState, hash: &str) -> Result<(), Wait> {
        let now = state.clock.elapsed();
        match self.0.get(hash) {
            Some(until) if until > now => Err(Wait(until - now)),
            _ => Ok(()),
        }
    }

    /// Counts a request with the token.
    pub(super) async fn count(
        &self,
        state: &AppState,
        hash: &str,
        token: &ApiTokenId,
    ) -> Result<Counted, StoreError> {
        let counted = state.store.count_attempt(&cell(token.as_str()), REQUESTS, state.clock.now()).await?;
        self.remember(state, hash, counted);
        Ok(counted)
    }

    /// Counts a request with an unknown token from `client_ip`.
    pub(super) async fn count_unknown(
        &self,
        state: &AppState,
        client_ip: IpAddr,
    ) -> Result<Counted, StoreError> {
        // No hash has a space.
        let key = format!("unknown {}", network(client_ip));
        if let Err(Wait(wait)) = self.must_be_free(state, &key) {
            return Ok(Counted::Exceeded(wait));
        }
        let counted = state.attempts.unknown_token(client_ip).await?;
        self.remember(state, &key, counted);
        Ok(counted)
    }

    /// Remembers for how long the quota is used up.
    fn remember(&self, state: &AppState, key: &str, counted: Counted) {
        if let Counted::Exceeded(wait) = counted {
            self.0.insert(key.to_owned(), state.clock.elapsed() + wait.min(LONGEST_WAIT));
        }
    }
}

/// Adds the headers `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers).
pub(super) fn add_limits(headers: &mut HeaderMap, Rest { left, full_in }: Rest) {
    headers.insert(RATE_LIMIT_POLICY, HeaderValue::from_static(POLICY));
    let limit = format!("\"burst\";r={left};t={}", seconds(full_in));
    if let Ok(limit) = HeaderValue::try_from(limit) {
        headers.insert(RATE_LIMIT, limit);
    }
}

/// The same headers when nothing is left.
pub(super) fn add_spent(headers: &mut HeaderMap, Wait(wait): Wait) {
    let full_in = REQUESTS.every * (REQUESTS.burst - 1) + wait;
    add_limits(headers, Rest { left: 0, full_in });
}
