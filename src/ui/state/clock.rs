//! What time it is on this page. The server says it once, so that both sides render the same text; in the browser the
//! browser's own clock goes on from there.

use leptos::prelude::*;

use crate::model::day::Day;
use crate::model::time::Timestamp;
use crate::ui::erase::effect;
use crate::ui::state::browser;

/// The server's time when it renders a page. The server provides it; without it the system's clock serves.
#[derive(Clone, Copy)]
pub struct ServerNow(pub Timestamp);

#[derive(Clone, Copy)]
pub struct Clock {
    now: RwSignal<Timestamp>,
    in_browser: RwSignal<bool>,
}

pub fn provide() {
    let rendered_at = SharedValue::new_str(|| match use_context::<ServerNow>() {
        Some(ServerNow(now)) => now,
        None => browser::now(),
    });
    let clock = Clock { now: RwSignal::new(rendered_at.into_inner()), in_browser: RwSignal::new(false) };
    provide_context(clock);
    effect(move || {
        clock.in_browser.set(true);
        clock.tick();
    });
}

impl Clock {
    pub fn get() -> Self {
        expect_context()
    }

    pub fn now(self) -> Timestamp {
        self.now.get()
    }

    pub fn today(self) -> Day {
        Day::of(self.now.get_untracked())
    }

    /// `at` to the minute: in UTC, or in the reader's own zone once the page is interactive.
    pub fn to_the_minute(self, at: Timestamp) -> String {
        if self.in_browser.get() { browser::local_time(at) } else { utc_minute(at) }
    }

    /// Reads the browser's clock again.
    pub fn tick(self) {
        self.now.try_set(browser::now());
    }
}

/// `2026-11-21 10:05 UTC`.
fn utc_minute(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} {} UTC", text.get(..10).unwrap_or(&text), text.get(11..16).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_says_minutes_in_utc() {
        assert_eq!(utc_minute(Timestamp::from_millis(1_795_000_000_123)), "2026-11-18 11:06 UTC");
    }
}
