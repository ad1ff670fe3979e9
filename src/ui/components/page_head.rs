//! The head of a page: its title, one line of context, and the primary action on the right. Also names the document.

use leptos::prelude::*;

use crate::ui::erase::Erase;
use crate::ui::state::title;

pub fn page_head(name: &'static str, context: AnyView, actions: AnyView) -> AnyView {
    title::set(name);
    view! {
        <header class="page-head">
            <div class="page-title">
                <h1>{name}</h1>
                <p class="context">{context}</p>
            </div>
            <div class="actions">{actions}</div>
        </header>
    }
    .erase()
}
