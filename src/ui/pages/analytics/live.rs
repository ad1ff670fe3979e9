//! Live page views from the platform, which supports neither sorting nor searching, and provides only totals.

use leptos::prelude::*;

use crate::ui::charts::bar::legend;
use crate::ui::components::empty::empty;
use crate::ui::components::localized::{day, number};
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::what_is_ai::changes_warning;
use crate::ui::pages::analytics::figures::{Against, compared, provisional_days};
use crate::ui::pages::analytics::{AnalyticsPage, history_notice, no_views, table};
use model::analytics::report::{AllTimeReport, CountedSince, LiveReport, PagesTable};
use model::history::recent_days;
use model::page_views::FetchedPageViews;

pub(super) fn report(context: &AnalyticsPage, report: &LiveReport) -> AnyView {
    let recent = context.range().and_then(|range| recent_days(range, context.today));
    let provisional = provisional_days(recent.as_slice(), context.today);
    let figures = compared(report.views.totals, Against::Nothing, provisional);
    view! {
        {history_notice::missing(context, report)}
        {counted(context, &report.views, figures)}
    }
    .into_any()
}

/// Everything that the platform has counted.
pub(super) fn all_time(context: &AnalyticsPage, report: &AllTimeReport) -> AnyView {
    let since = match report.since {
        CountedSince::Day(first, 1) => view! {
            "The first day with views in the daily history is " {day(first)} "; the stored day before it has none."
        }
        .into_any(),
        CountedSince::Day(first, days) => view! {
            "The first day with views in the daily history is " {day(first)} "; "
            {number(days.into())} " stored days directly before it have none."
        }
        .into_any(),
        CountedSince::Unknown => {
            "The platform does not say since when, and the daily history does not show it.".into_any()
        }
    };
    let source = view! {
        <p>"The platform counted these figures, for all pages together and in its order. " {since}</p>
        <p class="faint">"Comparisons, sorting, searching, trends and exports need the daily history: choose days for them."</p>
    };
    if report.views.views.is_empty() && !report.views.corrected && context.query.page == 1 {
        return empty("No views", "The platform has counted no views of this project yet.", ()).into_any();
    }
    let figures = view! {
        {compared(report.views.totals, Against::Nothing, None)}
        {changes_warning()}
    };
    view! {
        <div class="history-notice">{notice(Tone::Plain, source)}</div>
        {counted(context, &report.views, figures.into_any())}
    }
    .into_any()
}

/// The figures and the table.
fn counted(context: &AnalyticsPage, views: &FetchedPageViews, figures: AnyView) -> AnyView {
    let AnalyticsPage { project, query, .. } = context;
    if views.views.is_empty() && !views.corrected && query.page == 1 {
        return no_views(project);
    }
    view! {
        {figures}
        {legend(&[])}
        {table(context, PagesTable::from(views))}
    }
    .into_any()
}
