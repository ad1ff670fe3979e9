use std::collections::{BTreeMap, BTreeSet};

use strum::VariantArray;

use super::{Attention, DeliveryStep, JobStep, Standing};
use crate::audit::Action;
use crate::job::{DeliveryState, JobState, NO_END, NOT_FOUND};
use crate::webhook::{EVENTS, event};

/// Every step in every state of a delivery: the state after it, or `-` where it is refused.
const DELIVERIES: &str = "
    step              new       queued     sending   accepted  rejected  cancelled  unknown
    commit            queued    -          -         -         -         -          -
    import            accepted  -          -         -         -         -          -
    claim             -         sending    -         -         -         -          -
    accept            -         -          accepted  -         -         -          accepted
    reject            -         -          rejected  -         -         -          rejected
    requeue           -         -          queued    -         -         -          queued
    lose_outcome      -         -          unknown   -         -         -          unknown
    cancel            -         cancelled  -         -         -         -          -
    reject_follow_up  -         rejected   -         -         -         -          -
    reject_unsent     -         rejected   -         -         -         -          -
    send_again        -         -          -         -         -         -          queued
    mark_accepted     -         -          -         -         -         -          accepted";

/// The same for jobs, with `*` where the platform's status decides. Steps of the first prompt have the names of the delivery's
/// steps.
const JOBS: &str = "
    step              new     queued     sending   active  completed  archived  failed  rejected  cancelled  unknown   other
    commit            queued  -          -         -       -          -         -       -         -          -         -
    import            *       -          -         -       -          -         -       -         -          -         -
    claim             -       sending    -         -       -          -         -       -         -          -         -
    accept            -       -          *         -       -          -         -       -         -          *         -
    reject            -       -          rejected  -       -          -         -       -         -          rejected  -
    requeue           -       -          queued    -       -          -         -       -         -          queued    -
    lose_outcome      -       -          unknown   -       -          -         -       -         -          unknown   -
    cancel            -       cancelled  -         -       -          -         -       -         -          -         -
    reject_follow_up  -       -          -         -       -          -         -       -         -          -         -
    reject_unsent     -       rejected   -         -       -          -         -       -         -          -         -
    send_again        -       -          -         -       -          -         -       -         -          queued    -
    mark_accepted     -       -          -         -       -          -         -       -         -          *         -
    response          -       -          -         *       *          *         *       -         -          -         *
    poll              -       -          -         *       *          *         *       -         -          -         *
    give_up           -       -          -         other   other      other     other   -         -          -         other";

fn job_steps() -> Vec<(&'static str, JobStep)> {
    let first = DeliveryStep::VARIANTS.iter().map(|step| (step.as_str(), JobStep::FirstPrompt(*step)));
    first
        .chain([("response", JobStep::Response), ("poll", JobStep::Poll), ("give_up", JobStep::GiveUp)])
        .collect()
}

/// The rows of a table above, each cell with the state of its column; `None` before the first state.
fn cells(
    table: &'static str,
) -> impl Iterator<Item = (&'static str, Vec<(Option<&'static str>, &'static str)>)> {
    let mut lines = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let states = lines.next().unwrap_or_default();
    lines.map(move |line| {
        let before = states.iter().skip(1).map(|state| Some(*state).filter(|state| *state != "new"));
        assert_eq!(line.len(), states.len(), "{line:?}");
        (line[0], before.zip(line[1..].iter().copied()).collect())
    })
}

#[test]
fn delivery_allows_only_the_steps_of_its_table() {
    let rows: Vec<_> = cells(DELIVERIES).collect();
    assert!(rows.iter().map(|(name, _)| *name).eq(DeliveryStep::VARIANTS.iter().map(|step| step.as_str())));
    for ((name, row), step) in rows.iter().zip(DeliveryStep::VARIANTS) {
        assert_eq!(row.len(), 1 + DeliveryState::VARIANTS.len());
        for (before, expected) in row {
            let after = step.after(before.map(|state| state.parse().expect("a state")));
            assert_eq!(after.map_or("-", DeliveryState::as_str), *expected, "{name} from {before:?}");
        }
    }
}

