//! Why a request failed, whether a later attempt may succeed, and whether the request may have had an effect.

use std::error::Error;
use std::io;
use std::time::Duration;

use anyhow::anyhow;
use reqwest::StatusCode;
use rustls::Error as TlsError;
use serde::Deserialize;

use model::error::ErrorCode;

/// The codes of prompts that Docket sends later, if they may be queued.
const BUDGET_SPENT: &str = ErrorCode::BudgetSpent.as_str();
const UPSTREAM_FAILED: &str = ErrorCode::UpstreamFailed.as_str();
const NO_CREDITS: &str = ErrorCode::NoCredits.as_str();

/// A failed attempt, or after the last attempt, the failed request.
pub(super) struct Failure {
    pub(super) error: anyhow::Error,
    pub(super) retry: Retry,
    pub(super) effect: Effect,
}

/// Whether a later attempt may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    Never,
    /// A setting is wrong, or something else than Docket responded. If Docket responded before, this lasts for a while, as while a proxy restarts.
    IfReachedBefore,
    /// Perhaps only after a time that the server names.
    Later(Option<Duration>),
}

/// What a failed attempt means for the effect of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// This attempt had none.
    None,
    /// The server may have carried it out.
    Possible,
    /// It is known what became of all attempts: the server refuses this request, however often it is sent, or has carried it out.
    Settled,
}

/// What Docket answered to a request that it refused.
#[derive(Debug, thiserror::Error, Deserialize)]
#[error("{detail}")]
pub(super) struct Refusal {
    detail: String,
    code: String,
}

/// A change that the server may have carried out. Its error was printed.
#[derive(Debug, thiserror::Error)]
#[error("it is unknown whether Docket carried this out: {how_to_repeat}")]
pub(super) struct UnknownEnd {
    pub(super) how_to_repeat: String,
}

/// The time of a wait was over. Its last error was printed.
#[derive(Debug, thiserror::Error)]
#[error("the time of --timeout is over, and Docket did not respond as it should")]
pub(super) struct TimeIsOver;

impl Failure {
    /// The request did not reach the server, or the server did nothing.
    pub(super) fn passing(error: anyhow::Error) -> Self {
        Self { error, retry: Retry::Later(None), effect: Effect::None }
    }

    /// The request was sent, and its result was lost.
    pub(super) fn lost(error: anyhow::Error) -> Self {
        Self { effect: Effect::Possible, ..Self::passing(error) }
    }

    /// Something else than Docket responded with this status. `wait`: the time that it named.
    pub(super) fn foreign(error: anyhow::Error, status: StatusCode, wait: Option<Duration>) -> Self {
        let retry = if is_passing(status) { Retry::Later(wait) } else { Retry::IfReachedBefore };
        Self { error, retry, effect: Effect::of_status(status) }
    }

    /// Docket refused the request. `wait`: the time that it named.
    pub(super) fn of_refusal(refusal: Refusal, status: StatusCode, wait: Option<Duration>) -> Self {
        let effect = Effect::of_refusal(&refusal.code, status);
        // The next prompt may be possible only in an hour.
        let is_passing = is_passing(status) && refusal.code != BUDGET_SPENT;
        let retry = if is_passing { Retry::Later(wait) } else { Retry::Never };
        Self { error: refusal.into(), retry, effect }
    }

    /// Docket responded to the request, and the response is not read.
    pub(super) fn settled(error: anyhow::Error) -> Self {
        Self { error, retry: Retry::Never, effect: Effect::Settled }
    }

    /// Why no response arrived.
    pub(super) fn of_sending(error: reqwest::Error, server: &str) -> Self {
        let is_sent = !error.is_connect();
        let wrong = wrong_setting(&error, server);
        let error = anyhow!(error.without_url());
        match wrong {
            Some(wrong) => Self { retry: Retry::IfReachedBefore, ..Self::passing(error.context(wrong)) },
            None if is_sent => Self::lost(error.context(format!("{server} cannot be reached"))),
            None => Self::passing(error.context(format!("{server} cannot be reached"))),
        }
    }

    /// With what the request and the run before it say about another attempt.
    pub(super) fn repeatable_if(self, is_reached: bool) -> Self {
        match self.retry {
            Retry::IfReachedBefore if is_reached => Self { retry: Retry::Later(None), ..self },
            _ => self,
        }
    }
}

