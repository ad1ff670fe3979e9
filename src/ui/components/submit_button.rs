//! The button of a form that posts.

use leptos::prelude::*;

use crate::ui::erase::Erase;
use crate::ui::state::post::Post;

/// Says `busy` and rests while the form is being posted.
pub fn submit_button(post: Post, idle: &'static str, busy: &'static str) -> AnyView {
    view! {
        <button
            type="submit"
            class="button button-primary"
            aria-busy=move || post.is_pending().then_some("true")
            disabled=move || post.is_pending()
        >
            {move || if post.is_pending() { busy } else { idle }}
        </button>
    }
    .erase()
}
