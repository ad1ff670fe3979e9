//! What the daily history answers for a range that it holds wholly: figures with their change, the trend, what changed most,
//! and the table of pages, or one page with a view of its own.

mod controls;
mod events;
mod movers;
mod one_page;
mod rows;

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::day::Day;
use crate::model::history::{Comparison, Mark, MarkedDay, PagesReport, Trend};
use crate::model::user::CurrentSession;
use crate::ui::charts::columns::Form;
use crate::ui::charts::trend;
use crate::ui::components::empty::empty;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::moment::ago;
use crate::ui::erase::Erase;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::query::AnalyticsQuery;
use crate::ui::pages::analytics::reading::Reading;
use crate::ui::pages::analytics::{figures, no_views, table};

/// What every part of the page may need to know.
struct Page<'a> {
    project: &'a str,
    query: &'a AnalyticsQuery,
    who: Option<CurrentSession>,
    today: Day,
}

/// `who` is whoever is signed in, as far as that is known.
pub(super) fn report(
    project: &str,
    query: &AnalyticsQuery,
    reading: Reading,
    who: Option<Result<CurrentSession, AppError>>,
    today: Day,
) -> AnyView {
    let page = Page { project, query, who: who.and_then(Result::ok), today };
    let Reading { pages, trend, movers, page: report, .. } = reading;
    match (pages, report, trend) {
        (Some(pages), Some(report), _) => one_page::report(&page, &pages, &report),
        (Some(pages), None, Some(trend)) => {
            let movers = movers.map(|movers| movers::movers(&page, &movers)).unwrap_or_default();
            whole(&page, &pages, &trend, movers)
        }
        _ => no_views(project),
    }
}

fn whole(page: &Page, pages: &PagesReport, trend: &Trend, movers: Markup) -> AnyView {
    let Page { project, query, .. } = *page;
    let narrowed = query.q.is_some() || query.folder.is_some();
    if pages.rows.is_empty() && query.page == 1 && !narrowed {
        return no_views(project);
    }
    let change = pages.comparison.as_ref().map(|compared| (compared.current, compared.previous));
    let has_more = query.offset().unsigned_abs() + (pages.rows.len() as u64) < pages.rows_total;
    let rows = if pages.rows.is_empty() && query.page == 1 {
        nothing_found(page)
    } else {
        view! { <table class="pages daily" inner_html=rows::table(page, pages).into_html()></table> }.erase()
    };
    view! {
        {figures::compared(pages.totals, change)}
        {provenance(pages)}
        {marked(&pages.marked)}
        {drawn(page, trend)}
        <div class="movers" inner_html=movers.into_html()></div>
        <section aria-labelledby="table">
            {controls::controls(page, pages)}
            {rows}
            {table::pager(project, query, pages.rows.len(), has_more, Some(pages.rows_total))}
        </section>
    }
    .erase()
}

/// How old the figures are, where they come from, and what they are compared with.
fn provenance(pages: &PagesReport) -> AnyView {
    let read = pages.read_at.map(|at| view! { ", the oldest reading of a day " {ago(at)} }.into_any());
    let left_out = if pages.unfinished { "; part of today is left out" } else { "" };
    let compared = match &pages.comparison {
        Some(Comparison { from, to, .. }) => format!(". Compared with {from} to {to}{left_out}."),
        None => ". Not compared: the days before are not all in the history.".to_owned(),
    };
    view! { <p class="provenance">"From the daily history, by UTC days" {read} {compared}</p> }.erase()
}

/// Days whose figures need a look.
fn marked(days: &[MarkedDay]) -> AnyView {
    if days.is_empty() {
        return ().into_any();
    }
    let said: Markup = days
        .iter()
        .map(|MarkedDay { day, mark }| {
            let what = match mark {
                Mark::Uneven => "the pages of this day do not add up to its totals.",
                Mark::Recounted => "the upstream has counted this day anew since it was settled.",
            };
            markup("<li>{}: {}</li>", &[&day.to_string(), &what])
        })
        .collect();
    view! {
        <div class="notice notice-warn">
            {icon(icon::QUESTION)} <ul inner_html=said.into_html()></ul>
        </div>
    }
    .erase()
}

/// The trend with its heading, and what happened meanwhile.
fn drawn(page: &Page, shown: &Trend) -> AnyView {
    let Page { project, query, .. } = *page;
    let by = if shown.points.iter().any(|point| point.days > 1) { "Views by week" } else { "Views by day" };
    let of = query.path.clone().or_else(|| query.folder.clone().filter(|folder| folder != "/"));
    let heading = of.map_or_else(|| by.to_owned(), |of| format!("{by}: {of}"));
    let forms: Markup = [(Form::Stacked, "Stacked"), (Form::Side, "Side by side")]
        .into_iter()
        .map(|(form, name)| choice(query.drawn(form).href(project), name, form == query.form))
        .collect();
    view! {
        <section class="trend" aria-labelledby="trend">
            <div class="section-head">
                <h2 id="trend">{heading}</h2>
                <ul class="segments" aria-label="Columns" inner_html=forms.into_html()></ul>
            </div>
            {trend::trend(project, shown, query.form)}
            {events::events(page, shown)}
        </section>
    }
    .erase()
}

/// A link among several of which one is chosen.
fn choice(href: String, name: &str, chosen: bool) -> Markup {
    match chosen {
        true => markup(r#"<li><a href="{}" data-noscroll aria-current="true">{}</a></li>"#, &[&href, &name]),
        false => markup(r#"<li><a href="{}" data-noscroll>{}</a></li>"#, &[&href, &name]),
    }
}

fn nothing_found(page: &Page) -> AnyView {
    let all = page.query.unsearched().in_folder(None).href(page.project);
    let clear = view! { <a class="button" href=all>"Show all pages"</a> }.erase();
    empty("No page matches", "No page of these days fits the folder and the search.", clear)
}
