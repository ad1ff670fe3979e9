//! The form of the chosen pages, which leads to a new batch about them. Shown while a page is chosen. With scripts,
//! `islands::picked` stores pages chosen on other pages of the table; without, the URL does.

use leptos::prelude::*;

use super::AnalyticsPage;
use crate::ui::charts::number::counted;
use crate::ui::marks::{PICKED, PICKED_COUNT, PICKED_ELSEWHERE, PICKED_NUMBER};
use model::analytics::query::PICK;
use model::analytics::report::PagesTable;
use model::links;

/// The field with the filters of the page on which pages are chosen.
pub(super) const STAY: &str = "stay";

pub(super) fn batch(context: &AnalyticsPage, table: &PagesTable) -> AnyView {
    let AnalyticsPage { project, query, .. } = context;
    let hidden = |page: String| view! { <input type="hidden" name=PICK value=page autocomplete="off" /> };
    let is_here = |page: &String| table.rows.iter().any(|row| row.path == *page);
    let elsewhere: Vec<_> = query.picked.iter().filter(|page| !is_here(page)).cloned().collect();
    let others = (!elsewhere.is_empty()).then(|| {
        let count = counted(elsewhere.len() as u64, "page", "pages");
        view! { <span class="no-js">{format!("{count} selected elsewhere")}</span> }
    });
    let clear = (!query.picked.is_empty()).then(|| {
        let href = query.clone().picking(Vec::new()).href(project);
        view! { <a class="button no-js" href=href>"Clear all"</a> }
    });
    // Without scripts, the URL of this same page stores the choice. One value contains the filters, because separate fields
    // would be sent to the batch too.
    let stay = query.clone().picking(Vec::new()).query_string();
    view! {
        <form id=PICKED.name() class="picked" method="get" action=links::new_batch(project, "")>
            <span id=PICKED_ELSEWHERE.name() data-keep="">
                {elsewhere.into_iter().map(hidden).collect_view()}
            </span>
            <span class="js-only" role="status"><span id=PICKED_COUNT.name() data-keep=""></span></span>
            {others}
            <button class="button button-primary" type="submit">
                "Start batch for " <span id=PICKED_NUMBER.name() data-keep="">"the selected pages"</span>
            </button>
            <button class="button js-only" type="reset">"Clear"</button>
            <button class="button no-js" type="submit" name=STAY value=stay formaction=links::analytics(project)>"Keep selection and continue"</button>
            {clear}
        </form>
    }
    .into_any()
}
