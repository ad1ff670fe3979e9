//! Days of a comparison that are missing from the daily history: a button that requests them, and the progress. With scripts
//! the page is refreshed until they are fetched.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::charts::number::{counted, grouped};
use crate::ui::clock;
use crate::ui::components::form::post_form;
use crate::ui::components::localized::{self, days};
use crate::ui::components::time::until;
use api::history::{FetchDays, history_state, missing_days, stored_days};
use model::analytics::effect::JobEffect;
use model::day::{Day, DayRange};
use model::error::AppError;
use model::history::{FailingDay, HistoryState, Missing, StoredDays};
use model::time::Timestamp;

/// Seconds between two refreshes of a page that waits for days.
pub(super) const EVERY: &str = "5";

/// A range of days, some of which are missing.
pub(super) struct MissingDays {
    pub(super) range: DayRange,
    pub(super) missing: Missing,
    pub(super) history: HistoryState,
}

impl MissingDays {
    /// `None` if no day is missing.
    pub(super) async fn load(project: &str, range: DayRange) -> Result<Option<Self>, AppError> {
        let (from, to) = (range.from().to_string(), range.to().to_string());
        let missing = missing_days(project.to_owned(), from, to).await?;
        if missing.days == 0 && missing.retained_from.is_none() {
            return Ok(None);
        }
        let history = history_state(project.to_owned()).await?;
        Ok(Some(Self { range, missing, history }))
    }

    /// Whether every day of the range is missing.
    pub(super) fn are_all(&self) -> bool {
        i64::from(self.missing.days) == self.range.days()
    }

    /// Whether all of them were requested.
    pub(super) fn are_requested(&self) -> bool {
        self.missing.are_requested()
    }
}

/// `back`: the page that needs the days. `may_fetch`: whether this person may request them.
pub(super) fn fetch_days(project: &str, wanted: &MissingDays, back: &str, may_fetch: bool) -> AnyView {
    let MissingDays { range, missing, history } = wanted;
    if let Some(first) = missing.retained_from {
        return view! { <p class="faint">{before_retention(first)}</p> }.into_any();
    }
    let progress = progress(wanted, clock::now());
    let button =
        (may_fetch && !wanted.are_requested()).then(|| fetch_button(project, *range, missing.calls, back));
    let bar = wanted.are_requested().then(|| {
        let all = range.days().unsigned_abs();
        let here = all.saturating_sub(missing.days.into());
        view! { <progress max=all.to_string() value=here.to_string() aria-hidden="true"></progress> }
    });
    let waiting = history.waiting.clone().filter(|_| wanted.are_requested() || history.calls_left == 0);
    view! {
        <div class="fetch-days">
            {button}
            <p role="status">{days(range.from(), range.to())} ": " {progress} " " {waiting}</p>
            {bar}
            {failing(history, *range)}
        </div>
    }
    .into_any()
}

/// `Days before Oct 23, 2026 are no longer in the daily history.`
fn before_retention(first: Day) -> impl IntoView {
    view! { "Days before " {localized::day(first)} " are no longer in the daily history." }
}

/// `3 days are missing`.
pub(super) fn days_are_missing(days: u32) -> String {
    let are = if days == 1 { "is" } else { "are" };
    format!("{} {are} missing", counted(days.into(), "day", "days"))
}

/// The days of a range that could not be fetched.
fn failing(history: &HistoryState, range: DayRange) -> Option<AnyView> {
    let now = clock::now();
    let listed = history.failing.len();
    // The newest days are listed: older ones of the range may have failed, too.
    let is_cut = history.failing_total as usize > listed
        && history.failing.last().is_some_and(|oldest| range.from() < oldest.day);
    let cut = is_cut.then(|| {
        let text = format!("{} days failed. Only the newest {listed} are listed.", history.failing_total);
        view! { <p class="faint">{text}</p> }
    });
    let in_range: Vec<&FailingDay> =
        history.failing.iter().filter(|failing| range.contains(failing.day)).collect();
    let rows: Vec<AnyView> = in_range
        .iter()
        .map(|FailingDay { day, attempts, cause, next_try_at }| {
            let attempts = counted((*attempts).into(), "attempt", "attempts");
            let next = match next_try_at {
                Some(at) if *at > now => format!("The next try is in {}.", until(*at, now)),
                Some(_) => "The next try is now.".to_owned(),
                None => "Docket does not try it again until somebody requests it again.".to_owned(),
            };
            let what = format!("{} ({attempts}). {next}", cause.label());
            view! { <li>{localized::day(*day)} ": " {what}</li> }.into_any()
        })
        .collect();
    let list = (!rows.is_empty()).then(|| view! { <ul class="failing-days">{rows}</ul> });
    (list.is_some() || is_cut).then(|| view! { {list} {cut} }.into_any())
}

/// The stored days of a range, which can be fetched again.
pub(super) struct FetchAgain {
    range: DayRange,
    stored: StoredDays,
    history: HistoryState,
}

impl FetchAgain {
    /// `None` if no day is stored, or if loading fails, because an error must not prevent the page.
    pub(super) async fn load(project: &str, range: DayRange) -> Option<Self> {
        let (from, to) = (range.from().to_string(), range.to().to_string());
        let stored = stored_days(project.to_owned(), from, to).await.ok()?;
        if stored.days == 0 {
            return None;
        }
        let history = history_state(project.to_owned()).await.ok()?;
        Some(Self { range, stored, history })
    }

