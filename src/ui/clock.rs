//! The current time while rendering, by the server's clock.

use model::day::Day;
use model::time::Timestamp;

/// The time of the request. The router provides it to every page.
#[cfg(feature = "ssr")]
#[derive(Clone, Copy)]
pub struct RequestTime(pub Timestamp);

#[cfg(feature = "ssr")]
pub fn now() -> Timestamp {
    use std::time::SystemTime;

    if let Some(RequestTime(now)) = leptos::prelude::use_context() {
        return now;
    }
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(not(feature = "ssr"))]
pub fn now() -> Timestamp {
    crate::ui::islands::browser::server_now()
}

/// The current UTC day.
pub fn today() -> Day {
    Day::of(now())
}
