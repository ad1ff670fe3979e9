//! The week's readers: three figures, a chart by day where the history holds the week, and the most read pages.

use leptos::prelude::*;

use crate::model::drawn::Reading;
use crate::model::views::{PageViews, ViewCounts, Views};
#[cfg(feature = "ssr")]
use crate::model::{
    drawn::Drawn,
    history::{PagesReport, Trend},
    time::Timestamp,
};
use crate::ui::charts::number::grouped;
use crate::ui::charts::{bar, scale};
#[cfg(feature = "ssr")]
use crate::ui::charts::{columns::Form, trend};
#[cfg(feature = "ssr")]
use crate::ui::components::moment::age;
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::{drawn, figures};

pub(super) fn week(project: &str, reading: Reading) -> AnyView {
    let content = match reading {
        Reading { views: Some(views), .. } => live(project, &views),
        Reading { drawn, .. } => drawn::page(drawn.unwrap_or_default()),
    };
    view! {
        {bar::patterns()}
        {content}
    }
    .erase()
}

fn live(project: &str, answer: &Views) -> AnyView {
    if answer.views.is_empty() {
        return nobody();
    }
    let rows = answer.views.iter().map(|page| (page.path.as_str(), PageViews::counts(page))).collect();
    view! {
        {figures::figures(answer.totals)}
        {bar::legend()}
        <div inner_html=most_read(rows).into_html()></div>
        {figures::provenance(answer)}
        <div inner_html=all_pages(project).into_html()></div>
    }
    .erase()
}

/// The week by day. Drawn on the server.
#[cfg(feature = "ssr")]
pub fn drawn(project: &str, pages: &PagesReport, shown: &Trend, now: Timestamp) -> Drawn {
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

fn nobody() -> AnyView {
    view! { <p class="none">"Nobody read a page in these days, or nothing is counted yet."</p> }.erase()
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
