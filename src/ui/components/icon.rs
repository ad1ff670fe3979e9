//! Icons: 16 × 16 outlines in the text color. Decorative only; the text beside an icon has the meaning.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

pub const ARCHIVED: &str = "M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 8.7h3";
pub const ACTIVE: &str = "M8 4.8a3.2 3.2 0 1 0 0 6.4a3.2 3.2 0 1 0 0-6.4";
pub const ANALYTICS: &str = "M2.5 13.5h11M4 11V8M8 11V3.5M12 11V6";
pub const BELL: &str = "M8 2.5a4 4 0 0 0-4 4v3L2.8 11.5h10.4L12 9.5v-3a4 4 0 0 0-4-4M6.5 13.5h3";
pub const CANCELLED: &str = "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M5 8h6";
pub const CHECK: &str = "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M5.3 8.2l1.9 1.9l3.5-3.9";
pub const CHEVRON: &str = "M4.5 6.5L8 10l3.5-3.5";
pub const CIRCLE: &str = "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12";
pub const CLOCK: &str = "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M8 5v3.2l2 1.3";
pub const COMMENT: &str = "M2.5 3h11v8h-6l-3 2.5V11h-2z";
pub const COPY: &str = "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3";
pub const CROSS: &str = "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M6 6l4 4M10 6l-4 4";
pub const CLOSE: &str = "M4 4l8 8M12 4l-8 8";
pub const DOWN: &str = "M8 3v10M4 9l4 4l4-4";
pub const EXTERNAL: &str = "M6.5 3.5h-3v9h9v-3M9.5 2.5h4v4M13.5 2.5L7.5 8.5";
pub const FIRST: &str = "M3 2.5h10M8 13.5V6M4.5 9L8 5.5L11.5 9";
pub const GEAR: &str = "M8 5.8a2.2 2.2 0 1 0 0 4.4a2.2 2.2 0 1 0 0-4.4M6.7 1.8h2.6l.4 1.7l1.2.7l1.7-.5l1.3 2.2l-1.3 1.3v1.6l1.3 1.3l-1.3 2.2l-1.7-.5l-1.2.7l-.4 1.7H6.7l-.4-1.7l-1.2-.7l-1.7.5l-1.3-2.2l1.3-1.3V7.2L2.1 5.9l1.3-2.2l1.7.5l1.2-.7z";
pub const JOBS: &str = "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1";
pub const NO_CHANGES: &str = "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M5.3 6.6h5.4M5.3 9.4h5.4";
pub const OTHER: &str = "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M5.3 8h.1M8 8h.1M10.7 8h.1";
pub const OVERVIEW: &str = "M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z";
pub const PERSON: &str = "M8 2.5a2.7 2.7 0 1 0 0 5.4a2.7 2.7 0 1 0 0-5.4M3 13.5c.4-2.6 2.4-4 5-4s4.6 1.4 5 4";
pub const PLUS: &str = "M8 3v10M3 8h10";
pub const PULL_REQUEST: &str = "M4 5.5v5M4 2.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 1 0 0-3M4 10.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 1 0 0-3M12 10.5a1.5 1.5 0 1 0 0 3a1.5 1.5 0 1 0 0-3M12 10.5V6a2 2 0 0 0-2-2H7.5M9 2.2L7.2 4L9 5.8";
pub const QUESTION: &str =
    "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M6.3 6.4a1.7 1.7 0 1 1 2.4 1.6c-.5.2-.7.6-.7 1.1M8 11.2v.1";
pub const REJECTED: &str = "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M3.8 3.8l8.4 8.4";
pub const SEARCH: &str = "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M10.3 10.3l3.2 3.2";
pub const SENDING: &str = "M8 2a6 6 0 1 1-6 6";
pub const SIGN_OUT: &str = "M6.5 3h-3v10h3M7 8h6M10.5 5.5L13 8l-2.5 2.5";
pub const UP: &str = "M8 13V3M4 7l4-4l4 4";
pub const TEMPLATES: &str = "M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h1.6M9 8h1.5M5.5 10.5h3";

/// One of the outlines above. As one string, because a page has many and two elements take longer.
pub fn icon(outline: &'static str) -> InertElement {
    InertElement::new(format!(
        r#"<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="{outline}"></path></svg>"#
    ))
}

/// The logo: a list with its last line checked.
pub fn mark() -> impl IntoView + use<> {
    view! {
        <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
            <rect class="mark-ground" width="24" height="24" rx="6" />
            <path class="mark-lines" d="M7 7.5h10M7 12h6M7 16.5h3M12.5 16l2 2l4-4.5" />
        </svg>
    }
}
