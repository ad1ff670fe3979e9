//! A table of states: words more than numbers. On a small screen each row becomes a list, with the heads of the columns beside the values.

use leptos::prelude::*;

/// A column, by its head.
#[derive(Clone, Copy)]
pub enum Column {
    Text(&'static str),
    Number(&'static str),
    /// What can be done with the row. Its head is read out only.
    Actions,
}

/// A table called `name`. Each row has one cell for each column; the first one names the row.
pub fn status_table(name: &'static str, columns: &[Column], rows: Vec<Vec<AnyView>>) -> AnyView {
    let heads = columns.iter().map(|column| match *column {
        Column::Text(head) => view! { <th scope="col">{head}</th> }.into_any(),
        Column::Number(head) => view! { <th scope="col" class="numeric">{head}</th> }.into_any(),
        Column::Actions => view! { <th scope="col"><span class="visually-hidden">"Actions"</span></th> }.into_any(),
    });
    let rows = rows.into_iter().map(|cells| {
        let cells = columns.iter().zip(cells).enumerate().map(|(at, (column, content))| match *column {
            _ if at == 0 => view! { <th scope="row">{content}</th> }.into_any(),
            Column::Text(head) => view! { <td data-label=head><span>{content}</span></td> }.into_any(),
            Column::Number(head) => view! { <td data-label=head class="numeric">{content}</td> }.into_any(),
            Column::Actions => view! { <td>{content}</td> }.into_any(),
        });
        view! { <tr>{cells.collect_view()}</tr> }
    });
    view! {
        <table class="status-table" aria-label=name>
            <thead>
                <tr>{heads.collect_view()}</tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
    .into_any()
}
