//! Live page views from the platform, which supports neither sorting nor searching, and provides only totals.

use leptos::prelude::*;

use crate::ui::charts::bar::legend;
use crate::ui::pages::analytics::figures::{figures, provisional_days};
use crate::ui::pages::analytics::{AnalyticsPage, history_notice, no_views, table};
use model::analytics::report::{LiveReport, PagesTable};
use model::history::recent_days;

pub(super) fn report(context: &AnalyticsPage, report: &LiveReport) -> AnyView {
    let LiveReport { views, .. } = report;
    let AnalyticsPage { project, query, .. } = context;
    let recent = context.range().and_then(|range| recent_days(range, context.today));
    let provisional = provisional_days(recent.as_slice(), context.today);
    let is_empty = views.views.is_empty() && !views.corrected && query.page == 1;
    let body = match is_empty {
        true => no_views(project),
        false => view! {
            {figures(views.totals, None)}
            {provisional.map(|days| view! { <p class="provenance">{days}</p> })}
            {legend(false)}
            {table(context, PagesTable::from(views))}
        }
        .into_any(),
    };
    view! { {history_notice::missing(context, report)} {body} }.into_any()
}
