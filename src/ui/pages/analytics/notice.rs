//! Says that a page is live because days of its range are not kept yet, how far the history is, and what fetching them costs.

use leptos::server_fn::ServerFn;

use crate::api::history::FetchDays;
use crate::model::day::DayRange;
use crate::model::drawn::HistoryNotice;
use crate::model::history::{HistoryState, Missing};
use crate::model::time::Timestamp;
use crate::ui::charts::number::{counted, grouped};
use crate::ui::components::icon;
use crate::ui::components::moment::until;
use crate::ui::markup::{Markup, markup};

/// Above live figures of `range`.
pub fn notice(
    project: &str,
    range: Option<DayRange>,
    (state, missing): (&HistoryState, Option<&Missing>),
    may_fetch: bool,
    now: Timestamp,
) -> HistoryNotice {
    let how_far = how_far(state, now);
    let said = match (range, missing) {
        (Some(_), Some(missing)) if missing.days == 0 => markup(
            r#"<p>{}</p><a class="button" href="" rel="external">Show them by day</a>"#,
            &[&"All days of this range are in the daily history now."],
        ),
        (Some(range), Some(missing)) => {
            let days =
                format!("{} of {}", grouped(missing.days.into()), grouped(range.days().unsigned_abs()));
            let form = if may_fetch { fetch_form(project, range, missing.calls) } else { Markup::default() };
            markup(
                r#"<p>These figures come live from the upstream, in its order. Trend, comparison, sorting and search need the daily history, which lacks {} days of this range.</p><p class="faint">{}</p>{}"#,
                &[&days, &how_far, &form],
            )
        }
        _ => markup(r#"<p class="faint">{}</p>"#, &[&how_far]),
    };
    let said = markup(
        r#"<div class="notice history-notice"><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg><div>{}</div></div>"#,
        &[&icon::CLOCK, &said],
    );
    HistoryNotice { lacks: missing.is_some_and(|missing| missing.days > 0), said: said.into_html() }
}

fn fetch_form(project: &str, range: DayRange, calls: u32) -> Markup {
    let [from, to] = [range.from(), range.to()].map(|day| day.to_string());
    let price = counted(calls.into(), "call", "calls");
    markup(
        r#"<form method="post" action="{}"><input type="hidden" name="project" value="{}"><input type="hidden" name="from" value="{}"><input type="hidden" name="to" value="{}"><button class="button" type="submit">Fetch them first (at least {})</button></form>"#,
        &[&FetchDays::PATH, &project, &from, &to, &price],
    )
}

/// `History: 41 of 90 days are here, about 20 min to go; 12 calls left this hour above the reserve.`
fn how_far(state: &HistoryState, now: Timestamp) -> String {
    let to_go = match state.expected_end {
        _ if state.days_done >= state.days_wanted => String::new(),
        Some(end) => format!(", about {} to go", until(end, now)),
        None => String::new(),
    };
    let calls = counted(state.calls_left.into(), "call", "calls");
    let waiting = state.waiting.as_deref().map(|why| format!(" {why}")).unwrap_or_default();
    format!(
        "History: {} of {} days are here{to_go}; {calls} left this hour above the reserve.{waiting}",
        state.days_done, state.days_wanted
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_said_with_numbers() {
        let now = Timestamp::from_millis(0);
        let state = HistoryState {
            days_wanted: 90,
            days_done: 41,
            days_settled: 38,
            first: None,
            last: None,
            calls_left: 12,
            expected_end: Some(now.plus_seconds(20 * 60)),
            waiting: None,
            marked: Vec::new(),
        };
        assert_eq!(
            how_far(&state, now),
            "History: 41 of 90 days are here, about 20 min to go; 12 calls left this hour above the reserve."
        );
        let done =
            HistoryState { days_done: 90, calls_left: 1, waiting: Some("Paused.".to_owned()), ..state };
        assert_eq!(
            how_far(&done, now),
            "History: 90 of 90 days are here; 1 call left this hour above the reserve. Paused."
        );
    }
}
