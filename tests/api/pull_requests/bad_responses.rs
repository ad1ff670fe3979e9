//! Pull requests whose responses are bad: all others have their state, and one bad pull request pauses no code host. The positions and the kinds are
//! random.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use super::connections::{merge_request, tracked_at_gitlab};
use super::{Tracked, tracked};
use crate::helpers::code_host::open_pull_request;
use crate::helpers::{json, until};

/// Larger than the limit of a response.
const TOO_LARGE: usize = 8 * 1024 * 1024 + 1;
const MERGE_REQUEST: &str = "/lab/acme/docs/-/merge_requests/";

fn html(status: u16) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_string("<html><title>Sorry</title>")
}

/// Responses that are no pull request, each with its name.
fn bad_responses() -> Vec<(&'static str, ResponseTemplate)> {
    let timeout = json!({ "data": null, "errors": [{ "message": "Something went wrong while executing your query. This may be the result of a timeout" }] });
    let empty = json!({ "data": { "p0": null }, "errors": [{ "message": "timeout" }] });
    vec![
        ("500", ResponseTemplate::new(500)),
        ("502 with HTML", html(502)),
        ("HTML", html(200)),
        ("404", ResponseTemplate::new(404)),
        ("403", ResponseTemplate::new(403)),
        ("null", ResponseTemplate::new(200).set_body_string("null")),
        ("nothing", ResponseTemplate::new(200)),
        ("invalid UTF-8", ResponseTemplate::new(200).set_body_bytes(b"\xff\xfe{\"data\":".to_vec())),
        ("too large", ResponseTemplate::new(200).set_body_bytes(vec![b' '; TOO_LARGE])),
        ("timeout without data", ResponseTemplate::new(200).set_body_json(timeout)),
        ("timeout with null", ResponseTemplate::new(200).set_body_json(empty)),
    ]
}

/// How many pull requests there are, and which of them is bad.
fn number_and_position(runner: &mut TestRunner) -> (u64, u64) {
    let both = (2_u64..=13).prop_flat_map(|count| (Just(count), 0..count));
    both.new_tree(runner).unwrap().current()
}

/// How many pull requests are in a random set.
const SEVERAL: usize = 14;
/// Longer than any pause after failures.
const AFTER_A_PAUSE: u64 = 16;

/// For each pull request of a set: whether its response is bad, and of which kind.
fn some_are_bad(runner: &mut TestRunner) -> Vec<Option<usize>> {
    let kinds = bad_responses().len();
    let set = (0.05..0.95).prop_flat_map(move |share: f64| {
        prop::collection::vec(prop::option::weighted(share, 0..kinds), SEVERAL)
    });
    set.new_tree(runner).unwrap().current()
}

/// Random sets, and those of which one or all are bad.
fn sets() -> Vec<Vec<Option<usize>>> {
    let mut runner = TestRunner::deterministic();
    let mut sets: Vec<_> = (0..6).map(|_| some_are_bad(&mut runner)).collect();
    sets.push(vec![Some(0); SEVERAL]);
    let mut one = vec![None; SEVERAL];
    one[0] = Some(1);
    sets.push(one);
    sets
}

impl Tracked {
    /// Waits until the pull requests from this number on have a state, and the checks of the bad ones failed. Only two bad ones may pause the host.
    async fn until_each_has_its_result(&self, what: &str, first: u64, bad: usize) {
        let ours = format!("job_id >= '01930000-0000-7000-8000-000000{}'", 100_000 + first);
        until(what, async || {
            let now = self.clock.now().as_millis();
            if self.count(&format!("code_hosts WHERE paused_until > {now}")).await > 0 {
                assert!(bad > 1, "{what}: the host is paused");
                self.wait_minutes(AFTER_A_PAUSE);
            }
            let known = self.count(&format!("pull_requests WHERE {ours} AND state = 'open'")).await;
            let failed = format!("pull_requests WHERE {ours} AND state = 'unknown' AND failure IS NOT NULL");
            let results = (known as usize, self.count(&failed).await as usize);
            (results == (SEVERAL - bad, bad)).then_some(())
        })
        .await;
    }

    /// Forgets the host's failures, and checks the known pull requests no more.
    async fn begin_anew(&self) {
        self.app.ledger().run("UPDATE pull_requests SET next_check_at = NULL").await;
        self.app.ledger().run("DELETE FROM code_hosts").await;
    }

