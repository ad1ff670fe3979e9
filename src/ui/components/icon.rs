//! Icons: 16 × 16 outlines in the text color. Decorative only; the text beside an icon has the meaning. The outlines are in
//! `public/icons.svg`, so that a page with many icons does not repeat them; `style/icons.css` selects one of them.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

pub const ARCHIVED: &str = "archived";
pub const ACTIVE: &str = "active";
pub const ANALYTICS: &str = "analytics";
pub const BELL: &str = "bell";
pub const CANCELLED: &str = "cancelled";
pub const CHECK: &str = "check";
pub const CHEVRON: &str = "chevron";
pub const CIRCLE: &str = "circle";
pub const CLOCK: &str = "clock";
pub const COMMENT: &str = "comment";
pub const COPY: &str = "copy";
pub const CROSS: &str = "cross";
pub const CLOSE: &str = "close";
pub const DOWN: &str = "down";
pub const EXTERNAL: &str = "external";
pub const FIRST: &str = "first";
pub const GEAR: &str = "gear";
pub const JOBS: &str = "jobs";
pub const KEY: &str = "key";
pub const KEYS: &str = "keys";
pub const LOG: &str = "log";
pub const MERGED: &str = "merged";
pub const NO_CHANGES: &str = "no-changes";
pub const OTHER: &str = "other";
pub const OVERVIEW: &str = "overview";
pub const PEOPLE: &str = "people";
pub const PERSON: &str = "person";
pub const PLUS: &str = "plus";
pub const PR_CLOSED: &str = "pr-closed";
pub const PR_DRAFT: &str = "pr-draft";
pub const PULL_REQUEST: &str = "pull-request";
pub const QUESTION: &str = "question";
pub const REJECTED: &str = "rejected";
pub const SEARCH: &str = "search";
pub const SENDING: &str = "sending";
pub const SERVER: &str = "server";
pub const SIGN_OUT: &str = "sign-out";
pub const UP: &str = "up";
pub const TEMPLATES: &str = "templates";
pub const WEBHOOK: &str = "webhook";

/// One of the icons above. As one string, which takes less time than an element.
pub fn icon(name: &'static str) -> InertElement {
    InertElement::new(format!(r#"<i class="icon icon-{name}"></i>"#))
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

#[cfg(test)]
mod tests {
    const STYLE: &str = include_str!("../../../style/icons.css");
    const OUTLINES: &str = include_str!("../../../public/icons.svg");

    #[test]
    fn stylesheet_has_the_outline_of_every_icon() {
        let constants = include_str!("icon.rs").lines();
        let names: Vec<&str> =
            constants.filter_map(|line| line.strip_prefix("pub const ")?.split('"').nth(1)).collect();
        assert!(names.len() > 30, "{names:?}");
        for name in names {
            assert!(STYLE.contains(&format!(".icon-{name}")), "{name}");
        }
    }

    #[test]
    fn numbers_of_outlines_are_lines_of_the_image() {
        let after =
            |file: &'static str, text| file.lines().filter_map(move |line| line.trim().strip_prefix(text));
        let outlines = after(OUTLINES, "<path ").count();
        let numbers: Vec<usize> = after(STYLE, "--icon: ")
            .map(|number| number[..number.len() - 1].parse().unwrap_or(usize::MAX))
            .collect();
        assert!(numbers.len() > 30 && numbers.iter().all(|number| *number < outlines), "{numbers:?}");
        assert!(OUTLINES.contains(&format!(r#"viewBox="0 0 16 {}""#, 16 * outlines)));
        assert!(STYLE.contains(&format!("calc(100% * var(--icon) / {})", outlines - 1)));
        for (at, outline) in after(OUTLINES, "<path ").enumerate().skip(1) {
            assert!(outline.starts_with(&format!(r#"transform="translate(0,{})" "#, 16 * at)), "{outline}");
        }
    }
}
