//! The bar of views above a list: tabs of the page, saved views, and forms to save the current filters. For all pages with saved
//! views.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{Hidden, confirm, post_form};
use crate::ui::components::menu::{MenuButton, menu};
use crate::ui::components::notice::problem;
use crate::ui::pages::request;
use api::saved_views::{RemoveSavedView, SaveView, UpdateSavedView};
use model::saved_view::{SavedView, SavedViewPage};
use model::user::Role;

/// The data of the bar.
pub(super) struct Bar<'a> {
    pub(super) project: &'a str,
    pub(super) of: SavedViewPage,
    /// The tabs before the saved views.
    pub(super) tabs: Vec<Tab>,
    pub(super) views: &'a [SavedView],
    /// The current filters as stored in a saved view; empty without filters.
    pub(super) now: String,
    pub(super) role: Role,
}

/// A view that every list of the page has.
pub(super) struct Tab {
    pub(super) name: &'static str,
    pub(super) href: String,
    pub(super) is_here: bool,
}

/// `href`: returns the URL of a saved view.
pub(super) fn saved_views_bar(bar: &Bar, href: impl Fn(&SavedView) -> String) -> AnyView {
    let refused =
        [SaveView::PATH, UpdateSavedView::PATH, RemoveSavedView::PATH].into_iter().find_map(request::flash);
    let refused = refused.and_then(|message| message.problem().map(|error| error.message.clone()));
    let tabs = bar.tabs.iter().map(|Tab { name, href, is_here }| {
        view! { <li><a class="chip" href=href.clone() aria-current=is_here.then_some("true")>{*name}</a></li> }
    });
    let tabs = (!bar.tabs.is_empty())
        .then(|| view! { <ul class="chips" aria-label="Views">{tabs.collect_view()}</ul> });
    let chips = bar.views.iter().map(|view| {
        let whose = (!view.own).then(|| view! { <span class="count">{format!("by {}", view.owner)}</span> });
        let is_here = (view.query == bar.now).then_some("true");
        view! { <li><a class="chip" href=href(view) aria-current=is_here>{view.name.clone()} {whose}</a></li> }
    });
    let chips = (!bar.views.is_empty())
        .then(|| view! { <ul class="chips" aria-label="Saved views">{chips.collect_view()}</ul> });
    let present = bar.views.iter().find(|view| view.query == bar.now);
    let form = match present {
        Some(view) if view.own => Some(edit(bar, view)),
        Some(view) if bar.role >= Role::Admin => {
            let content = view! { <div class="keep-form">{remove(bar, view)}</div> };
            Some(popover("edit-view", "Edit this view", &view.id, content))
        }
        Some(_) => None,
        None => (!bar.now.is_empty()).then(|| save(bar)),
    };
    view! {
        <div data-region="saved-views">
            <div class="saved-views">{tabs} {chips} {form}</div>
            {problem(refused)}
        </div>
    }
    .into_any()
}

fn save(bar: &Bar) -> AnyView {
    let share = (bar.role >= Role::Operator).then(|| {
        view! { <label class="with-icon"><input type="checkbox" name="shared" value="true" /> "For everyone"</label> }
    });
    let fields = view! {
        {name("")}
        {share}
        <button type="submit" class="button button-primary" data-done="View saved">"Save view"</button>
    };
    let mut hidden = of(bar);
    hidden.push(("query", bar.now.clone()));
    popover("save-view", "Save this view", &bar.now, post_form("keep-form", SaveView::PATH, hidden, fields))
}

fn edit(bar: &Bar, view: &SavedView) -> AnyView {
    let (shared, words) =
        if view.shared { ("false", "Stop sharing") } else { ("true", "Share with everyone") };
    let share = (bar.role >= Role::Operator || view.shared).then(|| {
        let mut hidden = which(bar, view);
        hidden.push(("shared", shared.to_owned()));
        let button = view! { <button type="submit" class="button" data-done="View changed">{words}</button> };
        post_form("", UpdateSavedView::PATH, hidden, button)
    });
    let rename = view! { {name(&view.name)} <button type="submit" class="button button-primary" data-done="View changed">"Rename"</button> };
    let content = view! {
        {post_form("keep-form", UpdateSavedView::PATH, which(bar, view), rename)}
        <div class="keep-form">{share} {remove(bar, view)}</div>
    };
    popover("edit-view", "Edit this view", &format!("{} {shared} {}", view.id, view.name), content)
}

/// A button that opens `content`. A change of `version` closes it: the form was posted.
fn popover<C: IntoView>(id: &'static str, name: &'static str, version: &str, content: C) -> AnyView {
    let button = MenuButton { class: "quiet", label: None, content: name.into_any() };
    view! { <div data-key=format!("{id} {version}")>{menu(id, "", button, content)}</div> }.into_any()
}

fn remove(bar: &Bar, view: &SavedView) -> AnyView {
    let what = if view.shared { "This removes it for everyone: " } else { "This removes your view: " };
    let confirmation = view! {
        <p>{what} <bdi>{view.name.clone()}</bdi></p>
        <button type="submit" class="button" data-done="View removed">"Remove view"</button>
    };
    confirm("Remove…", post_form("stack", RemoveSavedView::PATH, which(bar, view), confirmation))
}

fn which(bar: &Bar, view: &SavedView) -> Hidden {
    let mut hidden = of(bar);
    hidden.push(("view", view.id.clone()));
    hidden
}

fn of(bar: &Bar) -> Hidden {
    vec![("project", bar.project.to_owned()), ("of", bar.of.as_str().to_owned())]
}

fn name(name: &str) -> AnyView {
    view! {
        <label class="field-label" for="view-name">"Name"</label>
        <input id="view-name" class="field" name="name" required maxlength="60" autocomplete="off" autofocus value=name.to_owned() />
    }
    .into_any()
}