    /// Whether some of them are being fetched again.
    pub(super) fn is_pending(&self) -> bool {
        self.stored.requested > 0
    }
}

/// The button that fetches stored days again, and its cost.
pub(super) fn fetch_again(project: &str, again: &FetchAgain, back: &str) -> AnyView {
    let FetchAgain { range, stored, history } = again;
    let hidden = vec![
        ("project", project.to_owned()),
        ("from", range.from().to_string()),
        ("to", range.to().to_string()),
        ("again", "true".to_owned()),
        ("back", back.to_owned()),
    ];
    let calls = counted(stored.calls, "call", "calls");
    let cost = format!(
        "Fetching these days again takes at least {calls}; this hour has {} left for it. Figures that differ replace the stored ones, and their days are marked; a response without views replaces others only on the third day.",
        grouped(history.calls_left.into())
    );
    let label = format!("Fetch {} again ({calls})", counted(stored.days.into(), "day", "days"));
    let button = view! {
        <button class="button" type="submit" data-done="The days are being fetched again">{label}</button>
    };
    let pending = again.is_pending().then(|| {
        format!(
            "{} being fetched again.",
            match stored.requested {
                1 => "1 day is".to_owned(),
                days => format!("{} days are", grouped(days.into())),
            }
        )
    });
    let waiting = history.waiting.clone().filter(|_| again.is_pending());
    view! {
        <div class="fetch-days">
            <p>{cost}</p>
            {post_form("fetch-again-form", FetchDays::PATH, hidden, button)}
            <p role="status">{pending} " " {waiting}</p>
        </div>
        {failing(history, *range)}
    }
    .into_any()
}

/// The plain form of the button.
pub(super) fn fetch_button(project: &str, range: DayRange, calls: u32, back: &str) -> AnyView {
    let hidden = vec![
        ("project", project.to_owned()),
        ("from", range.from().to_string()),
        ("to", range.to().to_string()),
        ("back", back.to_owned()),
    ];
    let price = (calls > 0).then(|| format!(" (at least {})", counted(calls.into(), "call", "calls")));
    let button = view! {
        <button class="button" type="submit" data-done="The days are being fetched">"Fetch these days" {price}</button>
    };
    post_form("fetch-days-form", FetchDays::PATH, hidden, button).into_any()
}

/// The button for the weeks around a job; nothing while they are being fetched.
pub(super) fn fetch_weeks(project: &str, effect: &JobEffect, back: &str) -> Option<AnyView> {
    (effect.missing > 0 && !effect.requested).then(|| fetch_button(project, effect.weeks(), 0, back))
}

/// `12 of 28 days are here, about 4 min to go.`, or the cost of a request and the calls left.
fn progress(MissingDays { range, missing, history }: &MissingDays, now: Timestamp) -> String {
    let all = range.days().unsigned_abs();
    let here = format!("{} of {}", all.saturating_sub(missing.days.into()), counted(all, "day", "days"));
    if missing.are_requested() {
        let to_go = history.expected_end.map(|end| format!(", about {} to go", until(end, now)));
        return format!("{here} here, the others are being fetched{}.", to_go.unwrap_or_default());
    }
    let calls = counted(missing.calls.into(), "call", "calls");
    let calls_left = grouped(history.calls_left.into());
    let left = match history.calls_left {
        0 => "This hour has no calls left for them: they are fetched as soon as it has.".to_owned(),
        left if left < missing.calls => format!(
            "Fetching the others takes at least {calls}. This hour has {calls_left} left for it; the others follow as calls become free."
        ),
        _ => {
            format!("Fetching the others takes at least {calls}, and this hour has {calls_left} left for it.")
        }
    };
    format!("{here} in the daily history. {left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(requested: u32, calls_left: u32) -> MissingDays {
        let day = |text: &str| text.parse().unwrap_or_else(|error| panic!("{error}"));
        MissingDays {
            range: DayRange::ending(day("2026-11-10"), 28),
            missing: Missing { days: 16, calls: 32, requested, scheduled: 0, retained_from: None },
            history: HistoryState {
                days_wanted: 90,
                days_done: 90,
                days_final: 88,
                first: None,
                last: None,
                calls_left,
                expected_end: Some(Timestamp::from_millis(240_000)),
                waiting: None,
                marked: Vec::new(),
                marked_total: 0,
                failing: Vec::new(),
                failing_total: 0,
            },
        }
    }

    #[test]
    fn progress_has_the_calls_needed_and_left() {
        let text = |requested, left| progress(&wanted(requested, left), Timestamp::from_millis(0));
        let here = "12 of 28 days in the daily history. ";
        assert_eq!(
            text(0, 1_947),
            format!(
                "{here}Fetching the others takes at least 32 calls, and this hour has 1,947 left for it."
            )
        );
        assert_eq!(
            text(3, 9),
            format!(
                "{here}Fetching the others takes at least 32 calls. This hour has 9 left for it; the others follow as calls become free."
            )
        );
        assert_eq!(
            text(0, 0),
            format!("{here}This hour has no calls left for them: they are fetched as soon as it has.")
        );
        assert_eq!(text(16, 9), "12 of 28 days here, the others are being fetched, about 4 min to go.");
    }
}
