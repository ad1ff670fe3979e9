//! The week's page views: three figures, a chart by day if the daily history contains the week, and the most viewed
//! pages.

use leptos::prelude::*;

use crate::ui::charts::bar::{bar, legend, patterns};
use crate::ui::charts::scale;
use crate::ui::clock;
use crate::ui::components::failure::failure;
use crate::ui::components::live_source::live_source;
use crate::ui::components::localized::number;
use crate::ui::components::time::ago;
use crate::ui::components::what_is_ai::ai_warning;
use crate::ui::pages::analytics::figures::{compared_days, figures, provisional_days};
use crate::ui::pages::analytics::trend::trend;
use api::analytics::report_of;
use model::analytics::days::Days;
use model::analytics::query::{AnalyticsQuery, Form};
use model::analytics::report::{AnalyticsReport, DailyReport, TableRow};
use model::analytics::trend::TrendPoint;
use model::day::{Day, DayRange};
use model::error::AppError;
use model::history::recent_days;
use model::links;
use model::page_views::FetchedPageViews;
use model::preset::Preset;

/// The number of most viewed pages.
const PAGES: i64 = 6;

/// The report of the week that ends `today`.
pub(super) async fn load(project: &str, today: Day) -> Result<AnalyticsReport, AppError> {
    let days = Days::of(Preset::Days7, today);
    report_of(project, AnalyticsQuery::new(days).sized(PAGES)).await
}

/// `report`, or its error, which must not prevent the remaining page.
pub(super) fn week(project: &str, report: Result<AnalyticsReport, AppError>) -> AnyView {
    let body = match report {
        Ok(AnalyticsReport::Daily(report)) => daily(project, &report),
        Ok(AnalyticsReport::Live(report)) => live(&report.views),
        // Never requested here.
        Ok(AnalyticsReport::OnePage(_) | AnalyticsReport::AllTime(_) | AnalyticsReport::Missing(_)) => {
            ().into_any()
        }
        Err(error) => failure(&error),
    };
    view! {
        <section class="week" aria-labelledby="week">
            <h2 id="week">"Page views, last 7 days"</h2>
            {patterns()}
            {body}
            <p class="more"><a href=links::analytics(project)>"View analytics"</a></p>
        </section>
    }
    .into_any()
}

fn daily(project: &str, DailyReport { pages, trend: shown, .. }: &DailyReport) -> AnyView {
    // The table has pages with views in the week before, too.
    let viewed = pages.rows.iter().filter(|row| row.counts.total > 0);
    let rows: Vec<_> = viewed.map(TableRow::from).collect();
    let last = shown.points.last().map(TrendPoint::last_day);
    let warning =
        pages.comparison.as_ref().zip(last).and_then(|(compared, last)| ai_warning(compared.from, last));
    let updated = pages.fetched_at.map(|at| view! { ", updated " {ago(at)} });
    let compared = pages.comparison.as_ref().map(|comparison| {
        view! { ". " {compared_days(comparison, clock::today())} }
    });
    let provisional = provisional_days(&pages.all_provisional_days(), clock::today());
    view! {
        {figures(pages.totals, pages.comparison.as_ref())}
        {warning}
        <div class="trend">{trend(project, shown, Form::Stacked)}</div>
        {most_viewed(&rows)}
        <p class="provenance">"From the daily history" {updated} {compared} " " {provisional}</p>
    }
    .into_any()
}

fn live(views: &FetchedPageViews) -> AnyView {
    if views.views.is_empty() {
        return view! { <p class="none">"No page was viewed in these days, or nothing is counted yet."</p> }
            .into_any();
    }
    let rows: Vec<_> = views.views.iter().map(TableRow::from).collect();
    let today = clock::today();
    let provisional = provisional_days(recent_days(DayRange::ending(today, 7), today).as_slice(), today);
    view! {
        {figures(views.totals, None)}
        {legend(&[])}
        {most_viewed(&rows)}
        {provisional.map(|days| view! { <p class="provenance">{days}</p> })}
        {live_source(views.fetched_at, views.stale, views.corrected)}
    }
    .into_any()
}

fn most_viewed(rows: &[TableRow]) -> AnyView {
    let longest = scale::longest(rows.iter().map(|row| row.counts));
    let rows = rows.iter().map(|row| {
        view! {
            <li data-path=row.path.clone()>
                <span class="week-path">{row.path.clone()}</span>
                <span class="numeric">{number(row.counts.total)}</span>
                {bar(row.counts, longest)}
            </li>
        }
    });
    view! { <ul class="week-pages">{rows.collect_view()}</ul> }.into_any()
}
