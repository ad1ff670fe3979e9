//! The analytics page's queries as stored in saved views.

use model::analytics::query::AnalyticsQuery;
use model::day::Day;
use model::error::AppError;
use model::paging::Paging;
use model::selection::{Folder, Selection};

/// The maximum length of a stored query.
const QUERY_MAX_BYTES: usize = 2_000;

/// The canonical form of `query_string`, which comes from the analytics page or is already canonical. Validates without
/// an upstream call.
pub fn to_saved(today: Day, query_string: &str) -> Result<String, AppError> {
    let query = AnalyticsQuery::of(given(query_string), today).map_err(|invalid| invalid.problem)?;
    Paging::parse(Some(query.limit), Some(query.offset()))?;
    query.folder.as_deref().map(Folder::parse).transpose()?;
    Selection::parse(query.path.as_deref())?;
    query.must_have_figures()?;
    let saved = query.to_saved();
    if saved.len() > QUERY_MAX_BYTES {
        return Err(AppError::bad_input("This view is too long to save. Use a shorter search or path."));
    }
    Ok(saved)
}

fn given(query_string: &str) -> impl Fn(&str) -> Option<String> {
    let fields: Vec<_> =
        url::form_urlencoded::parse(query_string.trim_start_matches('?').as_bytes()).into_owned().collect();
    move |name| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone())
}

#[cfg(test)]
mod tests {
    use model::analytics::choice::{Compare, Readers, Sort, Tab};
    use model::analytics::days::{Days, Span};
    use model::analytics::query::{Form, PICK};
    use model::preset::Preset;
    use proptest::prelude::*;
    use proptest::sample::select;
    use strum::VariantArray;

    use super::*;

    fn today() -> Day {
        "2026-11-21".parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn any_days() -> impl Strategy<Value = Span> {
        let range = (-400_i64..400, 0_i64..1_100).prop_map(|(first, more)| {
            let from = today().plus_days(first);
            Days::new(Some(from), Some(from.plus_days(more)), today())
                .unwrap_or_else(|error| panic!("{error}"))
        });
        let one_end = (any::<bool>(), 0_i64..1_100).prop_map(|(is_first, ago)| {
            let day = Some(today().plus_days(-ago));
            let (from, to) = if is_first { (day, None) } else { (None, day) };
            Days::new(from, to, today()).unwrap_or_else(|error| panic!("{error}"))
        });
        let preset = select(Preset::VARIANTS).prop_map(|preset| Days::of(preset, today()));
        prop_oneof![prop_oneof![range, one_end, preset].prop_map(Span::from), Just(Span::AllTime)]
    }

    fn any_text() -> impl Strategy<Value = Option<String>> {
        prop::option::of(any::<String>().prop_filter("a blank text is none", |text| !text.trim().is_empty()))
    }

    prop_compose! {
        fn any_query()(
            days in any_days(),
            (compare, readers, tab) in (select(Compare::VARIANTS), select(Readers::VARIANTS), select(Tab::VARIANTS)),
            (path, folder, q) in (any_text(), any_text(), any_text()),
            columns in prop::collection::vec(select(Sort::VARIANTS), 0..3),
            form in select(&[Form::Stacked, Form::Side][..]),
            (page, limit) in (1_i64..=1_000_000_000, any::<i64>()),
            picked in prop::collection::vec(any::<String>(), 0..3),
        ) -> AnalyticsQuery {
            let mut query = AnalyticsQuery::new(days).on_tab(tab).compared_with(compare).of_readers(readers).with_form(form);
            (query.path, query.folder, query.q) = (path, folder, q);
            let sorted = columns.into_iter().fold(query, |query, by| query.sorted(by));
            sorted.sized(limit).on_page(page).picking(picked)
        }
    }

    fn picked(query_string: &str) -> Vec<String> {
        let fields = url::form_urlencoded::parse(query_string.as_bytes());
        fields.filter(|(name, _)| name == PICK).map(|(_, page)| page.into_owned()).collect()
    }

    proptest! {
        #[test]
        fn query_string_is_parsed_to_the_same_query(query in any_query()) {
            let text = query.query_string();
            let parsed = AnalyticsQuery::of(given(&text), today()).map(|query| query.picking(picked(&text)));
            prop_assert_eq!(parsed, Ok(query));
        }

        #[test]
        fn saved_query_is_parsed_to_the_same_days_and_saved_alike(query in any_query()) {
            let saved = query.to_saved();
            let parsed = AnalyticsQuery::of(given(&saved), today());
            let found = parsed.map(|query| (query.days, query.order(), query.to_saved()));
            prop_assert_eq!(found, Ok((query.days, query.order(), saved)));
        }
    }
}