#[test]
fn job_allows_only_the_steps_of_its_table() {
    let steps = job_steps();
    let rows: Vec<_> = cells(JOBS).collect();
    assert!(rows.iter().map(|(name, _)| name).eq(steps.iter().map(|(name, _)| name)));
    let statuses = ["active", "completed", "archived", "failed", "paused"];
    for ((name, row), (_, step)) in rows.iter().zip(steps) {
        assert_eq!(row.len(), 1 + JobState::ALL.len());
        for (before, expected) in row {
            let before = before.map(|state| state.parse().expect("a state"));
            for status in statuses {
                let after = step.after(before, Some(status)).map_or("-", JobState::as_str);
                let expected = match *expected {
                    "*" => JobState::of(DeliveryState::Accepted, Some(status)).as_str(),
                    expected => expected,
                };
                assert_eq!(after, expected, "{name} from {before:?} with {status}");
            }
        }
    }
}

/// The store changes a first prompt and its job in one transaction: no step may be possible for only one of them.
#[test]
fn job_allows_every_step_of_its_first_prompt() {
    for step in DeliveryStep::VARIANTS.iter().filter(|step| **step != DeliveryStep::RejectFollowUp) {
        for before in DeliveryState::VARIANTS.iter().filter(|state| **state != DeliveryState::Accepted) {
            let job = JobState::of(*before, None);
            let expected = step.after(Some(*before)).map(|after| JobState::of(after, Some("active")));
            assert_eq!(
                JobStep::FirstPrompt(*step).after(Some(job), Some("active")),
                expected,
                "{step:?} {before:?}"
            );
        }
    }
}

#[test]
fn only_steps_by_people_are_audited() {
    let audited = |step: DeliveryStep, position| step.audit(position).map(Action::as_str);
    let first: Vec<_> = DeliveryStep::VARIANTS.iter().map(|step| audited(*step, 0).unwrap_or("-")).collect();
    let words = "job_start adopt - - - - - cancel - - resend resolve";
    assert_eq!(first.join(" "), words);
    let later: Vec<_> = DeliveryStep::VARIANTS.iter().map(|step| audited(*step, 1).unwrap_or("-")).collect();
    assert_eq!(later.join(" "), words.replace("job_start", "follow_up"));
}

/// Every step that a job allows, with every status of the platform.
fn possible_steps() -> Vec<(&'static str, JobStep, JobState, JobState, &'static str)> {
    let statuses = ["active", "completed", "archived", "failed", "paused", NO_END, NOT_FOUND];
    let mut possible = Vec::new();
    for (name, step) in job_steps() {
        // Only Docket itself uses the statuses of lost jobs.
        for status in statuses
            .into_iter()
            .filter(|status| Standing::is_lost(Some(*status)) == (step == JobStep::GiveUp))
        {
            possible.extend(JobState::ALL.into_iter().filter_map(|before| {
                step.after(Some(before), Some(status)).map(|after| (name, step, before, after, status))
            }));
        }
    }
    assert!(possible.len() > 100, "{}", possible.len());
    possible
}

#[test]
fn webhooks_report_ends_other_ends_and_found_outcomes() {
    let moving = [JobState::Queued, JobState::Sending, JobState::Active, JobState::Other];
    assert!(JobState::ALL.iter().all(|state| state.is_moving() == moving.contains(state)));
    for (name, step, before, after, _) in possible_steps() {
        let is_new = moving.contains(&before) || (before != after && after != JobState::Archived);
        let was_found = before == JobState::Unknown && before != after;
        let expected = name == "give_up" || (!moving.contains(&after) && (is_new || was_found));
        assert_eq!(step.is_reported(before, after), expected, "{name}: {before} to {after}");
    }
}

/// A job in a state, whose last follow-up is in another one.
fn standing(state: JobState, follow_up: Option<DeliveryState>, bits: u8) -> Standing {
    Standing {
        state,
        is_archived: false,
        is_dismissed: false,
        is_resolved: false,
        has_pull_request: bits & 1 != 0,
        is_direct: bits & 2 != 0,
        is_lost: false,
        has_unknown_delivery: state == JobState::Unknown || follow_up == Some(DeliveryState::Unknown),
        last_was_rejected: follow_up == Some(DeliveryState::Rejected)
            || (follow_up.is_none() && state == JobState::Rejected),
    }
}

