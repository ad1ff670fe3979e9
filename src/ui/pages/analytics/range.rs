//! The range of days: presets as links, and a form for others.

use leptos::prelude::*;
use strum::VariantArray;

use crate::ui::components::icon::{self, icon};
use crate::ui::components::localized::{self, counted, days, with_weekday};
use crate::ui::components::menu::{MenuButton, menu};
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::readers;
use crate::ui::pages::analytics::AnalyticsPage;
use model::analytics::choice::Compare;
use model::analytics::days::{Days, Span};
use model::analytics::query::{AnalyticsQuery, DAYS, TypedDays};
use model::day::{Day, DayRange};
use model::links;
use model::preset::Preset;

/// The name of all time.
pub(super) const ALL_TIME: &str = "All time";

/// The id of the message at the field of the first day.
const PROBLEM: &str = "from-problem";

pub(super) fn ranges(context: &AnalyticsPage) -> AnyView {
    let AnalyticsPage { project, query, today, .. } = context;
    let range = context.range();
    let named = query.days.days();
    let chosen = named.and_then(Days::preset).filter(|_| context.typed.is_none());
    let preset = |preset: Preset| {
        let days = query.over(Days::of(preset, *today));
        choice(preset.label(), days.href(project), chosen == Some(preset))
    };
    let (latest, past): (Vec<_>, Vec<_>) = Preset::ALL.into_iter().partition(|preset| preset.ends_today());
    let presets: Vec<_> = latest.into_iter().map(preset).collect();
    let past: Vec<_> = past.into_iter().map(preset).collect();
    // The platform counts all pages together only.
    let all_time = query.about_everything().over(Span::AllTime).href(project);
    let all_time = choice(ALL_TIME, all_time, query.is_of_all_time());
    let (from, to) = match (range, &context.typed) {
        (Some(range), _) => (Some(range.from()), Some(range.to())),
        (None, Some(typed)) => (day_in(&typed.from), day_in(&typed.to)),
        (None, None) => (named.and_then(Days::named_from), named.and_then(Days::named_to)),
    };
    let custom = custom(CustomRange {
        action: links::analytics(project),
        hidden: query.hidden_fields(&[DAYS, "from", "to"]),
        days: [from, to],
        today: *today,
        problem: context.days_problem().map(str::to_owned),
        name: match (chosen.filter(|preset| !preset.ends_today()), range.filter(|_| chosen.is_none())) {
            (Some(preset), _) => preset.label().into_any(),
            (None, range) => custom_name(range),
        },
        past: Some(view! { <ul aria-label="Past days">{past}</ul> }.into_any()),
    });
    view! {
        <div class="ranges">
            <ul class="segments" aria-label="Days">{presets} {all_time}</ul>
            {custom}
        </div>
    }
    .into_any()
}

/// A form for the first and the last day of a range.
pub(super) struct CustomRange {
    /// The page that shows the range.
    pub(super) action: String,
    pub(super) hidden: Vec<(&'static str, String)>,
    pub(super) days: [Option<Day>; 2],
    pub(super) today: Day,
    /// The message at the field of the first day.
    pub(super) problem: Option<String>,
    /// The text of the button.
    pub(super) name: AnyView,
    /// Links to other ranges.
    pub(super) past: Option<AnyView>,
}

/// `Custom range: Nov 2, 2026 to Nov 8, 2026`, or the words alone.
pub(super) fn custom_name(range: Option<DayRange>) -> AnyView {
    let shown = range.map(|range| view! { ": " {days(range.from(), range.to())} });
    view! { "Custom range" {shown} }.into_any()
}

/// In a menu; without one if there is a problem.
pub(super) fn custom(mut range: CustomRange) -> AnyView {
    if range.problem.is_some() {
        return form(range);
    }
    let (name, past) = (std::mem::replace(&mut range.name, ().into_any()), range.past.take());
    menu("custom-range", "", button(name), view! { {past} {form(range)} })
}

fn form(CustomRange { action, hidden, days, today, problem, .. }: CustomRange) -> AnyView {
    let [from, to] = days.map(|day| day.map(|day| day.to_string()).unwrap_or_default());
    let hidden = hidden.into_iter();
    let fields = hidden
        .map(|(name, value)| view! { <input type="hidden" name=name value=value autocomplete="off" /> });
    let (is_invalid, described_by) = problem.as_ref().map(|_| ("true", PROBLEM)).unzip();
    let problem = problem.map(|text| view! { <p id=PROBLEM class="field-problem" role="alert">{text}</p> });
    view! {
        <form class="custom-range" method="get" action=action>
            {fields.collect_view()}
            <label for="from">"From"</label>
            <input
                id="from"
                class="field"
                type="date"
                name="from"
                value=from
                max=today.to_string()
                required
                autocomplete="off"
                aria-invalid=is_invalid
                aria-describedby=described_by
            />
            {problem}
            <label for="to">"to"</label>
            <input id="to" class="field" type="date" name="to" value=to max=today.to_string() required autocomplete="off" />
            <button class="button" type="submit">"Show"</button>
        </form>
    }
    .into_any()
}

fn choice(name: &'static str, href: String, is_chosen: bool) -> AnyView {
    view! { <li><a href=href aria-current=is_chosen.then_some("true")>{name}</a></li> }.into_any()
}

/// The error of two valid days, for the message at their fields. `typed`: the days, if they are invalid.
pub(super) fn problem(query: &AnalyticsQuery, typed: Option<&TypedDays>, today: Day) -> Option<&'static str> {
    let future = "Start date must not be in the future";
    let Some(TypedDays { from, to }) = typed else {
        return (!query.is_of_all_time() && query.range(today).is_none()).then_some(future);
    };
    if from.is_none() && to.is_none() {
        return None;
    }
    let day = |text: &Option<String>| text.as_deref().map_or(Ok(today), str::parse::<Day>).ok();
    match (day(from)?, day(to)?) {
        (from, last) if to.is_some() && from > last => Some("Start date must be before end date"),
        (from, _) if from > today => Some(future),
        _ => Some("A range has at most 1,100 days"),
    }
}

