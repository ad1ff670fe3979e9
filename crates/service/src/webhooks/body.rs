//! The body of a notification and its signature. It contains the prompt's title, never its whole text.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;

use base::config::PublicUrl;
use model::job::{JobState, has_no_request, safe_link};
use model::pull_request::PullRequestEvent;
use model::webhook::{FOLLOW_UP_CANCELLED, FOLLOW_UP_REJECTED, FOLLOW_UP_UNKNOWN, WebhookKind};
use store::webhooks::events::{DueEvent, EventJob};

const MERGED: &str = PullRequestEvent::Merged.as_str();
const CLOSED: &str = PullRequestEvent::Closed.as_str();
const STALE: &str = PullRequestEvent::Stale.as_str();

/// The request body for an event.
pub(super) fn body(due: &DueEvent, public_url: &PublicUrl) -> String {
    let message = match due.kind {
        WebhookKind::Json => json!({
            "id": due.id,
            "type": due.event,
            "at": due.at,
            "job": due.job.as_ref().map(|job| json!({
                "id": job.id,
                "project": due.project,
                "title": job.title,
                "author": job.author,
                "state": job.state,
                "pr_link": job.pr_link,
                "published_directly": is_published_directly(job),
                "url": url(due, job, public_url),
            })),
            "follow_up": due.follow_up.as_ref().map(|follow_up| json!({
                "id": follow_up.id,
                "number": follow_up.number,
                "state": due.event.strip_prefix("follow_up."),
            })),
        }),
        WebhookKind::Slack => json!({ "text": text(due, public_url) }),
    };
    message.to_string()
}

/// The start of every secret. The rest is its key in Base64.
pub(super) const SECRET_PREFIX: &str = "whsec_";

/// One attempt to deliver an event, as it is signed.
#[derive(Clone, Copy)]
pub(super) struct Signed<'a> {
    pub(super) id: &'a str,
    /// The time of the attempt, in Unix seconds.
    pub(super) timestamp: i64,
    pub(super) body: &'a str,
}

impl Signed<'_> {
    /// `v1=` and the HMAC-SHA-256 of `timestamp.body` in hexadecimal, with the characters of the secret as key.
    pub(super) fn signature(self, secret: &str) -> String {
        let message = format!("{}.{}", self.timestamp, self.body);
        format!("v1={}", HEXLOWER.encode(&hmac(secret.as_bytes(), &message)))
    }

    /// The header of Standard Webhooks: for each secret, `v1,` and the HMAC-SHA-256 of `id.timestamp.body` in Base64.
    pub(super) fn standard_signatures<'a>(self, secrets: impl IntoIterator<Item = &'a str>) -> String {
        let message = format!("{}.{}.{}", self.id, self.timestamp, self.body);
        let signature = |secret| format!("v1,{}", STANDARD.encode(hmac(&key(secret), &message)));
        secrets.into_iter().map(signature).collect::<Vec<_>>().join(" ")
    }
}

/// The key of a secret. Those of earlier versions are in the Base64 of URLs and have no padding.
fn key(secret: &str) -> Vec<u8> {
    let text = secret.strip_prefix(SECRET_PREFIX).unwrap_or(secret);
    let text = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
    STANDARD_NO_PAD.decode(text).unwrap_or_else(|_| secret.as_bytes().to_vec())
}

fn hmac(key: &[u8], message: &str) -> Vec<u8> {
    // HMAC accepts keys of any length, so this never fails.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn url(due: &DueEvent, job: &EventJob, public_url: &PublicUrl) -> String {
    format!("{}/p/{}/jobs/{}", public_url.origin(), due.project, job.id)
}

/// Whether the job was completed in a project whose changes the platform publishes without pull requests.
fn is_published_directly(job: &EventJob) -> bool {
    has_no_request(job.state, job.pr_link.is_some()) && job.is_direct
}

/// A line in Slack's markup.
fn text(due: &DueEvent, public_url: &PublicUrl) -> String {
    let Some(job) = &due.job else {
        return format!("Test from Docket for the project {}: it works.", due.project);
    };
    let outcome = match (job.state, due.event.as_str()) {
        (_, FOLLOW_UP_REJECTED) => "Follow-up not accepted",
        (_, FOLLOW_UP_CANCELLED) => "Follow-up cancelled",
        (_, FOLLOW_UP_UNKNOWN) => "Needs attention, outcome of a follow-up unknown",
        (_, MERGED) => "Pull request merged",
        (_, CLOSED) => "Pull request closed",
        (_, STALE) => "Pull request waits for somebody",
        (JobState::Completed, _) if job.pr_link.is_some() => "A pull request is ready",
        (JobState::Completed, _) if is_published_directly(job) => "Completed, published directly",
        (JobState::Completed, _) => "Completed, no changes",
        (JobState::Failed, _) => "Failed",
        (JobState::Archived, _) => "Archived",
        (JobState::Rejected, _) => "Not started",
        (JobState::Cancelled, _) => "Cancelled",
        (JobState::Unknown, _) => "Needs attention, outcome unknown",
        (_, "job.not_found") => "No longer found",
        _ => "No end after 3 days",
    };
    let title = format!("<{}|{}>", linked(&url(due, job, public_url)), escaped(&job.title));
    match job.pr_link.as_deref().and_then(safe_link) {
        Some(link) => {
            format!("{outcome}: {title} (<{}|pull request>), by {}", linked(link), escaped(&job.author))
        }
        None => format!("{outcome}: {title}, by {}", escaped(&job.author)),
    }
}

/// Escapes the three special characters of Slack's markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A URL for use between `<` and `|`.
fn linked(address: &str) -> String {
    escaped(&address.replace('|', "%7C"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_matches_the_output_of_openssl() {
        // printf '%s' '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 'whsec_test'
        let signed = Signed { id: "e", timestamp: 1_700_000_000, body: "{\"a\":1}" };
        assert_eq!(
            signed.signature("whsec_test"),
            "v1=38877139021993b830af32feea6e18a8da83eb2f6e49ee50bd9e4cf4ca4d3789"
        );
    }

    /// The values of the tests of the library `standardwebhooks` 1.1 for Python, which verifies the result.
    #[test]
    fn standard_signatures_match_those_of_the_library() {
        let (secret, other) =
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_-_8oP5r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKY");
        let body = "{\"test\": 2432232314}";
        let signed = Signed { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body };
        assert_eq!(
            signed.standard_signatures([secret, other]),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v1,2LXaFXKOalcbk4D2U1Da7lWCp6cNgqYEjcN40PBdlrE="
        );
    }

    #[test]
    fn text_is_escaped_in_slack_markup() {
        assert_eq!(escaped("<!channel> & <https://x|y>"), "&lt;!channel&gt; &amp; &lt;https://x|y&gt;");
        assert_eq!(linked("https://x/a|b>c"), "https://x/a%7Cb&gt;c");
    }
}
