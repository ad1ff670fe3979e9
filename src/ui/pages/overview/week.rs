//! The week's readers: three figures, a chart by day where the history holds the week, and the most read pages.

use leptos::prelude::*;

use crate::model::history::{PagesReport, Trend};
use crate::model::views::{PageViews, ViewCounts, Views};
use crate::ui::charts::columns::Form;
use crate::ui::charts::number::grouped;
use crate::ui::charts::{bar, scale, trend};
use crate::ui::components::moment::ago;
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::figures;
use crate::ui::pages::analytics::reading::Reading;

pub(super) fn week(project: &str, reading: Reading) -> AnyView {
    match reading {
        Reading { views: Some(views), .. } => live(project, &views),
        Reading { pages: Some(pages), trend: Some(trend), .. } => by_day(project, &pages, &trend),
        _ => nobody(),
    }
}

fn live(project: &str, answer: &Views) -> AnyView {
    if answer.views.is_empty() {
        return nobody();
    }
    let rows = answer.views.iter().map(|page| (page.path.as_str(), PageViews::counts(page))).collect();
    view! {
        {figures::figures(answer.totals)}
        {bar::patterns()}
        {bar::legend()}
        {most_read(rows)}
        {figures::provenance(answer)}
        {all_pages(project)}
    }
    .erase()
}

fn by_day(project: &str, pages: &PagesReport, shown: &Trend) -> AnyView {
    if pages.rows.is_empty() {
        return nobody();
    }
    let change = pages.comparison.as_ref().map(|compared| (compared.current, compared.previous));
    let rows = pages.rows.iter().map(|page| (page.path.as_str(), page.counts)).collect();
    view! {
        {figures::compared(pages.totals, change)}
        {bar::patterns()}
        {trend::trend(project, shown, Form::Stacked)}
        {most_read(rows)}
        <p class="provenance">"From the daily history" {pages.read_at.map(|at| view! { ", read " {ago(at)} }.into_any())}</p>
        {all_pages(project)}
    }
    .erase()
}

fn nobody() -> AnyView {
    view! { <p class="none">"Nobody read a page in these days, or nothing is counted yet."</p> }.erase()
}

fn all_pages(project: &str) -> AnyView {
    view! { <p class="more"><a href=links::analytics(project)>"All pages"</a></p> }.erase()
}

fn most_read(rows: Vec<(&str, ViewCounts)>) -> AnyView {
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
    view! { <ul class="week-pages" inner_html=rows.into_html()></ul> }.erase()
}