    /// Adds jobs whose pull requests have these numbers.
    async fn add_jobs(&self, numbers: impl Iterator<Item = u64>, link: &str) {
        for number in numbers {
            let sql = format!(
                "INSERT INTO jobs (id, project, state, created_at, changed_at, remote_id, remote_status, pr_link) VALUES
                 ('01930000-0000-7000-8000-000000{}', 'docs', 'completed', 1, 1, 'r{number}', 'completed', '{}{link}{number}')",
                100_000 + number,
                self.host.url()
            );
            self.app.ledger().run(sql.leak()).await;
        }
    }

    async fn count(&self, condition: &str) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM {condition}");
        self.app.ledger().count(sql.leak()).await
    }

    /// Waits until all but the bad pull request have a state, and the check of that one failed.
    async fn until_all_but_one(&self, what: &str, known: u64) {
        until(what, async || {
            let others = self.count("pull_requests WHERE state = 'open'").await;
            let failed = self.count("pull_requests WHERE state = 'unknown' AND failure IS NOT NULL").await;
            ((others, failed) == (known as i64, 1)).then_some(())
        })
        .await;
    }

    async fn assert_not_paused(&self, what: &str) {
        assert_eq!(self.count("code_hosts WHERE paused_until > 0").await, 0, "{what}");
    }
}

#[tokio::test]
async fn one_bad_pull_request_stops_no_other() {
    let tracked = tracked().await;
    let (mut runner, mut known) = (TestRunner::deterministic(), 0);
    for (kind, response) in bad_responses() {
        let (count, position) = number_and_position(&mut runner);
        let what = format!("{kind}, {position} of {count}");
        let bad = known + position;
        (known..known + count).for_each(|number| tracked.host.set(number + 1, open_pull_request()));
        tracked.host.spoil(bad + 1, Some(response));
        tracked.add_jobs(known + 1..known + count + 1, "/acme/docs/pull/").await;
        tracked.until_all_but_one(&what, known + count - 1).await;
        tracked.assert_not_paused(&what).await;
        tracked.host.spoil(bad + 1, None);
        tracked.wait_minutes(7);
        known += count;
        until(&what, async || {
            (tracked.count("pull_requests WHERE state = 'open'").await == known as i64).then_some(())
        })
        .await;
        tracked.assert_not_paused(&what).await;
    }
}

#[tokio::test]
async fn any_set_of_bad_pull_requests_stops_no_other() {
    let (tracked, kinds, mut first) = (tracked().await, bad_responses(), 1);
    for set in sets() {
        let numbers = first..first + SEVERAL as u64;
        for (number, kind) in numbers.clone().zip(&set) {
            tracked.host.set(number, open_pull_request());
            tracked.host.spoil(number, kind.map(|kind| kinds[kind].1.clone()));
        }
        tracked.add_jobs(numbers.clone(), "/acme/docs/pull/").await;
        let bad = set.iter().flatten().count();
        tracked.until_each_has_its_result(&format!("{set:?}"), first, bad).await;
        tracked.begin_anew().await;
        numbers.for_each(|number| tracked.host.spoil(number, None));
        first += SEVERAL as u64;
    }
}

#[tokio::test]
async fn result_that_the_database_refuses_stops_no_other() {
    let tracked = tracked().await;
    (1..=3).for_each(|number| tracked.host.set(number, open_pull_request()));
    tracked
        .host
        .change(2, &json!({ "reviewRequests": { "nodes": [{ "requestedReviewer": { "login": "odd" } }] } }));
    tracked.app.ledger().refuse("UPDATE ON pull_requests", "NEW.reviewers LIKE '%odd%'").await;
    tracked.add_jobs(1..=3, "/acme/docs/pull/").await;
    tracked.until_all_but_one("refused", 2).await;
    tracked.assert_not_paused("refused").await;
}

