//! “Start a job about this page”, for those who may, with its figures in the prompt. As text.

use crate::model::views::ViewCounts;
use crate::ui::charts::number::{counted, grouped};
use crate::ui::components::icon;
use crate::model::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::Page;
use crate::ui::pages::analytics::range;

/// A page of the documentation and what was counted of it.
pub(super) struct About<'a> {
    pub(super) path: &'a str,
    pub(super) counts: ViewCounts,
    /// Against the period before, as it is written.
    pub(super) change: Option<String>,
}

/// At the end of a row; `is_target`: the keys that go from row to row stop at it.
pub(super) fn in_row(page: &Page, about: &About, is_target: bool) -> Markup {
    link(page, about, if is_target { "quiet row-target" } else { "quiet" }, "")
}

/// In the head of a page's own view.
pub(super) fn button(page: &Page, about: &About) -> Markup {
    link(page, about, "button", "Start a job about this page")
}

fn link(page: &Page, about: &About, class: &str, words: &str) -> Markup {
    if !page.who.can_start_jobs() {
        return Markup::default();
    }
    let href = links::new_job(page.project, &prompt(page, about), about.path);
    let label = format!("Start a job about {}", about.path);
    markup(
        r#"<a class="{}" href="{}" aria-label="{}" title="Start a job about this page"><svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg>{}</a>"#,
        &[&class, &href, &label, &icon::PLUS, &words],
    )
}

/// What is known of the page, for the agent; what to do about it is for the person to write.
fn prompt(page: &Page, About { path, counts, change }: &About) -> String {
    let Some(range) = range::meant(page.query, page.today()) else { return String::new() };
    let changed = change.as_ref().map(|change| format!(" ({change} against the days before)"));
    format!(
        "{path} had {}{} from {} to {}: {} by people, {} by AI agents.\n\n",
        counted(counts.total, "view", "views"),
        changed.unwrap_or_default(),
        range.from(),
        range.to(),
        grouped(counts.human),
        grouped(counts.ai),
    )
}
