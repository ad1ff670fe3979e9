//! The switch of whose views drive the changes of a report, and its words.

use leptos::prelude::*;
use strum::VariantArray;

use model::analytics::choice::Readers;

/// The id of its label.
const LABEL: &str = "readers";

/// `href`: the same page with the changes by these readers.
pub fn switch(chosen: Readers, href: impl Fn(Readers) -> String) -> AnyView {
    let choices = Readers::VARIANTS.iter().map(|readers| {
        let is_chosen = (*readers == chosen).then_some("true");
        view! { <li><a href=href(*readers) aria-current=is_chosen>{readers.label()}</a></li> }
    });
    view! {
        <div class="sizes">
            <span id=LABEL>"Changes by"</span>
            <ul class="segments" aria-labelledby=LABEL>{choices.collect_view()}</ul>
        </div>
    }
    .into_any()
}

/// After the word *views*: ` by people`, or nothing for all.
pub const fn by(readers: Readers) -> &'static str {
    match readers {
        Readers::People => " by people",
        Readers::Ai => " by AI",
        Readers::All => "",
    }
}
