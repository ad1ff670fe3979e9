//! The frame around every page of a project: the rail (a bar on top of small screens), the page, and what follows it.

mod account;
mod meter;
mod rail;
mod trouble;

use leptos::prelude::*;
use leptos_router::components::Outlet;
use leptos_router::hooks::use_location;

use crate::ui::components::{keys, toasts};
use crate::ui::erase::Erase;
use crate::ui::state::{budget, live, project, session};

#[component]
pub fn Frame() -> impl IntoView {
    let project = project::provide();
    let session = session::provide();
    let budget = budget::provide(project.clone());
    let live = live::start(project.clone(), budget);
    let page = NodeRef::<leptos::html::Main>::new();
    focus_new_pages(page);
    view! {
        <a class="skip-link" href="#content" rel="external">"Skip to content"</a>
        <div class="frame">
            {rail::top(&project, session)}
            <main id="content" class="page" tabindex="-1" node_ref=page>
                {trouble::strip(live)}
                {trouble::of_upstream(budget)}
                <Outlet />
            </main>
            <footer class="rail-foot">
                {meter::meters(budget, session)}
                {account::account(session, true)}
            </footer>
        </div>
        {toasts::region()}
        {keys::help(&project, session)}
    }
    .erase()
}

/// Around the pages of a person and of an administrator, which belong to no project.
#[component]
pub fn AdminFrame() -> impl IntoView {
    let session = session::provide();
    view! {
        <a class="skip-link" href="#content" rel="external">"Skip to content"</a>
        <div class="frame">
            {rail::settings(session)}
            <main id="content" class="page" tabindex="-1">
                <Outlet />
            </main>
            <footer class="rail-foot">{account::account(session, false)}</footer>
        </div>
    }
    .erase()
}

/// After going to another page, reading goes on at its beginning, not at the link that led to it.
fn focus_new_pages(page: NodeRef<leptos::html::Main>) {
    let pathname = use_location().pathname;
    Effect::new(move |before: Option<String>| {
        let now = pathname.get();
        let went = before.is_some_and(|before| before != now);
        if let (true, Some(page)) = (went, page.get_untracked()) {
            let _ = page.focus();
        }
        now
    });
}
