//! The bell that leads to the notifications, with the number of unread ones.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use model::links;

pub const BELL: &str = "bell";
pub const COUNT: &str = "bell-count";

/// Higher counts are shown as `99+`.
const MOST: u32 = 99;

/// `is_here`: whether the current page is the notifications.
pub fn bell(project: &str, unread: u32, is_here: bool) -> impl IntoView + use<> {
    let unread = if is_here { 0 } else { unread };
    view! {
        <a
            id=BELL
            class="quiet bell"
            href=links::notifications(project, false)
            title=label(unread)
            aria-label=label(unread)
            aria-current=is_here.then_some("page")
        >
            {icon(icon::BELL)}
            <span id=COUNT class="bell-count" aria-hidden="true">{text(unread)}</span>
        </a>
    }
}

/// `Notifications, 3 new`.
pub fn label(unread: u32) -> String {
    match unread {
        0 => "Notifications".to_owned(),
        _ => ["Notifications, ", &text(unread), " new"].concat(),
    }
}

/// Nothing, `3` or `99+`.
pub fn text(unread: u32) -> String {
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
