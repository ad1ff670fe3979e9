//! Browser notifications about finished jobs, opt-in per browser.

use leptos::prelude::*;

use crate::ui::islands::browser;

/// The key of the choice in `localStorage`.
const CHOICE: &str = "docket.notify";

pub struct Notifications {
    enabled: StoredValue<bool>,
}

impl Default for Notifications {
    fn default() -> Self {
        Self { enabled: StoredValue::new(browser::stored(CHOICE).is_some() && browser::may_notify()) }
    }
}

impl Notifications {
    /// Whether the user enabled them here.
    pub fn are_enabled(&self) -> bool {
        self.enabled.get_value()
    }

    /// Turns notifications on, if the browser permits, or off. Returns the text of the toast.
    pub async fn toggle(&self) -> &'static str {
        if self.are_enabled() {
            self.enabled.set_value(false);
            browser::store(CHOICE, "");
            return "Notifications off";
        }
        if !browser::request_notifications().await {
            return "This browser blocks notifications. Allow them for this site in its settings";
        }
        browser::store(CHOICE, "yes");
        self.enabled.set_value(true);
        "Notifications on: this browser notifies you when a job finishes while you look elsewhere"
    }
}
