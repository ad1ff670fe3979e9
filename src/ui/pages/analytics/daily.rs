//! The report from the daily history: figures with their change, the trend, the largest changes, and the table of
//! pages.

use leptos::prelude::*;

use crate::model::analytics_query::Form;
use crate::model::analytics_report::{DailyReport, PagesTable};
use crate::model::history::{Comparison, Mark, MarkedDay, PagesReport, Trend};
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::time::ago;
use crate::ui::pages::analytics::figures::figures;
use crate::ui::pages::analytics::{AnalyticsPage, events, history_notice, movers, no_views, table, trend};

pub(super) fn report(asked: &AnalyticsPage, report: &DailyReport) -> AnyView {
    let DailyReport { pages, trend, movers } = report;
    let is_narrowed = asked.query.q.is_some() || asked.query.folder.is_some();
    if pages.rows.is_empty() && asked.query.page == 1 && !is_narrowed {
        return no_views(&asked.project);
    }
    view! {
        {history_notice::arrived()}
        {figures(pages.totals, pages.comparison.as_ref())}
        {provenance(pages)}
        {marked(&pages.marked)}
        {trend_section(asked, trend)}
        {movers.as_ref().map(|found| movers::movers(asked, found))}
        {table(asked, PagesTable::from(pages))}
    }
    .into_any()
}

/// The trend with its heading and events, for the folder that is open in the table.
pub(super) fn trend_section(asked: &AnalyticsPage, shown: &Trend) -> AnyView {
    let AnalyticsPage { project, query, .. } = asked;
    let by = if shown.points.iter().any(|point| point.days > 1) { "Views by week" } else { "Views by day" };
    let of = query.path.as_ref().or(query.folder.as_ref().filter(|folder| *folder != "/"));
    let heading = of.map_or_else(|| by.to_owned(), |of| format!("{by}: {of}"));
    let forms = [(Form::Stacked, "Stacked"), (Form::Side, "Side by side")].map(|(form, name)| {
        let is_chosen = form == query.form;
        view! { <li><a href=query.drawn(form).href(project) aria-current=is_chosen.then_some("true")>{name}</a></li> }
    });
    view! {
        <section class="trend" aria-labelledby="trend" data-region="trend">
            <div class="section-head">
                <h2 id="trend">{heading}</h2>
                <ul class="segments" aria-label="Columns">{forms}</ul>
            </div>
            {trend::trend(project, shown, query.form)}
            {events::events(asked, shown)}
        </section>
    }
    .into_any()
}

/// The source and the age of the figures, and what they are compared with.
pub(super) fn provenance(pages: &PagesReport) -> AnyView {
    let updated = pages.read_at.map(|at| view! { ", updated " {ago(at)} });
    let left_out = if pages.unfinished { "; part of today is left out" } else { "" };
    let compared = match &pages.comparison {
        Some(Comparison { from, to, .. }) => format!(". Compared with {from} to {to}{left_out}."),
        None => ". Not compared: the days before are not all in the daily history.".to_owned(),
    };
    view! { <p class="provenance">"From the daily history (UTC days)" {updated} {compared}</p> }.into_any()
}

/// Days with questionable figures.
pub(super) fn marked(days: &[MarkedDay]) -> Option<AnyView> {
    let marked = days.iter().map(|MarkedDay { day, mark }| {
        let what = match mark {
            Mark::Uneven => "the pages of this day do not add up to its totals.",
            Mark::Recounted => "the platform changed this day after it was final.",
        };
        view! { <li>{day.to_string()} ": " {what}</li> }
    });
    (!days.is_empty()).then(|| notice(Tone::Warning, view! { <ul>{marked.collect_view()}</ul> }).into_any())
}