#[tokio::test]
async fn several_bad_pull_requests_stop_no_other() {
    let tracked = tracked().await;
    for number in 1..=50 {
        tracked.host.set(number, open_pull_request());
    }
    // The first and the last, neighbors, and the middle.
    let bad = [1, 17, 18, 19, 25, 26, 50];
    bad.into_iter().for_each(|number| tracked.host.spoil(number, Some(ResponseTemplate::new(502))));
    tracked.add_jobs(1..=50, "/acme/docs/pull/").await;
    until("the others are known", async || {
        let known = tracked.count("pull_requests WHERE state = 'open'").await;
        // If two fail before any success, the host is paused for half a minute.
        tracked.clock.advance(std::time::Duration::from_secs(31));
        (known == 43).then_some(())
    })
    .await;
}

#[tokio::test]
async fn checks_of_others_are_known_if_one_query_fails() {
    let tracked = tracked().await;
    for number in 1..=5 {
        tracked.host.set(number, open_pull_request());
    }
    tracked.host.spoil_checks(3, ResponseTemplate::new(502));
    tracked.add_jobs(1..=5, "/acme/docs/pull/").await;
    until("all states are known", async || {
        let open = tracked.count("pull_requests WHERE state = 'open'").await;
        (open == 5).then_some(())
    })
    .await;
    assert_eq!(tracked.count("pull_requests WHERE checks = 'passing'").await, 4);
    tracked.assert_not_paused("checks").await;
}

/// A scripted GitLab, whose responses to some paths are bad.
#[derive(Clone, Default)]
struct GitLab(Arc<Mutex<BTreeMap<String, ResponseTemplate>>>);

impl wiremock::Respond for GitLab {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let (_, rest) = request.url.path().split_once("/merge_requests/").unwrap();
        if let Some(bad) = self.0.lock().get(rest) {
            return bad.clone();
        }
        ResponseTemplate::new(200).set_body_json(match rest.split_once('/') {
            None => merge_request(),
            Some((_, "approvals")) => json!({ "approvals_required": 0, "approved_by": [] }),
            Some(_) => json!([{ "new_path": "docs/a.md" }]),
        })
    }
}

async fn scripted_gitlab() -> (Tracked, GitLab) {
    let (tracked, gitlab) = (tracked_at_gitlab().await, GitLab::default());
    tracked.host.on_each("GET", "^/lab/api/v4/projects/", gitlab.clone()).await;
    (tracked, gitlab)
}

