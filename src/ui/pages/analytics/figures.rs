//! The four figures of a range on one line, with their change, and what they are compared with. Also used by the overview.

use leptos::prelude::*;

use crate::ui::charts::number::{ai_share, change, counted, share_change};
use crate::ui::clock;
use crate::ui::components::localized::{day, days, number, short_days, written};
use crate::ui::components::what_is_ai::what_is_ai;
use model::analytics::pages::{Comparison, Earlier};
use model::day::{Day, DayRange};
use model::page_views::ViewCounts;

/// The most days that are named of those that are not compared.
const DAYS_NAMED: usize = 3;

/// From so many days on, a day is named with its year.
const LONG_AGO: i64 = 180;

/// The counts that a range is compared with.
#[derive(Clone, Copy)]
pub(super) enum Against<'a> {
    Nothing,
    /// The compared part of the range, and the same part of the compared period.
    Period(ViewCounts, ViewCounts),
    /// Earlier whole days, because no day of the range is complete.
    WholeDays(&'a Earlier),
}

impl<'a> Against<'a> {
    /// `comparison`: as [`Against::Period`].
    pub(super) fn of(comparison: Option<(ViewCounts, ViewCounts)>, earlier: Option<&'a Earlier>) -> Self {
        match (comparison, earlier) {
            (Some((now, before)), _) => Self::Period(now, before),
            (None, Some(earlier)) => Self::WholeDays(earlier),
            (None, None) => Self::Nothing,
        }
    }
}

/// `comparison`: the previous period.
pub(crate) fn figures(totals: ViewCounts, comparison: Option<&Comparison>) -> AnyView {
    compared(totals, Against::of(comparison.map(|it| (it.current, it.previous)), None), None)
}

/// With the change, or with earlier whole days. `provisional`: of [`provisional_days`].
pub(super) fn compared(totals: ViewCounts, against: Against<'_>, provisional: Option<AnyView>) -> AnyView {
    let count = |of: fn(ViewCounts) -> u64| {
        let beside = match against {
            Against::Nothing => None,
            Against::Period(now, before) => Some(change(of(now), of(before)).into_any()),
            Against::WholeDays(earlier) => Some(whole_days(earlier, number(of(earlier.counts)))),
        };
        (number(of(totals)).into_any(), beside)
    };
    let share = match against {
        Against::Nothing => None,
        Against::Period(now, before) => share_change(now, before).map(IntoAny::into_any),
        Against::WholeDays(earlier) => Some(whole_days(earlier, ai_share(earlier.counts))),
    };
    let beside_class = if matches!(against, Against::WholeDays(_)) { "change whole-day" } else { "change" };
    let figure = |class: &'static str, name: &'static str, (value, beside): (AnyView, Option<AnyView>)| {
        let beside = beside.map(|beside| view! { <dd class=beside_class>{beside}</dd> });
        view! { <div class=class><dt>{name}</dt><dd>{value}</dd>{beside}</div> }
    };
    view! {
        <div class="figures-and-note">
        <dl class="figures">
            {figure("figure", "Views", count(|counts| counts.total))}
            {figure("figure figure-human", "People", count(|counts| counts.human))}
            {figure("figure figure-ai", "AI", count(|counts| counts.ai))}
            {figure("figure", "AI share", (ai_share(totals).into_any(), share))}
        </dl>
        <div class="figure-notes">{what_is_ai()} {provisional.map(provisional_note)}</div>
        </div>
    }
    .into_any()
}

fn provisional_note(days: AnyView) -> AnyView {
    view! { <p class="provenance" title="The platform may still change the views of these days">{days}</p> }
        .into_any()
}

/// `Compared with Nov 1, 2026 to Nov 7, 2026.` Names both ranges and the days that are left out, if not all days are compared.
pub(crate) fn compared_days(comparison: &Comparison, today: Day) -> AnyView {
    let Comparison { from, to, compared, left_out, .. } = comparison;
    if left_out.is_empty() {
        return view! { "Compared with " {days_before(*compared, *from, *to)} "." }.into_any();
    }
    let others: Vec<Day> = left_out.iter().copied().filter(|day| *day != today).collect();
    let is_today = others.len() < left_out.len();
    view! {
        {days(compared.from(), compared.to())}
        " compared with "
        {days(*from, *to)}
        {(!others.is_empty()).then(|| incomplete_days(comparison, &others))}
        {is_today.then_some("; part of today is left out")}
        "."
    }
    .into_any()
}

/// The days from `from` to `to`; for one day also how long before the range it is: `Nov 14, 2026 (7 days before)`.
pub(super) fn days_before(range: DayRange, from: Day, to: Day) -> AnyView {
    let ago = range.from().days_since(from).unsigned_abs();
    let distance = (range.days() == 1).then(|| match ago {
        1 => " (the day before)".into_any(),
        _ => view! { " (" {written(counted(ago, "day", "days"))} " before)" }.into_any(),
    });
    view! { {days(from, to)} {distance} }.into_any()
}

/// `; Nov 3, 2026 and Oct 6, 2026 are left out: at least one of them is incomplete`, and so for several days.
fn incomplete_days(comparison: &Comparison, left_out: &[Day]) -> AnyView {
    let pairs = left_out.iter().take(DAYS_NAMED).enumerate().map(|(at, own)| {
        view! { {(at > 0).then_some(", ")} {day(*own)} " and " {day(comparison.partner(*own))} }
    });
    let pairs = pairs.collect_view();
    let count = left_out.len() as u64;
    let more = left_out.len().saturating_sub(DAYS_NAMED) as u64;
    match count {
        1 => view! { "; " {pairs} " are left out: at least one of them is incomplete" }.into_any(),
        _ => view! {
            "; "
            {written(counted(count, "day", "days"))}
            " on each side are left out, because at least one day of each pair is incomplete: "
            {pairs}
            {(more > 0).then(|| view! { ", and " {written(counted(more, "more", "more"))} })}
        }
        .into_any(),
    }
}

/// `Provisional: Nov 18, 2026 to Nov 20, 2026.` Today is described as incomplete elsewhere. `None` if
/// all other days are final.
pub(crate) fn provisional_days(ranges: &[DayRange], today: Day) -> Option<AnyView> {
    let before_today: Vec<_> = ranges.iter().filter_map(|range| range.until(today.plus_days(-1))).collect();
    let first = before_today.len().saturating_sub(DAYS_NAMED);
    let newest = before_today[first..].iter().enumerate().map(|(at, range)| {
        view! { {(at > 0).then_some(", ")} {days(range.from(), range.to())} }
    });
    let older = (first > 0).then_some("older days, ");
    (!before_today.is_empty())
        .then(|| view! { "Provisional: " {older} {newest.collect_view()} "." }.into_any())
}

/// `Nov 20: 4,210`, or `Nov 18 to Nov 19: 8,310`; with the year if that is long ago.
fn whole_days(earlier: &Earlier, value: impl IntoView) -> AnyView {
    let (from, to) = (earlier.days.from(), earlier.days.to());
    let named = match clock::today().days_since(from) < LONG_AGO {
        true => short_days(from, to).into_any(),
        false => days(from, to).into_any(),
    };
    view! { {named} ": " {value.into_view()} }.into_any()
}