/// With every follow-up, with and without a pull request, in projects with and without them. A job that a person dismissed or archived counts as one
/// that needed attention before.
#[test]
fn every_step_of_a_job_to_needs_attention_is_an_event() {
    let mut steps_to_attention = BTreeSet::new();
    let follow_ups: Vec<_> =
        [None].into_iter().chain(DeliveryState::VARIANTS.iter().copied().map(Some)).collect();
    for (name, step, before, after, status) in possible_steps() {
        for (follow_up, bits) in follow_ups.iter().flat_map(|last| (0..4).map(move |bits| (*last, bits))) {
            let is_lost = step == JobStep::GiveUp;
            let now = Standing { is_lost, ..standing(after, follow_up, bits) };
            if standing(before, follow_up, bits).needs_attention() || !now.needs_attention() {
                continue;
            }
            steps_to_attention.insert(name);
            let reported = step.is_reported(before, after).then(|| event(after, Some(status))).flatten();
            let event = reported.unwrap_or_else(|| panic!("{name}: {before} to {after}"));
            assert!(EVENTS.contains(&event), "{event}");
        }
    }
    let expected = ["accept", "give_up", "lose_outcome", "poll", "reject", "reject_unsent", "response"];
    assert!(steps_to_attention.iter().eq(expected.iter()), "{steps_to_attention:?}");
}

/// Every step of a follow-up from every state, in a job of every state.
#[test]
fn every_step_of_a_follow_up_to_needs_attention_is_an_event() {
    let mut steps_to_attention = BTreeSet::new();
    for (step, before) in every_step_of_a_delivery() {
        let Some(after) = step.after(Some(before)) else { continue };
        for (state, bits) in JobState::ALL.into_iter().flat_map(|state| (0..4).map(move |bits| (state, bits)))
        {
            let needs = |follow_up| standing(state, Some(follow_up), bits).needs_attention();
            if !needs(before) && needs(after) {
                steps_to_attention.insert(step.as_str());
                let event = step.follow_up_event(before);
                let event = event.unwrap_or_else(|| panic!("{step:?}: {before:?} to {after:?}"));
                assert!(EVENTS.contains(&event), "{event}");
            }
        }
    }
    let expected = ["lose_outcome", "reject", "reject_follow_up", "reject_unsent"];
    assert!(steps_to_attention.iter().eq(expected.iter()), "{steps_to_attention:?}");
}

fn every_step_of_a_delivery() -> impl Iterator<Item = (DeliveryStep, DeliveryState)> {
    let steps = DeliveryStep::VARIANTS.iter().copied();
    steps.flat_map(|step| DeliveryState::VARIANTS.iter().map(move |before| (step, *before)))
}

/// A follow-up that is accepted shows in its job, whose end is reported. Every other end is one of its own.
#[test]
fn every_other_end_of_a_follow_up_is_an_event_with_its_state() {
    for (step, before) in every_step_of_a_delivery() {
        let Some(after) = step.after(Some(before)) else { continue };
        let is_end = after.has_outcome() && after != DeliveryState::Accepted && after != before;
        let expected = is_end.then(|| format!("follow_up.{}", after.as_str()));
        assert_eq!(step.follow_up_event(before), expected.as_deref(), "{step:?} from {before:?}");
    }
}

/// Every state with every combination of the other facts.
#[test]
fn state_decides_attention_unless_archived_dismissed_or_resolved() {
    let rules = JobState::ALL.map(|state| (state.as_str(), state.attention()));
    assert_eq!(
        rules,
        [
            ("queued", Attention::ForFollowUps),
            ("sending", Attention::ForFollowUps),
            ("active", Attention::ForFollowUps),
            ("completed", Attention::WithoutPullRequest),
            ("archived", Attention::ForFollowUps),
            ("failed", Attention::Always),
            ("rejected", Attention::Always),
            ("cancelled", Attention::Never),
            ("unknown", Attention::Always),
            ("other", Attention::WhenLost),
        ]
    );
    for state in JobState::ALL {
        for bits in 0..=u8::MAX {
            let bit = |at: u8| bits & (1_u8 << at) != 0;
            let standing = Standing {
                state,
                is_archived: bit(0),
                is_dismissed: bit(1),
                has_pull_request: bit(2),
                is_lost: bit(3),
                has_unknown_delivery: bit(4),
                last_was_rejected: bit(5),
                is_resolved: bit(6),
                is_direct: bit(7),
            };
            let word = state.as_str();
            let expected = if bit(0) || bit(1) || bit(6) || word == "cancelled" {
                false
            } else {
                ["unknown", "failed", "rejected"].contains(&word)
                    || (word == "completed" && !bit(2) && !bit(7))
                    || (word == "other" && bit(3))
                    || bit(4)
                    || bit(5)
            };
            assert_eq!(standing.needs_attention(), expected, "{standing:?}");
        }
    }
    let lost = [Some(NOT_FOUND), Some(NO_END), Some("active"), Some(""), None].map(Standing::is_lost);
    assert_eq!(lost, [true, true, false, false, false]);
}

