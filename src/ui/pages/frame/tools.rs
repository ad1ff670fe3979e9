//! Beside the logo: the command palette, notifications and settings.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::bell::Bell;
use crate::ui::islands::buttons;
use crate::ui::pages::request;
use model::links;

/// `project` is empty if there is none.
pub(super) fn tools(project: &str) -> AnyView {
    let notifications = (!project.is_empty()).then(|| {
        let (project, budgets) = (project.to_owned(), request::budgets());
        let is_here = request::path() == links::notifications(&project, false);
        Suspend::new(async move {
            let unread = budgets.await.map_or(0, |budgets| budgets.unread);
            view! { <Bell project unread is_here /> }
        })
    });
    view! {
        <div class="tools">
            <button
                type="button"
                class="quiet js-only"
                data-button=buttons::PALETTE
                title="Search and go anywhere (Ctrl+K)"
                aria-label="Search and go anywhere"
                aria-keyshortcuts="Control+K Meta+K"
            >
                {icon(icon::SEARCH)}
            </button>
            {notifications}
            {tool(links::ACCOUNT.to_owned(), "Settings", icon::GEAR)}
        </div>
    }
    .into_any()
}

fn tool(href: String, name: &'static str, outline: &'static str) -> AnyView {
    let is_here = request::path() == href;
    view! {
        <a class="quiet" href=href title=name aria-current=is_here.then_some("page")>
            {icon(outline)}
        </a>
    }
    .into_any()
}
