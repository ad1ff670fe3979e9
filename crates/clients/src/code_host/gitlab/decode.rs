//! Decodes GitLab's responses. Unknown values are ignored.

use serde::Deserialize;
use serde_json::Value;

use crate::code_host::exchange::HostError;
use crate::upstream::decode::json::json;
use model::pull_request::{Checks, FILES_MAX, PullRequestState, REVIEWERS_MAX, Reported, Review};
use model::time::Timestamp;

#[derive(Debug, Deserialize)]
pub(super) struct MergeRequest {
    state: String,
    draft: Option<bool>,
    /// The name of `draft` before GitLab 14.
    work_in_progress: Option<bool>,
    created_at: Option<String>,
    merged_at: Option<String>,
    closed_at: Option<String>,
    has_conflicts: Option<bool>,
    detailed_merge_status: Option<String>,
    reviewers: Option<Vec<Person>>,
    /// A text, such as `3` or `1000+`.
    changes_count: Option<Value>,
    head_pipeline: Option<Pipeline>,
}

#[derive(Debug, Deserialize)]
struct Person {
    username: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Pipeline {
    status: Option<String>,
}

/// The approvals of a merge request.
#[derive(Debug)]
pub(super) enum Approvals {
    Known(KnownApprovals),
    /// The host does not show them to this token: the merge request has none, as far as Docket knows.
    Hidden,
    /// They could not be fetched now.
    Unknown,
}

#[derive(Debug, Deserialize)]
pub(super) struct KnownApprovals {
    approvals_required: Option<u64>,
    approvals_left: Option<u64>,
    approved_by: Option<Vec<Approval>>,
}

#[derive(Debug, Deserialize)]
struct Approval {
    user: Option<Person>,
}

/// `None` if the response is JSON, but no merge request.
pub(super) fn merge_request(body: &[u8]) -> Result<Option<MergeRequest>, HostError> {
    let value = json(body).ok_or(HostError::BadResponse("it is no JSON"))?;
    Ok(MergeRequest::deserialize(value).ok().filter(|merge_request| merge_request.known_state().is_some()))
}

pub(super) fn approvals(body: &[u8]) -> Approvals {
    let approvals = json(body).and_then(|value| KnownApprovals::deserialize(value).ok());
    approvals.map_or(Approvals::Unknown, Approvals::Known)
}

/// The paths of the changed files; `None` if the response is no list.
pub(super) fn files(body: &[u8]) -> Option<Vec<String>> {
    let Some(Value::Array(diffs)) = json(body) else { return None };
    let paths = diffs.iter().filter_map(|diff| diff["new_path"].as_str());
    Some(paths.take(FILES_MAX).map(str::to_owned).collect())
}

impl MergeRequest {
    fn known_state(&self) -> Option<PullRequestState> {
        match self.state.as_str() {
            "merged" => Some(PullRequestState::Merged),
            "closed" => Some(PullRequestState::Closed),
            "opened" if self.draft.or(self.work_in_progress) == Some(true) => Some(PullRequestState::Draft),
            // It is being merged.
            "opened" | "locked" => Some(PullRequestState::Open),
            _ => None,
        }
    }

    pub(super) fn checks(&self) -> Checks {
        match self.head_pipeline.as_ref().and_then(|pipeline| pipeline.status.as_deref()) {
            None | Some("skipped") => Checks::None,
            Some("success") => Checks::Passing,
            Some("failed" | "canceled" | "canceling") => Checks::Failing,
            Some(
                "created"
                | "waiting_for_resource"
                | "preparing"
                | "waiting_for_callback"
                | "pending"
                | "running"
                | "manual"
                | "scheduled",
            ) => Checks::Pending,
            Some(_) => Checks::Unreadable,
        }
    }

