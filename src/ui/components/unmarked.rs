//! Views without markers, for what a page has many times.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

/// The marker after texts, lists and absent children, by which Leptos finds the nodes of a hydrated view. A text or a value never contains
/// it: their `<` is escaped.
const MARKER: &str = "<!>";

/// The beginning and the end of an island, which the browser hydrates. One without children, so that islands are not nested.
const ISLAND: &str = "<leptos-island ";
const END: &str = "</leptos-island>";

/// One element without markers outside its islands.
pub fn unmarked(element: impl IntoView) -> InertElement {
    let html = element.into_view().to_html();
    let parts = html.split_inclusive(END).map(|part| match part.find(ISLAND) {
        Some(at) => part[..at].replace(MARKER, "") + &part[at..],
        None => part.replace(MARKER, ""),
    });
    InertElement::new(parts.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_removed_and_texts_stay_escaped() {
        let (title, text) = ("<!> \"&\"".to_owned(), "<!> \"&\"".to_owned());
        let element =
            view! { <a title=title hidden=true>{text} {None::<String>} <b>{"1".to_owned()}</b></a> };
        let html = unmarked(element).to_html();
        assert_eq!(html, "<a title=\"&lt;!&gt; &quot;&amp;&quot;\" hidden>&lt;!&gt; \"&amp;\"<b>1</b></a>");
    }

    #[test]
    fn islands_keep_their_markers() {
        let island =
            || InertElement::new("<leptos-island data-component=\"A\">1<!></leptos-island>".to_owned());
        let element =
            view! { <p>{"1".to_owned()} {island()} {"2".to_owned()} {island()} {None::<String>}</p> };
        let html = unmarked(element).to_html();
        let island = island().to_html();
        assert_eq!(html, ["<p>1", &island, "2", &island, "</p>"].concat());
    }
}
