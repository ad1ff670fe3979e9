//! The controls above the rows: tabs, flat or by folder, search, exports. For live figures, their age.

use leptos::either::Either;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use strum::VariantArray;

use super::{About, FOLDER, HEADING, SEARCH, Shown};
use crate::ui::charts::number::{counted, grouped, share};
use crate::ui::components::empty::empty;
use crate::ui::components::form::post_form;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::live_source::live_source;
use crate::ui::components::localized::written;
use api::analytics::GetViews;
use model::analytics::choice::{Readers, Sort, Tab};
use model::analytics::pages::VIEWS_MIN;
use model::analytics::query::{AnalyticsQuery, DAYS};
use model::analytics::report::TableSource;
use model::links;

pub(super) fn controls(about: &About, shown: &Shown) -> impl IntoView + use<> {
    match shown.table.source {
        TableSource::Daily { .. } => Either::Left(daily(about, shown)),
        TableSource::Live { fetched_at, stale, corrected, .. } => {
            let source = live_source(fetched_at, stale, corrected);
            // Viewers' calls are reserved for new queries.
            let refresh = about.may_start.then(|| refresh(about, &shown.query));
            Either::Right(view! {
                <div class="section-head"><h2 id=HEADING>"Pages"</h2></div>
                <div class="source">{source} {refresh}</div>
            })
        }
    }
}

/// One of several links to other pages of the table, of which one is current.
pub(super) fn choice(id: String, href: String, name: String, is_chosen: bool) -> impl IntoView + use<> {
    view! { <li><a id=id href=href aria-current=is_chosen.then_some("true")>{name}</a></li> }
}

pub(super) fn nothing_found(about: &About, query: &AnalyticsQuery) -> impl IntoView + use<> {
    let all = query.unsearched().in_folder(None).on_tab(Tab::All).href(&about.project);
    let step = view! { <a class="button" href=all>"Show all pages"</a> };
    let why = match (query.tab, query.readers) {
        (Tab::All, _) => "No page of these days matches the folder and the search.",
        (tab, _) if tab.is_of_share() => {
            "No page with at least 100 views in both periods changed in this way, or the days to compare with are not in the daily history."
        }
        (Tab::New | Tab::Gone, _) | (_, Readers::All) => {
            "No page with at least 20 views changed in this way, or the days to compare with are not in the daily history."
        }
        (_, Readers::People) => {
            "No page with at least 20 views by people changed in this way, or the days to compare with are not in the daily history."
        }
        (_, Readers::Ai) => {
            "No page with at least 20 views by AI changed in this way, or the days to compare with are not in the daily history."
        }
    };
    empty("No page matches", why, step)
}

fn daily(about: &About, shown: &Shown) -> impl IntoView + use<> {
    let (project, query) = (about.project.as_str(), &shown.query);
    let file = |name: &'static str, kind: &'static str| {
        view! { <a href=query.export_href(project, kind) download>{name}</a> }
    };
    let of_share = query.tab.is_of_share();
    let tabs = Tab::VARIANTS.iter().filter(|tab| **tab == Tab::Share || !tab.is_of_share()).map(|tab| {
        let is_chosen = *tab == query.tab || (of_share && *tab == Tab::Share);
        let id = format!("tab-{}", tab.as_str());
        choice(id, query.on_tab(*tab).href(project), tab.label().to_owned(), is_chosen)
    });
    let directions = of_share.then(|| {
        let shares = [(Tab::Share, "All"), (Tab::ShareRising, "Rising"), (Tab::ShareFalling, "Falling")];
        let shares = shares.map(|(tab, name)| {
            let id = format!("share-{}", name.to_lowercase());
            choice(id, query.on_tab(tab).href(project), name.to_owned(), tab == query.tab)
        });
        view! { <ul class="segments" aria-label="Change of the AI share">{shares}</ul> }
    });
    let kind = |id: &'static str, folder: Option<&str>, name: &'static str| {
        let is_chosen = (folder.is_some() == query.folder.is_some()).then_some("true");
        view! { <li><a id=id href=query.in_folder(folder).href(project) aria-current=is_chosen>{name}</a></li> }
    };
    view! {
        <div class="section-head table-controls">
            <h2 id=HEADING>"Pages"</h2>
            <ul class="tabs" aria-label="Pages by change">{tabs.collect_view()}</ul>
            {directions}
            <ul class="segments" aria-label="Rows">
                {kind("all-pages", None, "All pages")}
                {kind("by-folder", Some("/"), "By folder")}
            </ul>
            {search(project, query)}
            <p class="exports">{file("CSV", "csv")} " " {file("JSON", "json")}</p>
        </div>
        <nav class="folders" aria-label="Folder">{open_folder(project, query)}</nav>
    }
}

/// The number of rows of the daily history, and their views.
pub(super) fn below(Shown { query, table }: &Shown) -> Option<impl IntoView + use<>> {
    let TableSource::Daily { rows, views } = table.source else { return None };
    let sum = format!(
        "{} with {} views, {} of all.",
        counted(rows, "row", "rows"),
        grouped(views),
        share(views, table.views),
    );
    let by_share = query.order().is_some_and(|order| order.by == Sort::Share);
    let last = by_share.then(|| format!(" Pages with fewer than {VIEWS_MIN} views come last."));
    Some(view! { <p class="provenance">{written(sum)} {last}</p> })
}

fn search(project: &str, query: &AnalyticsQuery) -> impl IntoView + use<> {
    let fields = query.hidden_fields(&["q"]).into_iter();
    let fields = fields.map(|(name, value)| {
        view! { <input type="hidden" name=name value=value autocomplete="off" /> }
    });
    view! {
        <form class="search" method="get" action=links::analytics(project) role="search">
            {fields.collect_view()}
            {icon(icon::SEARCH)}
            <label class="visually-hidden" for=SEARCH>"Search pages"</label>
            <input
                id=SEARCH
                class="field"
                type="search"
                name="q"
                placeholder="Part of a path"
                autocomplete="off"
                value=query.q.clone().unwrap_or_default()
            />
            <button type="submit" class="visually-hidden">"Search"</button>
        </form>
    }
}

/// The breadcrumbs of the open folder.
fn open_folder(project: &str, query: &AnalyticsQuery) -> Option<impl IntoView + use<>> {
    let folder = query.folder.as_deref()?;
    let folder = folder.trim_end_matches("/*").trim_end_matches('/');
    let name = if folder.is_empty() { "All folders".to_owned() } else { folder.to_owned() };
    let above = query.folders_above(folder).map(|(name, above)| {
        view! { <a href=above.href(project)>{name.to_owned()}</a> " / " }
    });
    Some(view! { {above.collect_view()} <span id=FOLDER tabindex="-1" aria-current="page">{name}</span> })
}

/// A form that fetches live figures again, bypassing the cache, and states its cost.
fn refresh(about: &About, query: &AnalyticsQuery) -> impl IntoView + use<> {
    let mut hidden = vec![
        ("project", about.project.clone()),
        ("limit", query.limit.to_string()),
        ("offset", query.offset().to_string()),
        ("refresh", "true".to_owned()),
    ];
    match (query.days.word(), about.days) {
        (Some(name), _) => hidden.push((DAYS, name.to_owned())),
        (None, Some((from, to))) => hidden.extend([("from", from.to_string()), ("to", to.to_string())]),
        (None, None) => {}
    }
    let button = view! { <button class="quiet-link" type="submit">"Refresh (uses 1 call)"</button> };
    post_form("refresh", GetViews::PATH, hidden, button)
}
