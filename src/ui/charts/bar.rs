//! The stacked bar of human and AI views, and its legend. AI is hatched, so that colour is not needed to tell them apart.

use leptos::prelude::*;

use crate::model::views::ViewCounts;
use crate::ui::charts::number::grouped;
use crate::ui::charts::scale::{Stack, length};
use crate::ui::erase::Erase;
use crate::ui::markup::{Markup, markup};

/// One row's bar. `longest` is what the full width stands for. Needs [`patterns`] once on the page.
pub fn stacked(counts: ViewCounts, longest: u64) -> AnyView {
    let parts = parts(counts, longest).into_html();
    view! { <svg class="bar" role="img" aria-label=described(counts) inner_html=parts></svg> }.erase()
}

/// [`stacked`] as text.
pub fn drawn(counts: ViewCounts, longest: u64) -> Markup {
    let parts = parts(counts, longest);
    markup(r#"<svg class="bar" role="img" aria-label="{}">{}</svg>"#, &[&described(counts), &parts])
}

fn described(counts: ViewCounts) -> String {
    format!("{} human, {} AI", grouped(counts.human), grouped(counts.ai))
}

fn parts(counts: ViewCounts, longest: u64) -> Markup {
    let Stack { human, ai } = Stack::of(counts, longest);
    let (human, ai) = (length(human), length(ai));
    markup(
        r#"<rect class="bar-human" height="100%" width="{}"/><rect class="bar-ai" height="100%" x="{}" width="{}"/>"#,
        &[&human, &human, &ai],
    )
}

/// The hatching of AI bars.
pub fn patterns() -> AnyView {
    view! {
        <svg class="patterns" aria-hidden="true">
            <defs>
                <pattern id="ai-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                    <rect class="hatch-ground" width="5" height="5" />
                    <rect class="hatch-line" width="2" height="5" />
                </pattern>
            </defs>
        </svg>
    }
    .erase()
}

/// Which colour and pattern is whom.
pub fn legend() -> AnyView {
    view! {
        <ul class="legend">
            <li>
                <svg class="swatch" aria-hidden="true">
                    <rect class="bar-human" width="100%" height="100%" />
                </svg>
                "Human"
            </li>
            <li>
                <svg class="swatch" aria-hidden="true">
                    <rect class="bar-ai" width="100%" height="100%" />
                </svg>
                "AI"
            </li>
        </ul>
    }
    .erase()
}
