//! The dialog with the list of keyboard shortcuts. Every page has it, so it is short.

use leptos::prelude::*;

use crate::ui::components::keys::caps;
use crate::ui::components::unmarked::unmarked;
use crate::ui::marks::SHORTCUT_LIST;
use model::links;

/// The id of its heading.
const HEADING: &str = "keys";

pub(in crate::ui::pages) const SHORTCUTS: [(&str, &str); 14] = [
    ("Ctrl K", "Go to a page, job or action"),
    ("/", "Search"),
    ("c", "New job"),
    ("g o", "Overview"),
    ("g j", "Jobs"),
    ("g q", "Queue"),
    ("g r", "Reviews"),
    ("g a", "Analytics"),
    ("g t", "Templates"),
    ("j k", "Next or previous row"),
    ("Enter", "Open the row"),
    ("x", "Choose the row"),
    ("Period", "Light or dark"),
    ("?", "This list"),
];

pub(super) fn shortcut_list() -> impl IntoView + use<> {
    let rows = SHORTCUTS.map(|(keys, what)| view! { <dt>{caps(keys)}</dt> <dd>{what}</dd> });
    unmarked(view! {
        <dialog id=SHORTCUT_LIST.name() class="dialog" aria-labelledby=HEADING>
            <form method="dialog">
                <h2 id=HEADING>"Keyboard shortcuts"</h2>
                <dl>{rows.into_iter().collect_view()}</dl>
                <p><a href=links::HELP>"Help"</a></p>
                <button class="button">"Close"</button>
            </form>
        </dialog>
    })
}
