//! The bell that leads to the notifications, with the number of unread ones. [`super::live::Live`] keeps it current.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::live::LiveState;
use model::links;

/// Higher counts are shown as `99+`.
const MOST: u32 = 99;

/// `unread`: the number when the page was rendered. `is_here`: whether the current page is the notifications, on which there is none.
#[island]
pub fn Bell(project: String, unread: u32, is_here: bool) -> impl IntoView {
    let latest = LiveState::here().map(|live| live.unread);
    let unread = move || match is_here {
        true => 0,
        false => latest.and_then(|latest| latest.get()).unwrap_or(unread),
    };
    view! {
        <a
            class="quiet bell"
            href=links::notifications(&project, false)
            title=move || label(unread())
            aria-label=move || label(unread())
            aria-current=is_here.then_some("page")
        >
            {icon(icon::BELL)}
            <span class="bell-count" aria-hidden="true">{move || text(unread())}</span>
        </a>
    }
}

/// `Notifications, 3 new`.
fn label(unread: u32) -> String {
    match unread {
        0 => "Notifications".to_owned(),
        _ => ["Notifications, ", &text(unread), " new"].concat(),
    }
}

/// Nothing, `3` or `99+`.
fn text(unread: u32) -> String {
    match unread {
        0 => String::new(),
        1..=MOST => unread.to_string(),
        _ => "99+".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bell_shows_the_number_of_unread_jobs() {
        assert_eq!([0, 3, 99, 100].map(text), ["", "3", "99", "99+"]);
        assert_eq!([label(0), label(1)], ["Notifications", "Notifications, 1 new"]);
    }
}
