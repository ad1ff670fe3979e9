//! The document's title: the page's name, and how many jobs finished while nobody looked.

use leptos::prelude::*;
use leptos_meta::Title;

/// Counted, not kept in Leptos's arena: on the server, Leptos reads the title when the arena at hand may be the one of
/// another request, where the same key finds nothing or somebody else's title.
#[derive(Clone)]
struct PageTitle {
    name: ArcRwSignal<String>,
    unseen: ArcRwSignal<u32>,
}

pub fn provide() {
    provide_context(PageTitle { name: ArcRwSignal::new(String::new()), unseen: ArcRwSignal::new(0) });
}

/// Names the page that is shown now.
pub fn set(name: impl Into<String>) {
    expect_context::<PageTitle>().name.set(name.into());
}

/// The one title element. Once, at the root.
pub fn view() -> impl IntoView {
    let PageTitle { name, unseen } = expect_context();
    view! { <Title text=move || as_content(written(&name.read(), unseen.get())) /> }
}

/// The count of jobs that finished unseen; the live updates raise it and clear it.
pub fn unseen() -> RwSignal<u32> {
    expect_context::<PageTitle>().unseen.into()
}

/// `text` as the content of a title. Leptos writes it into a page as it is; a script sets it as text.
fn as_content(text: String) -> String {
    if cfg!(feature = "ssr") { text.replace('&', "&amp;").replace('<', "&lt;") } else { text }
}

fn written(name: &str, unseen: u32) -> String {
    let mut title = String::new();
    if unseen > 0 {
        title = format!("({unseen}) ");
    }
    if !name.is_empty() {
        title.push_str(name);
        title.push_str(" · ");
    }
    title + "Docket"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "ssr")]
    fn a_title_cannot_leave_its_element() {
        assert_eq!(as_content("</title><script>&lt;".to_owned()), "&lt;/title>&lt;script>&amp;lt;");
    }

    #[test]
    fn the_title_counts_what_finished_unseen() {
        assert_eq!(written("Jobs", 0), "Jobs · Docket");
        assert_eq!(written("Jobs", 2), "(2) Jobs · Docket");
        assert_eq!(written("", 0), "Docket");
    }
}
