//! What the daily history answers for a range that it holds wholly: figures with their change, the trend, what changed most,
//! and the table of pages, or one page with a view of its own. Drawn on the server, as text.

mod address;
mod controls;
mod events;
mod movers;
mod one_page;
mod rows;

use crate::model::day::Day;
use crate::model::drawn::Drawn;
use crate::model::history::{Comparison, Mark, MarkedDay, Movers, PageReport, PagesReport, Trend};
use crate::model::time::Timestamp;
use crate::model::user::CurrentSession;
use crate::ui::charts::columns::Form;
use crate::ui::charts::trend;
use crate::ui::components::icon;
use crate::ui::components::moment::age;
use crate::model::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::query::AnalyticsQuery;
use crate::ui::pages::analytics::table::choice;
use crate::ui::pages::analytics::{figures, table};

/// What every part of the page may need to know.
pub struct Page<'a> {
    pub project: &'a str,
    pub query: &'a AnalyticsQuery,
    /// Who looks at it.
    pub who: CurrentSession,
    pub now: Timestamp,
}

impl Page<'_> {
    pub fn today(&self) -> Day {
        Day::of(self.now)
    }
}

/// One page of the documentation.
pub fn one_page(page: &Page, pages: &PagesReport, report: &PageReport) -> Drawn {
    one_page::report(page, pages, report)
}

/// The trend and the table. `movers` where there is something to compare with.
pub fn whole(page: &Page, pages: &PagesReport, trend: &Trend, movers: Option<&Movers>) -> Drawn {
    let Page { project, query, .. } = *page;
    let narrowed = query.q.is_some() || query.folder.is_some();
    if pages.rows.is_empty() && query.page == 1 && !narrowed {
        let above = no_views(project).into_html();
        return Drawn { above, ..Drawn::default() };
    }
    let change = pages.comparison.as_ref().map(|compared| (compared.current, compared.previous));
    let has_more = query.offset().unsigned_abs() + (pages.rows.len() as u64) < pages.rows_total;
    let rows =
        if pages.rows.is_empty() && query.page == 1 { nothing_found(page) } else { rows::table(page, pages) };
    let above = [figures::compared(pages.totals, change), provenance(page, pages), marked(&pages.marked)];
    let pager = table::pager(project, query, pages.rows.len(), has_more, Some(pages.rows_total));
    let movers = movers.map(|movers| movers::movers(page, movers)).unwrap_or_default();
    let below = markup(
        r#"<div class="movers">{}</div><section aria-labelledby="table">{}{}{}</section>"#,
        &[&movers, &controls::controls(page, pages), &rows, &pager],
    );
    drawn(page, trend, above.into_iter().collect(), below)
}

/// How old the figures are, where they come from, and what they are compared with.
fn provenance(page: &Page, pages: &PagesReport) -> Markup {
    let read = pages.read_at.map(|at| format!(", the oldest reading of a day {}", age(at, page.now)));
    let left_out = if pages.unfinished { "; part of today is left out" } else { "" };
    let compared = match &pages.comparison {
        Some(Comparison { from, to, .. }) => format!(". Compared with {from} to {to}{left_out}."),
        None => ". Not compared: the days before are not all in the history.".to_owned(),
    };
    markup(
        r#"<p class="provenance">From the daily history, by UTC days{}{}</p>"#,
        &[&read.unwrap_or_default(), &compared],
    )
}

/// Days whose figures need a look.
fn marked(days: &[MarkedDay]) -> Markup {
    if days.is_empty() {
        return Markup::default();
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
    markup(
        r#"<div class="notice notice-warn"><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg><ul>{}</ul></div>"#,
        &[&icon::QUESTION, &said],
    )
}

/// The trend with its heading between what is above and below it, and what happened meanwhile.
fn drawn(page: &Page, shown: &Trend, above: Markup, below: Markup) -> Drawn {
    let Page { project, query, .. } = *page;
    let by = if shown.points.iter().any(|point| point.days > 1) { "Views by week" } else { "Views by day" };
    let of = query.path.clone().or_else(|| query.folder.clone().filter(|folder| folder != "/"));
    let heading = of.map_or_else(|| by.to_owned(), |of| format!("{by}: {of}"));
    let forms: Markup = [(Form::Stacked, "Stacked"), (Form::Side, "Side by side")]
        .into_iter()
        .map(|(form, name)| choice(query.drawn(form).href(project), name, form == query.form))
        .collect();
    let heading = markup(
        r#"<h2 id="trend">{}</h2><ul class="segments" aria-label="Columns">{}</ul>"#,
        &[&heading, &forms],
    );
    Drawn {
        above: above.into_html(),
        heading: heading.into_html(),
        plot: Some(trend::plot(project, shown, query.form)),
        events: events::events(page, shown).into_html(),
        below: below.into_html(),
        ..Drawn::default()
    }
}

pub(super) fn no_views(project: &str) -> Markup {
    empty(
        "No views in these days",
        "Nobody read a page, or nothing is counted yet. A longer range may show more.",
        links::analytics(project),
        "Show the last 28 days",
    )
}

fn nothing_found(page: &Page) -> Markup {
    let all = page.query.unsearched().in_folder(None).href(page.project);
    empty("No page matches", "No page of these days fits the folder and the search.", all, "Show all pages")
}

fn empty(heading: &str, text: &str, href: String, step: &str) -> Markup {
    markup(
        r#"<div class="empty"><h2>{}</h2><p>{}</p><a class="button" href="{}">{}</a></div>"#,
        &[&heading, &text, &href, &step],
    )
}