/// The note that the range ends before the requested last day.
pub(super) fn future_note(context: &AnalyticsPage) -> Option<impl IntoView + use<>> {
    let range = context.range()?;
    let last = context.query.days.days()?.range().to();
    (last > range.to()).then(|| {
        let text = view! {
            <p>
                "Page views end today, " {localized::day(range.to())} " (UTC). Later days, up to "
                {localized::day(last)} ", are not available yet."
            </p>
        };
        notice(Tone::Plain, text)
    })
}

/// The choice of the compared period.
fn comparisons(context: &AnalyticsPage) -> AnyView {
    let query = &context.query;
    let choices = Compare::VARIANTS.iter().map(|compare| {
        let is_chosen = (*compare == query.compare).then_some("true");
        let href = query.compared_with(*compare).href(&context.project);
        view! { <li><a href=href aria-current=is_chosen>{compare.label()}</a></li> }
    });
    let name = view! { "Compare: " {query.compare.label().to_lowercase()} };
    let choices = view! { <ul aria-label="Compare with">{choices.collect_view()}</ul> };
    menu("compare", "compare", button(name), choices)
}

/// What the changes of a report are about: the compared period, and the readers.
pub(super) fn changes(context: &AnalyticsPage) -> AnyView {
    let AnalyticsPage { project, query, .. } = context;
    let readers = readers::switch(query.readers, |readers| query.of_readers(readers).href(project));
    view! { <div class="sizes choices">{comparisons(context)} {readers}</div> }.into_any()
}

fn button(name: impl IntoView) -> MenuButton {
    let content = view! { {name.into_view()} {icon(icon::CHEVRON)} };
    MenuButton { class: "button", label: None, content: content.into_any() }
}

/// The value of a day field, if the URL has a valid day.
fn day_in(text: &Option<String>) -> Option<Day> {
    text.as_deref()?.parse().ok()
}

/// `28 days, Oct 25, 2026 to Nov 21, 2026 (UTC). Today is incomplete.`
pub(super) fn described(range: Option<DayRange>, today: Day) -> AnyView {
    let Some(range) = range else { return "Days are UTC days".into_any() };
    let count = counted(range.days().unsigned_abs(), "day", "days");
    let shown = match range.days() {
        1 => with_weekday(range.from()).into_any(),
        _ => days(range.from(), range.to()).into_any(),
    };
    let unfinished = range.contains(today).then_some(". Today is incomplete.");
    view! { <span>{count} ", " {shown} " (UTC)" {unfinished}</span> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reversed_and_future_days_have_a_message_at_their_field() {
        let today = "2026-11-21".parse().unwrap_or_else(|error| panic!("{error}"));
        let problem = |from: &str, to: &str| {
            let days = [("from", from), ("to", to)];
            let given =
                |name: &str| days.iter().find(|(field, _)| *field == name).map(|(_, day)| (*day).to_owned());
            match AnalyticsQuery::of(given, today) {
                Ok(query) => super::problem(&query, None, today),
                Err(invalid) => super::problem(&invalid.rest, invalid.days.as_ref(), today),
            }
        };
        assert_eq!(problem("2026-11-20", "2026-11-19"), Some("Start date must be before end date"));
        assert_eq!(problem("2026-12-20", "2026-12-19"), Some("Start date must be before end date"));
        assert_eq!(problem("2023-11-17", "2026-11-21"), Some("A range has at most 1,100 days"));
        assert_eq!(problem("2023-11-18", "2026-11-21"), None);
        for to in ["2026-11-30", ""] {
            assert_eq!(problem("2026-11-22", to), Some("Start date must not be in the future"));
        }
        let others = [("2026-11-21", "2026-11-30"), ("2026-11-21", ""), ("", ""), ("", "2026-11-01")];
        for (from, to) in others.into_iter().chain([("x", "2026-11-01")]) {
            assert_eq!(problem(from, to), None, "{from} {to}");
        }
    }

    #[test]
    fn description_has_the_days_and_whether_complete() {
        let day = |text: &str| text.parse::<Day>().unwrap_or_else(|error| panic!("{error}"));
        let today = day("2026-11-21");
        let text = |range| {
            let html = described(range, today).to_html();
            let texts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
            texts.collect::<String>()
        };
        let of = |last, days| text(Some(DayRange::ending(last, days)));
        assert_eq!(of(today, 28), "28 days, Oct 25, 2026 to Nov 21, 2026 (UTC). Today is incomplete.");
        assert_eq!(of(day("2026-11-20"), 1), "1 day, Fri, Nov 20, 2026 (UTC)");
        assert_eq!(text(None), "Days are UTC days");
    }
}
