//! The form of the chosen pages: it leads to a new batch about them. Shown while a page is chosen.

use leptos::prelude::*;

use crate::model::links;
use crate::ui::components::pages_table::PICKED;

pub(super) fn batch(project: &str) -> AnyView {
    view! {
        <form id=PICKED class="picked" method="get" action=links::new_batch(project, "")>
            <button class="button button-primary" type="submit">"Start a batch about the chosen pages"</button>
            <button class="button" type="reset">"Clear"</button>
        </form>
    }
    .into_any()
}
