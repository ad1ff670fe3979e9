//! Views without markers, for what a page has many times.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

/// The marker after texts, lists and absent children, by which Leptos finds the nodes of a hydrated view. A text or a value never contains
/// it: their `<` is escaped.
const MARKER: &str = "<!>";

/// One element without markers: browsers hydrate islands only. It must contain no island.
pub fn unmarked(element: impl IntoView) -> InertElement {
    InertElement::new(element.into_view().to_html().replace(MARKER, ""))
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
}
