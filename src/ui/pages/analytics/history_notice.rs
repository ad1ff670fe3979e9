//! Explains why the page shows live data or none: days of its range are missing from the daily history. Shows the progress and the
//! cost of fetching them.

use leptos::prelude::*;

use crate::ui::charts::number::counted;
use crate::ui::clock;
use crate::ui::components::localized::number;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::time::until;
use crate::ui::pages::analytics::AnalyticsPage;
use crate::ui::pages::fetch_days::{MissingDays, days_are_missing, fetch_days};
use model::analytics::report::{LiveReport, MissingReport};
use model::day::DayRange;
use model::history::{HistoryState, Missing};
use model::time::Timestamp;

/// Shown above live figures.
pub(super) fn missing(context: &AnalyticsPage, report: &LiveReport) -> AnyView {
    let how_far = how_far(&report.history, clock::now());
    let missing =
        report.missing.clone().filter(|missing| missing.days > 0 || missing.retained_from.is_some());
    let text = match (context.range(), missing) {
        (Some(range), Some(missing)) if missing.retained_from.is_some() => view! {
            <p>"These figures come live from the platform, in its order. Trend, comparison, sorting and search need the daily history."</p>
            {fetch(context, range, missing, &report.history)}
        }
        .into_any(),
        (Some(range), Some(missing)) => {
            let lacking = number(missing.days.into());
            view! {
                <p>
                    "These figures come live from the platform, in its order. Trend, comparison, sorting and search need the daily history, which lacks "
                    {lacking} " of " {number(range.days().unsigned_abs())} " days of this range."
                </p>
                {fetch(context, range, missing, &report.history)}
                <p class="faint">{how_far}</p>
            }
            .into_any()
        }
        _ => view! { <p class="faint">{how_far}</p> }.into_any(),
    };
    view! { <div class="history-notice">{notice(Tone::Plain, text)}</div> }.into_any()
}

/// Shown in place of figures that the platform does not have: those of a page, a folder, a search or a tab.
pub(super) fn no_figures(context: &AnalyticsPage, report: &MissingReport) -> AnyView {
    let MissingReport { history, missing } = report;
    let fetch = context.range().map(|range| fetch(context, range, missing.clone(), history));
    let all = context.query.about_everything().href(&context.project);
    let text = view! {
        <p>
            <strong>{days_are_missing(missing.days)}</strong>
            " from the daily history. There are no figures without them: the platform counts only all pages together."
        </p>
        {fetch}
        <p class="faint">{how_far(history, clock::now())}</p>
        <p><a href=all>"Show all pages, live from the platform"</a></p>
    };
    view! { <div class="history-notice">{notice(Tone::Plain, text)}</div> }.into_any()
}

/// The button that fetches the missing days of a range.
fn fetch(context: &AnalyticsPage, range: DayRange, missing: Missing, history: &HistoryState) -> AnyView {
    let wanted = MissingDays { range, missing, history: history.clone() };
    fetch_days(&context.project, &wanted, &context.url(), context.session.can_start_jobs())
}

/// `History: 41 of 90 days are fetched, about 20 min to go; 12 calls left this hour above the reserve.`
fn how_far(state: &HistoryState, now: Timestamp) -> String {
    let to_go = match state.expected_end {
        _ if state.days_done >= state.days_wanted => String::new(),
        Some(end) => format!(", about {} to go", until(end, now)),
        None => String::new(),
    };
    let calls = counted(state.calls_left.into(), "call", "calls");
    let waiting = state.waiting.as_deref().map(|why| format!(" {why}")).unwrap_or_default();
    format!(
        "History: {} of {} days are fetched{to_go}; {calls} left this hour above the reserve.{waiting}",
        state.days_done, state.days_wanted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_has_days_time_and_calls() {
        let now = Timestamp::from_millis(0);
        let state = HistoryState {
            days_wanted: 90,
            days_done: 41,
            days_final: 38,
            first: None,
            last: None,
            calls_left: 12,
            expected_end: Some(now.plus_seconds(20 * 60)),
            waiting: None,
            marked: Vec::new(),
            marked_total: 0,
            failing: Vec::new(),
            failing_total: 0,
        };
        assert_eq!(
            how_far(&state, now),
            "History: 41 of 90 days are fetched, about 20 min to go; 12 calls left this hour above the reserve."
        );
        let done =
            HistoryState { days_done: 90, calls_left: 1, waiting: Some("Paused.".to_owned()), ..state };
        assert_eq!(
            how_far(&done, now),
            "History: 90 of 90 days are fetched; 1 call left this hour above the reserve. Paused."
        );
    }
}
