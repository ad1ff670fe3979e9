//! Notifications of the browser about jobs that came to rest, for whoever asked for them in this browser.

use leptos::prelude::*;

use crate::ui::erase::effect;
use crate::ui::state::browser;

/// Where the choice is kept in the browser.
const CHOICE: &str = "docket.notify";

#[derive(Clone, Copy)]
pub struct Notices {
    wanted: RwSignal<bool>,
}

pub fn provide() {
    let notices = Notices { wanted: RwSignal::new(false) };
    provide_context(notices);
    effect(move || notices.wanted.set(browser::stored(CHOICE).is_some() && browser::may_notify()));
}

impl Notices {
    pub fn get() -> Self {
        expect_context()
    }

    /// Whether they are shown. Tracked.
    pub fn are_wanted(self) -> bool {
        self.wanted.get()
    }

    /// As [`Notices::are_wanted`], for timers.
    pub fn come(self) -> bool {
        self.wanted.try_get_untracked().unwrap_or(false)
    }

    /// Begins to show them, if the browser allows it, or ends it; says what came of that.
    pub fn toggle(self, say: impl Fn(&'static str) + 'static) {
        if self.wanted.get_untracked() {
            browser::store(CHOICE, "");
            self.wanted.set(false);
            return say("This browser notifies you no more");
        }
        browser::ask_to_notify(move |allowed| {
            if allowed {
                browser::store(CHOICE, "yes");
                self.wanted.try_set(true);
                say("This browser notifies you when a job ends while you look elsewhere");
            } else {
                say("This browser refuses notifications of Docket. Allow them in its settings for this site");
            }
        });
    }
}
