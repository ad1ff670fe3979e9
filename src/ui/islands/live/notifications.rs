//! Notifications of the browser about jobs that finished, for whoever asked for them in this browser.

use leptos::prelude::*;

use crate::ui::islands::browser;

/// Where the choice is kept in the browser.
const CHOICE: &str = "docket.notify";

#[derive(Clone, Copy)]
pub struct Notifications {
    wanted: RwSignal<bool>,
}

impl Notifications {
    pub(super) fn new() -> Self {
        let notifications = Self { wanted: RwSignal::new(false) };
        // After all islands are hydrated: each takes what the server rendered for what it would render itself.
        browser::after(0, move || {
            notifications.wanted.set(browser::stored(CHOICE).is_some() && browser::may_notify());
        });
        notifications
    }

    /// Whether they are shown. Tracked.
    pub fn are_wanted(self) -> bool {
        self.wanted.get()
    }

    /// As [`Notifications::are_wanted`], for timers.
    pub(super) fn come(self) -> bool {
        self.wanted.get_untracked()
    }

    /// Begins to show them, if the browser allows it, or ends it; says what came of that.
    pub fn toggle(self, say: impl Fn(&'static str) + 'static) {
        if self.wanted.get_untracked() {
            browser::store(CHOICE, "");
            self.wanted.set(false);
            return say("Notifications off");
        }
        browser::ask_to_notify(move |allowed| {
            if allowed {
                browser::store(CHOICE, "yes");
                self.wanted.set(true);
                say(
                    "Notifications on: this browser notifies you when a job finishes while you look elsewhere",
                );
            } else {
                say("This browser blocks notifications. Allow them for this site in its settings");
            }
        });
    }
}
