//! The report from the daily history: figures with their change, the trend, and the table of pages, all of the same pages.

use leptos::prelude::*;

use crate::ui::components::localized;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::time::ago;
use crate::ui::components::what_is_ai::ai_warning;
use crate::ui::pages::analytics::figures::{Against, compared, compared_days, days_before, provisional_days};
use crate::ui::pages::analytics::{AnalyticsPage, events, no_views, range, table, trend};
use crate::ui::pages::fetch_days::{fetch_again, fetch_days};
use model::analytics::days::Days;
use model::analytics::pages::{Earlier, PagesReport};
use model::analytics::query::Form;
use model::analytics::report::{DailyReport, PagesTable};
use model::analytics::trend::{Trend, are_weeks};
use model::history::{Mark, MarkedDay};
use model::preset::Preset;

pub(super) fn report(context: &AnalyticsPage, report: &DailyReport) -> AnyView {
    let DailyReport { pages, trend } = report;
    if pages.totals.total == 0 && pages.rows.is_empty() && !context.query.is_narrowed() {
        return no_views(&context.project);
    }
    let (counts, comparison) = match context.query.is_narrowed() {
        true => (trend.points.iter().map(|point| point.counts).sum(), pages.matching_comparison),
        false => (pages.totals, pages.comparison.as_ref().map(|it| (it.current, it.previous))),
    };
    let against = Against::of(comparison, pages.earlier.as_ref());
    view! {
        <div class="figures-line">{compared(counts, against, may_change(context, pages))} {range::changes(context)}</div>
        {provenance(context, pages)}
        {marked(&pages.marked)}
        {trend_section(context, trend)}
        {table(context, PagesTable::from(pages))}
    }
    .into_any()
}

/// The days of the range and of the compared period that may still change.
pub(super) fn may_change(context: &AnalyticsPage, pages: &PagesReport) -> Option<AnyView> {
    provisional_days(&pages.all_provisional_days(), context.today)
}

/// The trend with its heading and events, for the pages in the table. One day has no chart.
pub(super) fn trend_section(context: &AnalyticsPage, shown: &Trend) -> AnyView {
    let AnalyticsPage { project, query, today, .. } = context;
    let chart = (shown.points.len() > 1).then(|| {
        let by = if are_weeks(&shown.points) { "Views by week" } else { "Views by day" };
        let of = query.path.as_deref().or(query.open_folder());
        let heading = of.map_or_else(|| by.to_owned(), |of| format!("{by}: {of}"));
        let forms = [(Form::Stacked, "Stacked"), (Form::Side, "Side by side")].map(|(form, name)| {
            let is_chosen = form == query.form;
            view! { <li><a href=query.with_form(form).href(project) aria-current=is_chosen.then_some("true")>{name}</a></li> }
        });
        let latest = Days::of(Preset::DEFAULT, *today);
        view! {
            <div class="section-head">
                <h2 id="trend">{heading}</h2>
                {trend::legend(project, shown, query.form)}
                <ul class="segments" aria-label="Columns">{forms}</ul>
            </div>
            {trend::chart(project, shown, query.form, &query.over(latest).href(project))}
        }
    });
    let label = if chart.is_some() { ("trend", None) } else { ("", Some("Jobs and notes")) };
    view! {
        <section class="trend" aria-labelledby=(!label.0.is_empty()).then_some(label.0) aria-label=label.1>
            {chart}
            <div class="folds">{events::events(context, shown)} {trend::as_table(shown, query.form)}</div>
        </section>
    }
    .into_any()
}

/// The source and the age of the figures, and the compared period. Missing days can be fetched.
pub(super) fn provenance(context: &AnalyticsPage, pages: &PagesReport) -> AnyView {
    let updated = pages.fetched_at.map(|at| view! { ", updated " {ago(at)} });
    let compared = match (&pages.comparison, &pages.earlier) {
        (Some(comparison), _) => view! { ". " {compared_days(comparison, context.today)} }.into_any(),
        (None, Some(earlier)) => view! { ". " {beside(context, earlier)} }.into_any(),
        (None, None) => view! { "." {not_compared(context)} }.into_any(),
    };
    let fetch = context
        .wanted()
        .map(|wanted| fetch_days(&context.project, wanted, &context.url(), context.session.can_start_jobs()));
    let again = match &context.again {
        Some(again) => Some(fetch_again(&context.project, again, &context.url_again())),
        None if context.asks_again && context.session.can_start_jobs() => {
            let text = "What fetching these days again costs is not known now.";
            Some(view! { <p class="faint">{text}</p> }.into_any())
        }
        None => links(context),
    };
    let compared_until = pages.comparison.as_ref().zip(context.range());
    let warning = compared_until.and_then(|(comparison, range)| ai_warning(comparison.from, range.to()));
    view! {
        <p class="provenance">
            "From the daily history (UTC days)" {updated} {compared}
        </p>
        {warning}
        {fetch}
        {again}
    }
    .into_any()
}

/// What a person may do about these days, on one line; nothing for viewers.
fn links(context: &AnalyticsPage) -> Option<AnyView> {
    context.session.can_start_jobs().then(|| {
        let again = context.url_again();
        view! { <p class="faint"><a href=again>"Fetch these days again"</a> {context.agreement_link()}</p> }
            .into_any()
    })
}

/// `Today is incomplete, so it is not compared. Beside it: Nov 14, 2026 (7 days before).`
fn beside(context: &AnalyticsPage, earlier: &Earlier) -> Option<AnyView> {
    let range = context.range()?;
    let sentence = match range.days() {
        1 if range.to() == context.today => "Today is incomplete, so it is not compared. Beside it: ",
        1 => "This day is incomplete, so it is not compared. Beside it: ",
        _ => "These days are incomplete, so they are not compared. Beside them: ",
    };
    Some(view! { {sentence} {days_before(range, earlier.days.from(), earlier.days.to())} "." }.into_any())
}

/// Why nothing is compared, if it was asked for.
fn not_compared(context: &AnalyticsPage) -> Option<AnyView> {
    let (range, before) = (context.range()?, context.compared_days()?);
    let days = days_before(range, before.from(), before.to());
    let why = match (&context.wanted, before.days()) {
        (Ok(Some(_)), 1) => view! { " Not compared: " {days} " is not in the daily history." }.into_any(),
        (Ok(Some(wanted)), _) => {
            let missing = match wanted.are_all() {
                true => " are not in the daily history.",
                false => " are not all in the daily history.",
            };
            view! { " Not compared: " {days} {missing} }.into_any()
        }
        (Ok(None), 1) => {
            view! { " Not compared with " {days} ": at least one of the two days is incomplete." }.into_any()
        }
        (Ok(None), _) => {
            view! { " Not compared with " {days} ": of each two days, at least one is incomplete." }
                .into_any()
        }
        (Err(_), _) => view! { " Not compared with " {days} "." }.into_any(),
    };
    Some(why)
}

/// Days with questionable figures.
pub(super) fn marked(days: &[MarkedDay]) -> Option<AnyView> {
    let marked = days.iter().map(|MarkedDay { day, mark }| {
        let what = match mark {
            Mark::Uneven => "the pages of this day do not add up to its totals.",
            Mark::Recounted => "the platform changed this day after it was final.",
            Mark::Empty => "the platform returned no views at the last fetch; the earlier figures are shown.",
            Mark::Emptied => "it had views, and then the platform returned none on three different days.",
        };
        view! { <li>{localized::day(*day)} ": " {what}</li> }
    });
    (!days.is_empty()).then(|| notice(Tone::Warning, view! { <ul>{marked.collect_view()}</ul> }).into_any())
}
