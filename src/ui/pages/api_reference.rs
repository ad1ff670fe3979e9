//! `/docs/api`: the reference of the JSON API.

use leptos::prelude::*;

use crate::ui::pages::markdown::{Origin, markdown};
use crate::ui::pages::page_head::page_head;
use model::links;

/// The reference as Markdown. The router provides it for this page.
#[derive(Clone)]
pub struct ApiReferenceText(pub String);

#[component]
pub fn ApiReference() -> impl IntoView {
    let introduction = view! {
        <span>
            "For scripts, with an "
            <a href=links::TOKENS>"API token"</a>
            ". The same as "
            <a href=links::OPENAPI rel="external">"OpenAPI 3.1"</a>
            "."
        </span>
    };
    let text = use_context::<ApiReferenceText>().map(|text| markdown(&text.0, Origin::Docket));
    view! {
        {page_head("JSON API", introduction, ())}
        <div class="help"><article>{text}</article></div>
    }
}
