//! A table of states: words more than numbers. On small screens each row is a block, and `data-label` names its cells.

use leptos::prelude::*;

/// The column of what can be done with a row; its head is only read out.
pub const ACTIONS: &str = "Actions";

/// The table called `name`, with a column for each of `heads`.
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
