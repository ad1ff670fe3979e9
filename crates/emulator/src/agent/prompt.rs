//! Validates a prompt and reads its directives. Does not store the text.

use std::time::Duration;

use serde_json::Value;

use super::super::Outcome;

const SLOW: Duration = Duration::from_secs(60);

const JSON: &str = "application/json";

/// The directives of a prompt, for tests and demonstrations. Each is a word between spaces:
/// `emulator:pull-request`, `emulator:no-changes`, `emulator:fail` (the first one wins), `emulator:slow`; `emulator:archive` archives the job when
/// it has finished, `emulator:odd-id` gives it an id with unusual letters, and with `emulator:inactive` a follow-up leaves a finished job as it is while
/// it is processed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Directives {
    pub(super) outcome: Option<Outcome>,
    pub(super) duration: Option<Duration>,
    pub(super) archives: bool,
    pub(super) has_odd_id: bool,
    pub(super) leaves_inactive: bool,
}

/// Whether this content type is JSON, with any parameters.
pub(super) fn is_json(content_type: Option<&str>) -> bool {
    let essence = content_type.and_then(|text| text.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(JSON))
}

/// The prompt of a request body, or the problem with it.
pub(super) fn in_body(body: &[u8]) -> Result<String, &'static str> {
    let body: Value = serde_json::from_slice(body).map_err(|_| "Body is not valid JSON")?;
    match body.get("prompt") {
        Some(Value::String(prompt)) if prompt.is_empty() => Err("prompt must not be empty"),
        Some(Value::String(prompt)) => Ok(prompt.clone()),
        Some(_) => Err("prompt must be a string"),
        None => Err("prompt is required"),
    }
}

impl Directives {
    pub(super) fn in_prompt(prompt: &str) -> Self {
        let mut directives = Self::default();
        for word in prompt.split_whitespace() {
            // It may end a sentence.
            let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
            match word {
                "emulator:slow" => directives.duration = Some(SLOW),
                "emulator:archive" => directives.archives = true,
                "emulator:odd-id" => directives.has_odd_id = true,
                "emulator:inactive" => directives.leaves_inactive = true,
                _ => directives.outcome = directives.outcome.or(outcome_named(word)),
            }
        }
        directives
    }
}

fn outcome_named(word: &str) -> Option<Outcome> {
    match word {
        "emulator:pull-request" => Some(Outcome::PullRequest),
        "emulator:no-changes" => Some(Outcome::NoChanges),
        "emulator:fail" => Some(Outcome::Failed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_directives() {
        let read = Directives::in_prompt;
        assert_eq!(read("Document emulator:failures"), Directives::default());
        assert_eq!(read("emulator:fail").outcome, Some(Outcome::Failed));
        assert_eq!(read("a\nemulator:no-changes b").outcome, Some(Outcome::NoChanges));
        assert_eq!(read("Use emulator:no-changes. Then").outcome, Some(Outcome::NoChanges));
        assert_eq!(read("emulator:pull-request emulator:fail").outcome, Some(Outcome::PullRequest));
        let both = read("emulator:slow please emulator:fail");
        assert_eq!(
            both,
            Directives { outcome: Some(Outcome::Failed), duration: Some(SLOW), ..Directives::default() }
        );
    }

    #[test]
    fn only_json_is_a_content_type_of_prompts() {
        assert!(is_json(Some("application/json")) && is_json(Some("Application/JSON; charset=utf-8")));
        for other in [None, Some(""), Some("text/plain"), Some("application/jsonp"), Some("text/json")] {
            assert!(!is_json(other), "{other:?}");
        }
    }

    #[test]
    fn one_character_is_a_prompt_and_unknown_fields_are_ignored() {
        assert_eq!(in_body(br#"{"prompt":" ","model":"x"}"#), Ok(" ".to_owned()));
        assert!(in_body(br#"{"prompt":""}"#).is_err());
    }
}
