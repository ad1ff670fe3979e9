//! Above the table: flat or by folder, search, how many rows there are, and the same rows in a file.

use crate::model::history::PagesReport;
use crate::ui::charts::number::{counted, grouped, share};
use crate::ui::components::icon;
use crate::model::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::Page;
use crate::ui::pages::analytics::table::choice;

pub(super) fn controls(page: &Page, pages: &PagesReport) -> Markup {
    let Page { project, query, .. } = *page;
    let kinds: Markup = [
        choice(query.in_folder(None).href(project), "All pages", query.folder.is_none()),
        choice(query.in_folder(Some("/")).href(project), "By folder", query.folder.is_some()),
    ]
    .into_iter()
    .collect();
    let files = ["csv", "json"].map(|kind| query.export_href(project, kind));
    let files = markup(
        r#"Export <a href="{}" rel="external" download>CSV</a> <a href="{}" rel="external" download>JSON</a>"#,
        &[&files[0], &files[1]],
    );
    markup(
        r#"<div class="section-head"><h2 id="table">Pages</h2><p class="exports">{}</p></div><div class="table-controls"><ul class="segments" aria-label="Rows">{}</ul>{}</div><nav class="folders" aria-label="Folder">{}</nav><p class="provenance">{}</p>"#,
        &[&files, &kinds, &search(page), &open_folder(page), &extent(pages)],
    )
}

fn search(page: &Page) -> Markup {
    let q = page.query.q.clone().unwrap_or_default();
    markup(
        r#"<form class="search" method="get" action="{}" role="search">{}<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg><label class="visually-hidden" for="q">Search pages</label><input id="q" class="field" type="search" name="q" placeholder="Part of a path" value="{}"><button type="submit" class="visually-hidden">Search</button></form>"#,
        &[&links::analytics(page.project), &page.query.hidden_fields(&["q"]), &icon::SEARCH, &q],
    )
}

/// The way to the folder that is open.
fn open_folder(page: &Page) -> Markup {
    let Some(folder) = page.query.folder.as_deref() else { return Markup::default() };
    let folder = folder.trim_end_matches("/*").trim_end_matches('/');
    let name = if folder.is_empty() { "All folders" } else { folder };
    let above = folders_above(page, folder).map(|link| markup("{} / ", &[&link])).collect::<Markup>();
    markup(r#"{}<span aria-current="page">{}</span>"#, &[&above, &name])
}

/// A link to each folder that holds `path`, the outermost first: every page, then what begins with the same parts.
pub(super) fn folders_above<'a>(page: &'a Page, path: &'a str) -> impl Iterator<Item = Markup> + 'a {
    let ends = path.match_indices('/').map(|(at, _)| at);
    ends.map(move |end| {
        let (folder, name) = if end == 0 { ("/", "All folders") } else { (&path[..end], &path[..end]) };
        let href = page.query.unsearched().about(None).in_folder(Some(folder)).href(page.project);
        markup(r#"<a href="{}" data-noscroll>{}</a>"#, &[&href, &name])
    })
}

/// `1,234 rows with 56,789 views, 34% of all.`
fn extent(pages: &PagesReport) -> String {
    format!(
        "{} with {} views, {} of all.",
        counted(pages.rows_total, "row", "rows"),
        grouped(pages.matching.total),
        share(pages.matching.total, pages.totals.total),
    )
}
