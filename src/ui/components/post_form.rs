//! A form of a few hidden fields that posts, and the question before it. All of them share their code, which keeps the
//! WebAssembly small.

use leptos::prelude::*;

use crate::ui::components::failure;
use crate::ui::erase::{Erase, shown};
use crate::ui::state::post::Post;

/// Names and values of hidden fields.
pub type Hidden = Vec<(&'static str, String)>;

/// `content` in a form that posts `hidden` along with it.
pub fn post_form(class: &'static str, post: Post, hidden: Hidden, content: AnyView) -> AnyView {
    let hidden = hidden.into_iter().map(|(name, value)| {
        view! { <input type="hidden" name=name value=value autocomplete="off" /> }.erase()
    });
    view! {
        <form class=class method="post" action=post.url on:submit=post.submitting()>
            {hidden.collect_view()} {content}
        </form>
    }
    .erase()
}

/// A button that shows `content` in a form: what it would do is said before it is done. Works without scripts.
pub fn confirm(name: &'static str, post: Post, hidden: Hidden, content: AnyView) -> AnyView {
    view! {
        <details class="confirm">
            <summary class="button">{name}</summary>
            {post_form("stack", post, hidden, content)}
        </details>
    }
    .erase()
}

/// Where the platform's own id of a job is typed.
pub fn id_field() -> AnyView {
    view! {
        <label class="id-field">
            <span class="field-label">"Id of the job on the platform"</span>
            <input class="field" name="remote_id" required maxlength="200" autocomplete="off" spellcheck="false" />
        </label>
    }
    .erase()
}

/// Why the last post of one of them failed; nothing where none did.
pub fn problems(posts: Vec<Post>) -> AnyView {
    shown(move || failure::of_form(posts.iter().find_map(|post| post.problem())))
}
