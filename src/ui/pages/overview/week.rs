//! The week's readers: three figures, a chart by day where the history holds the week, and the most read pages. Drawn on the server.

use crate::model::drawn::Drawn;
use crate::model::history::{PagesReport, Trend};
use crate::model::time::Timestamp;
use crate::model::views::{PageViews, ViewCounts, Views};
use crate::ui::charts::columns::Form;
use crate::ui::charts::number::grouped;
use crate::ui::charts::{bar, scale, trend};
use crate::ui::components::moment::age;
use crate::model::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::figures;

/// What the upstream answers for the week, where the history does not hold it.
pub fn live(project: &str, answer: &Views, now: Timestamp) -> Drawn {
    let rows: Vec<_> =
        answer.views.iter().map(|page| (page.path.as_str(), PageViews::counts(page))).collect();
    let above = match rows.is_empty() {
        true => {
            markup(r#"<p class="none">Nobody read a page in these days, or nothing is counted yet.</p>"#, &[])
        }
        false => [
            figures::compared(answer.totals, None),
            bar::legend(),
            most_read(rows),
            figures::provenance(answer, now),
            all_pages(project),
        ]
        .into_iter()
        .collect(),
    };
    Drawn { live: true, above: above.into_html(), ..Drawn::default() }
}

/// The week by day, from the history.
pub fn daily(project: &str, pages: &PagesReport, shown: &Trend, now: Timestamp) -> Drawn {
    let change = pages.comparison.as_ref().map(|compared| (compared.current, compared.previous));
    let rows = pages.rows.iter().map(|page| (page.path.as_str(), page.counts)).collect();
    let read = pages.read_at.map(|at| format!(", read {}", age(at, now))).unwrap_or_default();
    let below = markup(
        r#"{}<p class="provenance">From the daily history{}</p>{}"#,
        &[&most_read(rows), &read, &all_pages(project)],
    );
    Drawn {
        above: figures::compared(pages.totals, change).into_html(),
        plot: Some(trend::plot(project, shown, Form::Stacked)),
        below: below.into_html(),
        ..Drawn::default()
    }
}

fn all_pages(project: &str) -> Markup {
    markup(r#"<p class="more"><a href="{}">All pages</a></p>"#, &[&links::analytics(project)])
}

fn most_read(rows: Vec<(&str, ViewCounts)>) -> Markup {
    let longest = scale::longest(rows.iter().map(|(_, counts)| *counts));
    let rows: Markup = rows
        .iter()
        .map(|(path, counts)| {
            markup(
                r#"<li data-path="{}"><span class="week-path">{}</span><span class="numeric">{}</span>{}</li>"#,
                &[path, path, &grouped(counts.total), &bar::drawn(*counts, longest)],
            )
        })
        .collect();
    markup(r#"<ul class="week-pages">{}</ul>"#, &[&rows])
}