#[tokio::test]
async fn one_bad_merge_request_stops_no_other() {
    let (tracked, gitlab) = scripted_gitlab().await;
    let (mut runner, mut known) = (TestRunner::deterministic(), 0);
    for (kind, response) in bad_responses() {
        let (count, position) = number_and_position(&mut runner);
        let what = format!("{kind}, {position} of {count}");
        let bad = (known + position + 1).to_string();
        gitlab.0.lock().insert(bad.clone(), response);
        tracked.add_jobs(known + 1..known + count + 1, MERGE_REQUEST).await;
        tracked.until_all_but_one(&what, known + count - 1).await;
        tracked.assert_not_paused(&what).await;
        gitlab.0.lock().remove(&bad);
        tracked.wait_minutes(7);
        known += count;
        until(&what, async || {
            (tracked.count("pull_requests WHERE state = 'open'").await == known as i64).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn any_set_of_bad_merge_requests_stops_no_other() {
    let ((tracked, gitlab), kinds, mut first) = (scripted_gitlab().await, bad_responses(), 1);
    // The merge request itself, and its parts, without which its state is known.
    let places = ["", "/diffs", "", "/approvals", ""];
    for set in sets() {
        let numbers = first..first + SEVERAL as u64;
        let mut bad = 0;
        for ((number, kind), place) in numbers.clone().zip(&set).zip(places.iter().cycle()) {
            let Some(kind) = *kind else { continue };
            bad += usize::from(place.is_empty());
            gitlab.0.lock().insert(format!("{number}{place}"), kinds[kind].1.clone());
        }
        tracked.add_jobs(numbers, MERGE_REQUEST).await;
        tracked.until_each_has_its_result(&format!("{set:?}"), first, bad).await;
        tracked.begin_anew().await;
        gitlab.0.lock().clear();
        first += SEVERAL as u64;
    }
}

#[tokio::test]
async fn merge_request_that_pauses_its_host_each_time_stops_no_other() {
    let (tracked, gitlab) = scripted_gitlab().await;
    let limited = ResponseTemplate::new(429).insert_header("retry-after", "60");
    // Each is due before the others. The response about the second one is at its part.
    gitlab.0.lock().insert("1".to_owned(), ResponseTemplate::new(401));
    gitlab.0.lock().insert("2/diffs".to_owned(), limited);
    tracked.add_jobs(1..=SEVERAL as u64, MERGE_REQUEST).await;
    until("all others have a state", async || {
        let now = tracked.clock.now().as_millis();
        if tracked.count(&format!("code_hosts WHERE paused_until > {now}")).await > 0 {
            tracked.wait_minutes(AFTER_A_PAUSE);
        }
        let known = tracked.count("pull_requests WHERE state = 'open'").await;
        (known as usize == SEVERAL - 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn links_in_earlier_forms_have_a_state() {
    let (tracked, gitlab) = scripted_gitlab().await;
    let mut draft = merge_request();
    draft.as_object_mut().unwrap().remove("draft");
    draft["work_in_progress"] = json!(true);
    gitlab.0.lock().insert("8".to_owned(), ResponseTemplate::new(200).set_body_json(draft));
    let address = tracked.host.url();
    let job = tracked.job_with_link(&format!("{address}/lab/acme/docs/merge_requests/7")).await;
    tracked.until(&job, "state", json!("open")).await;
    let job = tracked.job_with_link(&format!("{address}/lab/acme/docs/merge_requests/8/diffs")).await;
    tracked.until(&job, "state", json!("draft")).await;
}

#[tokio::test]
async fn merge_request_with_bad_parts_has_its_state() {
    let (tracked, gitlab) = scripted_gitlab().await;
    let (mut runner, mut known) = (TestRunner::deterministic(), 0);
    for (kind, response) in bad_responses() {
        for part in ["approvals", "diffs"] {
            let (count, position) = number_and_position(&mut runner);
            let what = format!("{part} {kind}, {position} of {count}");
            gitlab.0.lock().insert(format!("{}/{part}", known + position + 1), response.clone());
            tracked.add_jobs(known + 1..known + count + 1, MERGE_REQUEST).await;
            known += count;
            until(&what, async || {
                (tracked.count("pull_requests WHERE state = 'open'").await == known as i64).then_some(())
            })
            .await;
            assert_eq!(tracked.count("pull_requests WHERE failure IS NOT NULL").await, 0, "{what}");
            tracked.assert_not_paused(&what).await;
        }
    }
    assert_eq!(
        tracked.count("pull_requests WHERE files = '[]' AND files_total = 1").await,
        bad_responses().len() as i64
    );
}

#[tokio::test]
async fn unreadable_parts_leave_the_last_known_ones() {
    let (tracked, gitlab) = scripted_gitlab().await;
    let approved = json!({ "approvals_required": 1, "approvals_left": 0, "approved_by": [{ "user": { "username": "ada" } }] });
    gitlab.0.lock().insert("7/approvals".to_owned(), ResponseTemplate::new(200).set_body_json(approved));
    let job = tracked.job_with_link(&format!("{}{MERGE_REQUEST}7", tracked.host.url())).await;
    tracked.until(&job, "review", json!("approved")).await;
    gitlab.0.lock().insert("7/approvals".to_owned(), ResponseTemplate::new(500));
    gitlab
        .0
        .lock()
        .insert("7/diffs".to_owned(), ResponseTemplate::new(200).set_body_bytes(vec![b' '; TOO_LARGE]));
    tracked.wait_minutes(7);
    let later = tracked.until(&job, "checked_at", json!("2026-11-21T10:07:00Z")).await;
    assert_eq!((&later["review"], &later["files"]), (&json!("approved"), &json!(["docs/a.md"])), "{later}");
    assert_eq!(later["failure"], Value::Null);
}

#[tokio::test]
async fn text_with_a_lone_surrogate_leaves_the_state_known() {
    let (tracked, gitlab) = scripted_gitlab().await;
    let text = merge_request().to_string().replacen('{', r#"{"title": "x\ud83d","#, 1);
    gitlab.0.lock().insert("7".to_owned(), ResponseTemplate::new(200).set_body_string(text));
    let job = tracked.job_with_link(&format!("{}{MERGE_REQUEST}7", tracked.host.url())).await;
    tracked.until(&job, "state", json!("open")).await;
}