impl Refusal {
    /// Whether an error is a refusal with this code.
    pub(super) fn is(error: &anyhow::Error, code: &str) -> bool {
        error.downcast_ref::<Self>().is_some_and(|refusal| refusal.code == code)
    }

    /// With what to do if it is about a prompt that could be queued.
    pub(super) fn with_advice(self) -> Self {
        match &*self.code {
            BUDGET_SPENT | UPSTREAM_FAILED | NO_CREDITS => {
                Self { detail: format!("{} With --queue, Docket sends it later.", self.detail), ..self }
            }
            _ => self,
        }
    }

    #[cfg(test)]
    pub(super) fn new(code: &str) -> Self {
        Self { detail: code.to_owned(), code: code.to_owned() }
    }
}

impl Effect {
    /// That of an attempt which Docket refused.
    fn of_refusal(code: &str, status: StatusCode) -> Self {
        match code {
            // The server looks up the key of a change before it checks the change. So what it refuses as such was refused before, too.
            "bad_input"
            | "idempotency_key_required"
            | "intent_reused"
            | "too_large"
            | "unsupported_media_type" => Self::Settled,
            // These are found before the change is stored.
            "busy" | NO_CREDITS | UPSTREAM_FAILED => Self::None,
            // The change may be stored, and reading it took too long.
            "query_too_slow" => Self::Possible,
            _ => Self::of_status(status),
        }
    }

    /// That of an attempt with this status. What refuses a request does not forward it.
    fn of_status(status: StatusCode) -> Self {
        if status.is_client_error() { Self::None } else { Self::Possible }
    }

    /// The effect of a request after one more attempt.
    pub(super) fn after(self, last: Self) -> Self {
        match (self, last) {
            (_, Self::Settled) => Self::Settled,
            (Self::Possible, _) | (_, Self::Possible) => Self::Possible,
            (earlier, Self::None) => earlier,
        }
    }
}

/// Whether a later attempt may succeed: the server is overloaded or restarting, or the same prompt is being sent.
fn is_passing(status: StatusCode) -> bool {
    matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS) || status.is_server_error()
}

/// What is wrong, if repeating the request is of no use.
fn wrong_setting(error: &reqwest::Error, server: &str) -> Option<String> {
    let is_of_proxy = causes(error).any(|cause| is_of_proxy(&cause.to_string()));
    let (whom, variable) = if is_of_proxy { ("the proxy", "HTTPS_PROXY") } else { (server, "DOCKET_SERVER") };
    if error.is_dns() && !causes(error).any(|cause| is_passing_lookup(&cause.to_string())) {
        return Some(format!("the host of {whom} does not exist: check {variable}"));
    }
    match causes(error).find_map(|cause| cause.downcast_ref::<TlsError>())? {
        TlsError::InvalidCertificate(_) => Some(format!(
            "the certificate of {whom} is not trusted: check {variable}, and DOCKET_CA_FILE if you use your own authority"
        )),
        TlsError::InvalidMessage(_) | TlsError::NoCertificatesPresented | TlsError::PeerIncompatible(_) => {
            Some(format!("{whom} does not speak https as Docket does: check {variable}"))
        }
        _ => None,
    }
}

/// Whether an error is about the connection to a proxy, in the words of the library. It has no other sign of it.
fn is_of_proxy(text: &str) -> bool {
    text.starts_with("tunnel error")
}

/// Whether the name server did not answer, in the words of the systems' libraries. They have no other sign of it.
fn is_passing_lookup(text: &str) -> bool {
    ["Temporary failure", "Try again", "try again", "os error 11002"].iter().any(|words| text.contains(words))
}

