//! Notifications of the browser about jobs that finished, for whoever asked for them in this browser.

use std::cell::Cell;

use crate::ui::islands::browser;

/// Where the choice is kept in the browser.
const CHOICE: &str = "docket.notify";

pub struct Notifications {
    wanted: Cell<bool>,
}

impl Default for Notifications {
    fn default() -> Self {
        Self { wanted: Cell::new(browser::stored(CHOICE).is_some() && browser::may_notify()) }
    }
}

impl Notifications {
    /// Whether they are shown.
    pub fn are_wanted(&self) -> bool {
        self.wanted.get()
    }

    /// Begins to show them, if the browser allows it, or ends it; what came of that.
    pub async fn toggle(&self) -> &'static str {
        if self.wanted.replace(false) {
            browser::store(CHOICE, "");
            return "Notifications off";
        }
        if !browser::ask_to_notify().await {
            return "This browser blocks notifications. Allow them for this site in its settings";
        }
        browser::store(CHOICE, "yes");
        self.wanted.set(true);
        "Notifications on: this browser notifies you when a job finishes while you look elsewhere"
    }
}