#[test]
fn follow_ups_depend_on_their_first_prompt() {
    let words = |which: fn(DeliveryState) -> bool| -> Vec<_> {
        DeliveryState::VARIANTS.iter().filter(|state| which(**state)).map(|state| state.as_str()).collect()
    };
    assert_eq!(words(DeliveryState::accepts_follow_ups), ["queued", "sending", "accepted"]);
    for state in JobState::ALL {
        let refuses = matches!(state, JobState::Rejected | JobState::Cancelled | JobState::Unknown);
        assert_eq!(state.accepts_follow_ups(), !refuses, "{state}");
    }
    assert_eq!(words(DeliveryState::ends_follow_ups), ["rejected", "cancelled"]);
    assert_eq!(words(DeliveryState::has_outcome), ["accepted", "rejected", "cancelled", "unknown"]);
    assert_eq!(words(DeliveryState::may_be_queued_again), ["queued", "sending", "unknown"]);
}

/// The changes of an accepted job's state that show work on a follow-up.
#[test]
fn only_a_change_after_an_end_shows_a_follow_up() {
    let accepted = || JobState::ALL.into_iter().filter(|state| state.is_accepted());
    let shown = accepted().flat_map(|before| {
        accepted()
            .filter(move |after| before.shows_follow_up(*after))
            .map(move |after| format!("{before} {after}"))
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "completed active",
            "completed failed",
            "completed other",
            "archived active",
            "archived completed",
            "archived failed",
            "archived other",
            "failed active",
            "failed completed",
            "failed other",
        ]
    );
}

/// The arrows of a diagram, from lines such as `queued --> sending: claim`.
fn arrows_of(diagram: &str) -> BTreeMap<(String, String), Vec<String>> {
    let arrows = diagram.lines().filter_map(|line| {
        let (ends, steps) = line.trim().split_once(": ")?;
        let (from, to) = ends.split_once(" --> ")?;
        let steps = steps.split(", ").map(str::to_owned).collect();
        Some(((from.to_owned(), to.to_owned()), steps))
    });
    arrows.collect()
}

#[test]
fn the_diagrams_agree_with_the_tables() {
    let document = include_str!("../../../../docs/design/delivery.md");
    let diagrams: Vec<&str> =
        document.split("```").filter(|block| block.starts_with("mermaid\nstateDiagram-v2")).collect();
    assert_eq!(diagrams.len(), 2, "deliveries and jobs");

    let mut deliveries = BTreeMap::<_, Vec<String>>::new();
    let mut jobs = BTreeMap::<_, Vec<String>>::new();
    let name = |step: &str| step.replace('_', " ");
    let start = |state: Option<&str>| state.unwrap_or("[*]").to_owned();
    for step in DeliveryStep::VARIANTS {
        for before in [None].into_iter().chain(DeliveryState::VARIANTS.iter().copied().map(Some)) {
            let Some(after) = step.after(before) else { continue };
            let arrow = (start(before.map(DeliveryState::as_str)), after.as_str().to_owned());
            deliveries.entry(arrow).or_default().push(name(step.as_str()));
        }
    }
    let diagram_state = |state: JobState| if state.is_accepted() { "platform" } else { state.as_str() };
    for (step_name, step) in job_steps() {
        for before in [None].into_iter().chain(JobState::ALL.map(Some)) {
            let Some(after) = step.after(before, Some("active")) else { continue };
            let arrow = (start(before.map(diagram_state)), diagram_state(after).to_owned());
            let steps = jobs.entry(arrow).or_default();
            if !steps.contains(&name(step_name)) {
                steps.push(name(step_name));
            }
        }
    }
    assert_eq!(arrows_of(diagrams[0]), deliveries);
    assert_eq!(arrows_of(diagrams[1]), jobs);
}
