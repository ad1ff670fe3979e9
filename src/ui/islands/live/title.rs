//! The document's title counts the jobs that finished while the page was not visible and focused: `(2) Jobs · Docket`.
//! Meanwhile the tab's icon has a dot.

use leptos::prelude::*;

use crate::ui::islands::browser;
use crate::ui::marks;

const ICON: &str = "/favicon.svg";
const UNSEEN_ICON: &str = "/favicon-unseen.svg";

/// Sets the count of `unseen` jobs in the title, and the icon.
pub(super) fn count(unseen: u32) {
    let Some(icon) = marks::ICON.element() else { return };
    // Without a count, the title may begin with a number of its own.
    let is_counted = icon.get_attribute("href").as_deref() == Some(UNSEEN_ICON);
    if unseen == 0 && !is_counted {
        return;
    }
    document().set_title(&counted(&document().title(), unseen));
    browser::set(&icon, "href", Some(if unseen == 0 { ICON } else { UNSEEN_ICON }));
}

/// `title` with the count `unseen` in place of any earlier one.
fn counted(title: &str, unseen: u32) -> String {
    let name = match title.split_once(") ") {
        Some((count, name)) if count.strip_prefix('(').is_some_and(|count| count.parse::<u32>().is_ok()) => {
            name
        }
        _ => title,
    };
    if unseen == 0 { name.to_owned() } else { format!("({unseen}) {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_counts_jobs_that_finished_out_of_view() {
        assert_eq!(counted("Jobs · Docket", 0), "Jobs · Docket");
        assert_eq!(counted("Jobs · Docket", 2), "(2) Jobs · Docket");
        assert_eq!(counted("(2) Jobs · Docket", 3), "(3) Jobs · Docket");
        assert_eq!(counted("(2) Jobs · Docket", 0), "Jobs · Docket");
        assert_eq!(counted("(a) b · Docket", 1), "(1) (a) b · Docket");
    }
}
