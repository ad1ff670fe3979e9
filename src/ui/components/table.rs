//! A table of mostly text. On small screens each row is a block, and `data-label` names its cells.

use leptos::prelude::*;

/// The heading of the column with actions, for screen readers only.
pub const ACTIONS: &str = "Actions";

/// A table with the accessible name `name` and a column for each of `heads`.
pub fn table(name: &'static str, heads: &[&'static str], rows: impl IntoView) -> AnyView {
    let heads = heads.iter().map(|head| match *head {
        ACTIONS => view! { <th scope="col"><span class="visually-hidden">{ACTIONS}</span></th> }.into_any(),
        head => view! { <th scope="col">{head}</th> }.into_any(),
    });
    view! {
        <table class="status-table" aria-label=name>
            <thead>
                <tr>{heads.collect_view()}</tr>
            </thead>
            <tbody>{rows.into_view()}</tbody>
        </table>
    }
    .into_any()
}

/// A table of figures that scrolls sideways where it is wider than the screen. `name` is the accessible name of the scrolling part, which the keyboard
/// reaches.
pub fn wide(name: &'static str, table: impl IntoView) -> AnyView {
    view! { <div class="wide-table" role="region" aria-label=name tabindex="0">{table.into_view()}</div> }
        .into_any()
}
