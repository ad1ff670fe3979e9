//! Why a request failed, whether a later attempt may succeed, and whether the request may have had an effect.

use std::error::Error;
use std::io;
use std::time::Duration;

use anyhow::anyhow;
use reqwest::StatusCode;
use rustls::Error as TlsError;

/// A failed attempt, or after the last attempt, the failed request.
pub(super) struct Failure {
    pub(super) error: anyhow::Error,
    pub(super) retry: Retry,
    pub(super) effect: Effect,
}

/// Whether a later attempt may succeed.
pub(super) enum Retry {
    Never,
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
    /// The server refuses this request, however often it is sent: no attempt had an effect.
    Impossible,
}

/// A change that the server may have carried out. Its error was printed.
#[derive(Debug, thiserror::Error)]
#[error("it is unknown whether Docket carried this out: {how_to_repeat}")]
pub(super) struct UnknownEnd {
    pub(super) how_to_repeat: String,
}

impl Failure {
    /// The request did not reach the server, or the server did nothing.
    pub(super) fn passing(error: anyhow::Error) -> Self {
        Self { error, retry: Retry::Later(None), effect: Effect::None }
    }

    /// The request was sent, and its result was lost.
    pub(super) fn lost(error: anyhow::Error) -> Self {
        Self { effect: Effect::Possible, ..Self::passing(error) }
    }

    pub(super) fn last(error: anyhow::Error) -> Self {
        Self { error, retry: Retry::Never, effect: Effect::None }
    }

    /// Why no response arrived.
    pub(super) fn of_sending(error: reqwest::Error, server: &str) -> Self {
        let is_sent = !error.is_connect();
        let wrong = wrong_setting(&error, server);
        let error = anyhow!(error.without_url());
        match wrong {
            Some(wrong) => Self::last(error.context(wrong)),
            None if is_sent => Self::lost(error.context(format!("{server} cannot be reached"))),
            None => Self::passing(error.context(format!("{server} cannot be reached"))),
        }
    }

    /// A response with this status, which is no success. `wait`: the time that the server named.
    pub(super) fn of_status(error: anyhow::Error, status: StatusCode, wait: Option<Duration>) -> Self {
        let retry = if is_passing(status) { Retry::Later(wait) } else { Retry::Never };
        Self { error, retry, effect: Effect::of(status) }
    }
}

impl Effect {
    /// The server looks up the key of a change before it checks the change. So what it refuses as such was refused before, too.
    fn of(status: StatusCode) -> Self {
        match status {
            StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY => Self::Impossible,
            status if status.is_server_error() => Self::Possible,
            _ => Self::None,
        }
    }

    /// The effect of a request after one more attempt.
    pub(super) fn after(self, last: Self) -> Self {
        match (self, last) {
            (_, Self::Impossible) => Self::Impossible,
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
    if error.is_dns() && !causes(error).any(|cause| is_passing_lookup(&cause.to_string())) {
        return Some(format!("the host of {server} does not exist: check DOCKET_SERVER"));
    }
    match causes(error).find_map(|cause| cause.downcast_ref::<TlsError>())? {
        TlsError::InvalidCertificate(_) => Some(format!(
            "the certificate of {server} is not trusted: check DOCKET_SERVER, and DOCKET_CA_FILE if you use your own authority"
        )),
        TlsError::InvalidMessage(_) | TlsError::NoCertificatesPresented | TlsError::PeerIncompatible(_) => {
            Some(format!("{server} does not speak https as Docket does: check DOCKET_SERVER"))
        }
        _ => None,
    }
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

    /// The effect of a request after attempts with these statuses; 0 is a lost response.
    fn effect_of(statuses: &[u16]) -> Effect {
        let effect = |status: &u16| match *status {
            0 => Failure::lost(anyhow!("lost")).effect,
            status => Effect::of(StatusCode::from_u16(status).expect("a status")),
        };
        statuses.iter().map(effect).fold(Effect::None, Effect::after)
    }

    #[test]
    fn lost_response_leaves_the_end_unknown_until_the_request_is_refused() {
        let refused_as_such = [400, 413, 415, 422];
        let refused_now = [401, 403, 404, 408, 409, 429];
        for lost in [0, 500, 502, 503, 504] {
            assert_eq!(effect_of(&[lost]), Effect::Possible, "{lost}");
            for refused in refused_now {
                assert_eq!(effect_of(&[refused]), Effect::None, "{refused}");
                assert_eq!(effect_of(&[lost, refused]), Effect::Possible, "{lost}, {refused}");
                assert_eq!(effect_of(&[refused, lost, refused]), Effect::Possible, "{refused}, {lost}");
            }
            for refused in refused_as_such {
                assert_eq!(effect_of(&[lost, refused]), Effect::Impossible, "{lost}, {refused}");
            }
        }
    }
}
