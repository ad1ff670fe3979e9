//! `/admin/webhooks`: where others are told that jobs came to rest, for administrators. With `?webhook=`, what became of
//! the events of one.

mod add;
mod list;
mod log;

use std::sync::Arc;

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::webhooks::{
    AddWebhook, DisableWebhook, EnableWebhook, GetWebhookDeliveries, GetWebhooks, RemoveWebhook,
    RenewWebhook, RetryDelivery, TestWebhook,
};
use crate::error::AppError;
use crate::model::user::Role;
use crate::model::webhook::NewSecret;
use crate::ui::components::failure;
use crate::ui::components::loading::{self, loaded, nothing, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::erase::{Erase, effect};
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::post::Post;
use crate::ui::state::session;

const GONE: &str = "That cannot be done with this webhook.";

/// The forms of this page but the one that adds: plain posts, each answered by this page.
#[derive(Clone, Copy)]
struct Posts {
    enable: Post,
    disable: Post,
    remove: Post,
    renew: Post,
    test: Post,
    retry: Post,
}

/// Another webhook's log is another page.
#[component]
pub fn AdminWebhooks() -> impl IntoView {
    let query = address::query();
    let chosen = Memo::new(move |_| query.read().get("webhook"));
    view! { {move || page(chosen.get())} }.into_any()
}

fn page(chosen: Option<String>) -> AnyView {
    let webhooks = Asked::once(|| call(GetWebhooks {}));
    let events = chosen
        .clone()
        .map(|webhook| Asked::once(move || call(GetWebhookDeliveries { webhook: webhook.clone() })));
    let posts = Posts {
        enable: Post::to::<EnableWebhook>(GONE),
        disable: Post::to::<DisableWebhook>(GONE),
        remove: Post::to::<RemoveWebhook>(GONE),
        renew: Post::to::<RenewWebhook>(GONE),
        test: Post::to::<TestWebhook>(GONE),
        retry: Post::to::<RetryDelivery>(GONE),
    };
    let add = Post::to::<AddWebhook>(add::MISTAKE);
    let has_log = chosen.is_some();
    effect(move || {
        // From a log, the answer leads to a page that asks by itself; a secret is told to who asks first.
        if let (Some(Ok(_)), false) = (add.outcome::<NewSecret>(), has_log) {
            webhooks.again();
        }
    });
    let session = session::get();
    let form = move || match session.get() {
        Some(Ok(session)) if session.role == Role::Admin => add::form(add, session.projects),
        _ => ().into_any(),
    };
    view! {
        {page_head("Webhooks", "Who is told when a job comes to rest".into_any(), ().into_any())}
        {failure::of_form(posts.problem())}
        {loaded(webhooks, loading::rows, move |listed| list::list(listed, chosen.as_deref(), posts))}
        {events.map(|events| loaded(events, loading::rows, move |events| log::log(events, posts.retry)))}
        {suspended(nothing, Arc::new(form))}
    }
    .into_any()
}

impl Posts {
    /// Why the last of them failed, if it did.
    fn problem(self) -> Option<AppError> {
        let Self { enable, disable, remove, renew, test, retry } = self;
        [enable, disable, remove, renew, test, retry].into_iter().find_map(Post::problem)
    }
}

/// A form that is one button, about the one thing named by `id`.
fn button(post: Post, field: &'static str, id: String, label: &'static str) -> AnyView {
    view! {
        <form method="post" action=post.url>
            <input type="hidden" name=field value=id />
            <button type="submit" class="button">{label}</button>
        </form>
    }
    .into_any()
}