    /// `files`: the changed files, if they are known.
    pub(super) fn reported(self, approvals: Approvals, files: Option<Vec<String>>) -> Reported {
        let instant = |text: Option<&String>| text.and_then(|text| text.parse::<Timestamp>().ok());
        let state = self.known_state().unwrap_or(PullRequestState::Unknown);
        let is_unknown = matches!(approvals, Approvals::Unknown);
        let approvals = match approvals {
            Approvals::Known(approvals) => Some(approvals),
            Approvals::Hidden | Approvals::Unknown => None,
        };
        let approved_by = approvals.as_ref().and_then(|approvals| approvals.approved_by.as_ref());
        let approved_by: Vec<String> = approved_by
            .into_iter()
            .flatten()
            .filter_map(|approval| approval.user.as_ref()?.username.clone())
            .collect();
        let is_required =
            approvals.as_ref().and_then(|approvals| approvals.approvals_required).unwrap_or_default() > 0;
        let are_left =
            approvals.as_ref().and_then(|approvals| approvals.approvals_left).unwrap_or_default() > 0;
        let requested = self.reviewers.iter().flatten().filter_map(|reviewer| reviewer.username.clone());
        let requested: Vec<String> = requested.collect();
        let review = match self.detailed_merge_status.as_deref() {
            Some("requested_changes") => Some(Review::ChangesRequested),
            _ if is_unknown => None,
            _ if !approved_by.is_empty() && !are_left => Some(Review::Approved),
            _ if is_required || !requested.is_empty() => Some(Review::Required),
            _ => Some(Review::None),
        };
        let mut reviewers = [approved_by, requested].concat();
        reviewers.sort_unstable();
        reviewers.dedup();
        reviewers.truncate(REVIEWERS_MAX);
        let total = match &self.changes_count {
            Some(Value::String(text)) => text.trim_end_matches('+').parse().unwrap_or_default(),
            Some(Value::Number(number)) => {
                number.as_u64().and_then(|total| u32::try_from(total).ok()).unwrap_or_default()
            }
            _ => 0_u32,
        };
        Reported {
            state,
            review,
            reviewers,
            conflict: state.is_open() && self.has_conflicts == Some(true),
            files_total: total.max(files.as_ref().map_or(0, Vec::len) as u32),
            files,
            opened_at: instant(self.created_at.as_ref()),
            merged_at: instant(self.merged_at.as_ref()).filter(|_| state == PullRequestState::Merged),
            // GitLab sets no closing time for a merged one.
            closed_at: instant(self.closed_at.as_ref().or(self.merged_at.as_ref()))
                .filter(|_| state.is_finished()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decoded(changes: Value) -> MergeRequest {
        let mut value = json!({
            "iid": 7, "state": "opened", "draft": false, "created_at": "2026-11-20T10:00:00.000+02:00", "merged_at": null,
            "closed_at": null, "has_conflicts": false, "detailed_merge_status": "not_approved",
            "reviewers": [{ "username": "ben" }], "changes_count": "2", "head_pipeline": { "status": "running" },
        });
        for (name, change) in changes.as_object().expect("fields") {
            value[name] = change.clone();
        }
        merge_request(value.to_string().as_bytes()).expect("JSON").expect("a merge request")
    }

    #[test]
    fn open_merge_request_has_its_files_and_reviewers() {
        let approvals = approvals(br#"{"approvals_required": 2, "approvals_left": 1, "approved_by": [{"user": {"username": "ada"}}]}"#);
        let files = files(br#"[{"new_path": "docs/a.mdx"}, {"old_path": "x"}, {"new_path": "docs/b.mdx"}]"#);
        let merge_request = decoded(json!({}));
        assert_eq!(merge_request.checks(), Checks::Pending);
        let reported = merge_request.reported(approvals, files);
        assert_eq!((reported.state, reported.review), (PullRequestState::Open, Some(Review::Required)));
        assert_eq!(reported.files.unwrap_or_default(), ["docs/a.mdx", "docs/b.mdx"]);
        assert_eq!(reported.reviewers, ["ada", "ben"]);
        assert_eq!(reported.opened_at, "2026-11-20T08:00:00Z".parse().ok());
    }

    #[test]
    fn approval_counts_when_none_is_left() {
        let approved = || {
            approvals(br#"{"approvals_required": 1, "approvals_left": 0, "approved_by": [{"user": {"username": "ada"}}]}"#)
        };
        assert_eq!(decoded(json!({})).reported(approved(), None).review, Some(Review::Approved));
        let rejected = json!({ "detailed_merge_status": "requested_changes" });
        assert_eq!(decoded(rejected).reported(approved(), None).review, Some(Review::ChangesRequested));
        // The free edition requires no approval and reports every merge request as approved.
        let free = || {
            approvals(
                br#"{"approved": true, "approvals_required": 0, "approvals_left": 0, "approved_by": []}"#,
            )
        };
        assert_eq!(decoded(json!({})).reported(free(), None).review, Some(Review::Required));
        assert_eq!(decoded(json!({ "reviewers": [] })).reported(free(), None).review, Some(Review::None));
        assert_eq!(
            decoded(json!({ "reviewers": null })).reported(Approvals::Hidden, None).review,
            Some(Review::None)
        );
    }

    #[test]
    fn finished_merge_request_has_its_times() {
        let merged =
            decoded(json!({ "state": "merged", "merged_at": "2026-11-21T10:00:00Z", "has_conflicts": true }));
        let merged = merged.reported(Approvals::Hidden, None);
        assert_eq!((merged.state, merged.conflict), (PullRequestState::Merged, false));
        assert_eq!(merged.merged_at, merged.closed_at);
        assert!(merged.merged_at.is_some());
        let closed = decoded(json!({ "state": "closed", "closed_at": "2026-11-21T10:00:00Z" }))
            .reported(Approvals::Hidden, None);
        assert_eq!((closed.state, closed.merged_at), (PullRequestState::Closed, None));
        assert_eq!(
            decoded(json!({ "draft": true })).reported(Approvals::Hidden, None).state,
            PullRequestState::Draft
        );
        for (changes, state) in [
            (json!({ "draft": null, "work_in_progress": true }), PullRequestState::Draft),
            (json!({ "draft": null, "work_in_progress": false }), PullRequestState::Open),
            (json!({ "draft": false, "work_in_progress": true }), PullRequestState::Open),
            (json!({ "draft": null, "work_in_progress": true, "state": "merged" }), PullRequestState::Merged),
        ] {
            let reported = decoded(changes.clone()).reported(Approvals::Hidden, None);
            assert_eq!(reported.state, state, "{changes}");
        }
        assert_eq!(
            decoded(json!({ "changes_count": "1000+" })).reported(Approvals::Hidden, None).files_total,
            1_000
        );
    }

    #[test]
    fn unknown_state_is_unusable() {
        assert!(matches!(merge_request(b"<html>"), Err(HostError::BadResponse(_))));
        assert!(merge_request(br#"{"state": "odd"}"#).expect("JSON").is_none());
        assert!(merge_request(br#"[]"#).expect("JSON").is_none());
        assert!(merge_request(br#"{"state": "opened", "reviewers": 7}"#).expect("JSON").is_none());
        for (status, checks) in
            [("success", Checks::Passing), ("manual", Checks::Pending), ("odd", Checks::Unreadable)]
        {
            assert_eq!(
                decoded(json!({ "head_pipeline": { "status": status } })).checks(),
                checks,
                "{status}"
            );
        }
        assert_eq!(decoded(json!({ "head_pipeline": null })).checks(), Checks::None);
    }

    #[test]
    fn odd_text_in_a_response_leaves_the_state_known() {
        for title in [&br#""x\ud83d""#[..], br#""\ude00\ud83d""#, b"\"\xff\xfe\"", b"1e999"] {
            let body = [br#"{"state": "merged", "title": "#, title, b"}"].concat();
            assert!(matches!(merge_request(&body), Ok(Some(_))), "{}", String::from_utf8_lossy(&body));
        }
        assert_eq!(files(b"[{\"new_path\": \"docs/\xff.md\"}]"), Some(vec!["docs/\u{fffd}.md".to_owned()]));
    }

    #[test]
    fn failed_parts_are_unknown() {
        for body in [&b"<html>"[..], b"null", b"{\"message\": \"500\"}", b""] {
            assert_eq!(files(body), None, "{}", String::from_utf8_lossy(body));
        }
        assert_eq!(files(b"[]"), Some(Vec::new()));
        for body in [&b"<html>"[..], b"null", b"[]7"] {
            let reported = decoded(json!({})).reported(approvals(body), files(body));
            assert_eq!((reported.state, reported.review), (PullRequestState::Open, None));
            assert_eq!((reported.files, reported.files_total), (None, 2));
        }
        let rejected = decoded(json!({ "detailed_merge_status": "requested_changes" }));
        assert_eq!(rejected.reported(Approvals::Unknown, None).review, Some(Review::ChangesRequested));
    }
}
