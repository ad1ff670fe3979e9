//! Which days: presets as links, and a form for any others.

use leptos::prelude::*;

use crate::model::day::{Day, DayRange};
use crate::model::preset::Preset;
use crate::ui::charts::number::counted;
use crate::ui::components::search_form;

use crate::model::links;
use crate::ui::pages::analytics::query::AnalyticsQuery;

pub(super) fn ranges(project: &str, query: &AnalyticsQuery, today: Day) -> AnyView {
    let range = meant(query, today);
    let chosen = range.and_then(|range| Preset::of(range, today));
    let presets = Preset::ALL.into_iter().map(|preset| {
        let range = preset.range(today);
        let days = (preset != Preset::DEFAULT).then(|| (range.from().to_string(), range.to().to_string()));
        let href = query.over(days).href(project);
        view! {
            <li>
                <a href=href data-noscroll aria-current=(chosen == Some(preset)).then_some("true")>{preset.label()}</a>
            </li>
        }
        .into_any()
    });
    let (from, to) = match range {
        Some(range) => (range.from().to_string(), range.to().to_string()),
        None => (day_in(&query.from), day_in(&query.to)),
    };
    view! {
        <div class="ranges">
            <ul class="segments" aria-label="Days">{presets.collect_view()}</ul>
            <form class="custom-range" method="get" action=links::analytics(project) on:submit=search_form::navigating()>
                <span hidden inner_html=query.hidden_fields(&["from", "to"]).into_html()></span>
                <label for="from">"From"</label>
                <input id="from" class="field" type="date" name="from" value=from.clone() prop:value=from max=today.to_string() required />
                <label for="to">"to"</label>
                <input id="to" class="field" type="date" name="to" value=to.clone() prop:value=to max=today.to_string() required />
                <button class="button" type="submit">"Show"</button>
            </form>
        </div>
    }
    .into_any()
}

/// What a field for days can hold of what the address says.
fn day_in(text: &Option<String>) -> String {
    let day = text.as_deref().and_then(|text| text.parse::<Day>().ok());
    day.map(|day| day.to_string()).unwrap_or_default()
}

/// `28 days, 2026-10-25 to 2026-11-21 (UTC). Today is still being counted.`
pub(super) fn described(query: &AnalyticsQuery, today: Day) -> String {
    match meant(query, today) {
        None => "Days are UTC days".to_owned(),
        Some(range) => {
            let days = counted(range.days().unsigned_abs(), "day", "days");
            let unfinished = if range.contains(today) { ". Today is still being counted." } else { "" };
            format!("{days}, {} to {} (UTC){unfinished}", range.from(), range.to())
        }
    }
}

/// The days that the address asks for; nothing if they are no range.
pub fn meant(query: &AnalyticsQuery, today: Day) -> Option<DayRange> {
    match (&query.from, &query.to) {
        (None, None) => Some(Preset::DEFAULT.range(today)),
        (Some(from), Some(to)) => DayRange::new(from.parse().ok()?, to.parse().ok()?).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use leptos_router::params::ParamsMap;

    use super::*;

    fn query(from: Option<&str>, to: Option<&str>) -> AnalyticsQuery {
        let query = AnalyticsQuery::read(&ParamsMap::new());
        AnalyticsQuery { from: from.map(str::to_owned), to: to.map(str::to_owned), ..query }
    }

    #[test]
    fn a_range_says_its_days_and_whether_it_is_complete() {
        let today: Day = "2026-11-21".parse().unwrap_or_else(|error| panic!("{error}"));
        let said = |from, to| described(&query(from, to), today);
        assert_eq!(
            said(None, None),
            "28 days, 2026-10-25 to 2026-11-21 (UTC). Today is still being counted."
        );
        assert_eq!(said(Some("2026-11-20"), Some("2026-11-20")), "1 day, 2026-11-20 to 2026-11-20 (UTC)");
        assert_eq!(said(Some("yesterday"), None), "Days are UTC days");
    }
}