/// The errors in `error`.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    // `source` omits the error inside of one of `io`.
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_server_without_an_answer_is_asked_again() {
        for (text, is_passing) in [
            ("failed to lookup address information: Temporary failure in name resolution", true),
            ("failed to lookup address information: Try again", true),
            ("failed to lookup address information: Name or service not known", false),
            ("failed to lookup address information: nodename nor servname provided, or not known", false),
            ("No such host is known. (os error 11001)", false),
            ("A temporary error occurred. (os error 11002)", true),
        ] {
            assert_eq!(is_passing_lookup(text), is_passing, "{text}");
        }
    }

    /// What an attempt ends with.
    #[derive(Debug, Clone, Copy)]
    enum End {
        Lost,
        /// A proxy's response with this status.
        Foreign(u16),
        /// Docket's own response with this code.
        Refused(&'static str),
    }

    fn status(number: u16) -> StatusCode {
        StatusCode::from_u16(number).expect("a status")
    }

    /// The failure with a code of Docket, with its status.
    fn refused(code: &str) -> Failure {
        let row = ErrorCode::of_api().find(|known| known.as_str() == code).map(ErrorCode::row);
        let number = row.map_or(503, |row| row.status);
        Failure::of_refusal(Refusal::new(code), status(number), None)
    }

    fn effect_of(ends: &[End]) -> Effect {
        let effect = |end: &End| match *end {
            End::Lost => Failure::lost(anyhow!("lost")).effect,
            End::Foreign(number) => Failure::foreign(anyhow!("no"), status(number), None).effect,
            End::Refused(code) => refused(code).effect,
        };
        ends.iter().map(effect).fold(Effect::None, Effect::after)
    }

    const SETTLED: [&str; 5] =
        ["bad_input", "idempotency_key_required", "intent_reused", "too_large", "unsupported_media_type"];
    const POSSIBLE: [&str; 4] = ["database_unavailable", "internal", "query_too_slow", "upstream_slow"];

    /// Each code of the API, after each kind of an earlier attempt.
    #[test]
    fn effect_of_a_refusal_depends_on_its_code() {
        let codes = ErrorCode::of_api().map(ErrorCode::as_str).chain([NO_CREDITS]);
        for code in codes {
            let alone = match code {
                code if SETTLED.contains(&code) => Effect::Settled,
                code if POSSIBLE.contains(&code) => Effect::Possible,
                _ => Effect::None,
            };
            assert_eq!(effect_of(&[End::Refused(code)]), alone, "{code}");
            let later = if alone == Effect::Settled { Effect::Settled } else { Effect::Possible };
            for earlier in [End::Lost, End::Foreign(502), End::Foreign(302), End::Refused("internal")] {
                assert_eq!(effect_of(&[earlier, End::Refused(code)]), later, "{earlier:?}, {code}");
            }
            for earlier in [End::Foreign(404), End::Foreign(422), End::Refused("upstream_failed")] {
                assert_eq!(effect_of(&[earlier, End::Refused(code)]), alone, "{earlier:?}, {code}");
            }
        }
    }

    /// A proxy that refuses a request says nothing about an earlier attempt, whatever the status.
    #[test]
    fn foreign_response_settles_nothing() {
        for number in 200..600 {
            let alone = if (400..500).contains(&number) { Effect::None } else { Effect::Possible };
            assert_eq!(effect_of(&[End::Foreign(number)]), alone, "{number}");
            assert_eq!(effect_of(&[End::Lost, End::Foreign(number)]), Effect::Possible, "{number}");
        }
    }

    #[test]
    fn refusal_of_docket_is_final_unless_it_says_when_to_come_back() {
        for code in ErrorCode::of_api() {
            let is_final =
                matches!(code.row().retry, model::error::Retry::Never) || code == ErrorCode::BudgetSpent;
            let expected = if is_final { Retry::Never } else { Retry::Later(None) };
            let failure = refused(code.as_str());
            assert_eq!(failure.retry, expected, "{code:?}");
            assert_eq!(failure.repeatable_if(true).retry, expected, "{code:?}");
        }
    }

    #[test]
    fn foreign_response_is_final_until_docket_was_reached() {
        for number in 200..600 {
            let failure =
                |is_reached| Failure::foreign(anyhow!("no"), status(number), None).repeatable_if(is_reached);
            let is_passing = matches!(number, 408 | 429 | 500..);
            let first = if is_passing { Retry::Later(None) } else { Retry::IfReachedBefore };
            assert_eq!((failure(false).retry, failure(true).retry), (first, Retry::Later(None)), "{number}");
        }
    }

    #[test]
    fn queue_is_proposed_where_it_helps() {
        for code in ErrorCode::of_api().map(ErrorCode::as_str).chain([NO_CREDITS]) {
            let helps = ["budget_spent", "upstream_failed", "no_credits"].contains(&code);
            assert_eq!(Refusal::new(code).with_advice().to_string().contains("--queue"), helps, "{code}");
        }
    }
}
