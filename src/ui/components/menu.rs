//! A button and the menu that it opens below itself: a popover. The browser closes it on Escape (which returns the focus to the
//! button), on a press elsewhere, and when another one opens. Works without JavaScript.

use leptos::prelude::*;

use crate::ui::components::unmarked::unmarked;

/// The button of a menu.
pub struct MenuButton {
    pub class: &'static str,
    /// The accessible name, if it is not the text of `content`.
    pub label: Option<&'static str>,
    pub content: AnyView,
}

/// `id` is the menu's, and unique on the page. `class` is for the element around button and menu.
pub fn menu(
    id: impl Into<String>,
    class: &'static str,
    button: MenuButton,
    content: impl IntoView,
) -> AnyView {
    let id = id.into();
    let MenuButton { class: of_button, label, content: name } = button;
    unmarked(view! {
        <div class=format!("with-menu {class}")>
            <button type="button" class=of_button popovertarget=id.clone() aria-label=label title=label>
                {name}
            </button>
            <div id=id class="menu" popover="auto">
                {content.into_view()}
            </div>
        </div>
    })
    .into_any()
}
