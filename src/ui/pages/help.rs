//! `/help` and `/help/{area}`: how Docket works, for all signed-in people. The texts are in `docs/help`. `?q=` searches them.

mod search;

use leptos::prelude::*;

use self::search::Section;
use crate::ui::charts::number::counted;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::marked::marked;
use crate::ui::pages::markdown::{Origin, markdown};
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request;
use model::error::ErrorCode;
use model::excerpt::SearchWords;
use model::links;

/// The longest search, in characters.
const SEARCH_MAX: usize = 100;

/// A part of Docket that has a help page.
struct Area {
    /// The last part of the page's path.
    slug: &'static str,
    about: &'static str,
    /// Markdown that begins with the title.
    text: &'static str,
}

const AREAS: [Area; 6] = [
    Area {
        slug: "job-states",
        about: "What each state means and what to do, also about an unknown outcome",
        text: include_str!("../../../docs/help/job-states.md"),
    },
    Area {
        slug: "hourly-budget",
        about: "What counts as a call, and what happens when the budget is used up",
        text: include_str!("../../../docs/help/hourly-budget.md"),
    },
    Area {
        slug: "templates-and-batches",
        about: "Prompts with placeholders, for one page or for many",
        text: include_str!("../../../docs/help/templates-and-batches.md"),
    },
    Area {
        slug: "pull-requests",
        about: "Their states, who acts next, and how to connect GitHub or GitLab",
        text: include_str!("../../../docs/help/pull-requests.md"),
    },
    Area {
        slug: "analytics",
        about: "Where the page views come from, comparisons and exports",
        text: include_str!("../../../docs/help/analytics.md"),
    },
    Area { slug: "keyboard", about: "All shortcuts", text: include_str!("../../../docs/help/keyboard.md") },
];

impl Area {
    fn title(&self) -> &'static str {
        self.parts().0
    }

    /// The title and the text after it.
    fn parts(&self) -> (&'static str, &'static str) {
        let (title, body) = self.text.split_once('\n').unwrap_or((self.text, ""));
        (title.trim_start_matches("# "), body)
    }
}

#[component]
pub fn Help() -> impl IntoView {
    let typed = request::query().get("q").unwrap_or_default();
    let typed: String = typed.trim().chars().take(SEARCH_MAX).collect();
    let content = if typed.is_empty() { all() } else { results(&typed) };
    view! {
        {page_head("Help", (), ())}
        {search_form(&typed)}
        {content}
    }
}

fn search_form(typed: &str) -> AnyView {
    view! {
        <form class="search" method="get" action=links::HELP role="search">
            {icon(icon::SEARCH)}
            <label class="visually-hidden" for="help-search">"Search the help"</label>
            <input
                id="help-search"
                class="field"
                type="search"
                name="q"
                maxlength=SEARCH_MAX.to_string()
                autocomplete="off"
                placeholder="Search the help"
                value=typed.to_owned()
            />
            <button type="submit" class="visually-hidden">"Search"</button>
        </form>
    }
    .into_any()
}

fn all() -> AnyView {
    let areas = AREAS.iter().map(|area| {
        view! {
            <li>
                <a href=links::help(area.slug)>{area.title()}</a>
                <p class="hint">{area.about}</p>
            </li>
        }
    });
    view! { <ul class="help-areas mt-6">{areas.collect_view()}</ul> }.into_any()
}

fn results(typed: &str) -> AnyView {
    let found = search::search(typed);
    let words = SearchWords::of(typed);
    let count = match found.len() {
        0 => "No help page has all of these words".to_owned(),
        number => counted(number as u64, "result", "results"),
    };
    let results = found.into_iter().map(|found| {
        let Section { id, heading, .. } = found.section;
        let fragment = if id.is_empty() { id } else { ["#", &id].concat() };
        let href = links::help(found.area.slug) + &fragment;
        let heading = if heading.is_empty() { String::new() } else { [": ", heading].concat() };
        view! {
            <li>
                <a href=href>{found.area.title()} {heading}</a>
                <p class="hint">{marked(&found.excerpt, &words)}</p>
            </li>
        }
    });
    view! {
        <p class="mt-6" role="status">{count} ". " <a href=links::HELP>"All help pages"</a></p>
        <ul class="help-areas mt-6">{results.collect_view()}</ul>
    }
    .into_any()
}

#[component]
pub fn HelpArea() -> impl IntoView {
    let slug = request::param("area");
    let Some(area) = AREAS.iter().find(|area| area.slug == slug) else {
        request::set_status(ErrorCode::NotFound);
        return view! {
            {page_head("Help page not found", (), ())}
            <p><a href=links::HELP>"All help pages"</a></p>
        };
    };
    let sections = search::sections(area).into_iter().map(|Section { id, heading, text }| {
        let heading = (!heading.is_empty()).then(|| view! { <h2>{heading}</h2> });
        let id = (!id.is_empty()).then_some(id);
        view! { <section id=id class="markdown mt-6">{heading} {markdown(text, Origin::Docket)}</section> }
    });
    let areas = AREAS.iter().map(|other| {
        let is_here = (other.slug == area.slug).then_some("page");
        view! { <li><a href=links::help(other.slug) aria-current=is_here>{other.title()}</a></li> }
    });
    view! {
        {page_head(area.title(), view! { <a href=links::HELP>"Help"</a> }, ())}
        <div class="help">
            <article>{sections.collect_view()}</article>
            <div>
                {search_form("")}
                <nav class="mt-6" aria-label="Help pages"><ul>{areas.collect_view()}</ul></nav>
            </div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::pages::frame::shortcut_list::SHORTCUTS;

    #[test]
    fn each_area_begins_with_its_title() {
        for area in AREAS {
            assert!(
                area.text.starts_with("# ") && area.slug == area.title().to_lowercase().replace(' ', "-")
            );
        }
    }

    #[test]
    fn palette_has_each_area() {
        assert_eq!(AREAS.map(|area| (area.slug, area.title())), links::HELP_AREAS);
    }

    #[test]
    fn links_between_areas_lead_to_areas() {
        for area in AREAS {
            for link in area.text.split("](/").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(AREAS.iter().any(|other| links::help(other.slug)[1..] == *link), "{link}");
            }
        }
    }

    #[test]
    fn keyboard_page_lists_each_shortcut() {
        let keyboard: String =
            AREAS.iter().filter(|area| area.slug == "keyboard").map(|area| area.text).collect();
        for (_, action) in SHORTCUTS.iter().filter(|(keys, _)| *keys != "?") {
            assert!(keyboard.contains(&format!("| {action} |")), "{action}");
        }
    }
}
