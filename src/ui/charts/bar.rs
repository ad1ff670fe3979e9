//! The stacked bar of human and AI views, and its legend. AI is hatched, so that it is distinct without color.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

use crate::ui::charts::number::grouped;
use crate::ui::charts::previous::Line;
use crate::ui::charts::scale::{Stack, length};
use model::page_views::ViewCounts;

/// One row's bar. `longest` is the value of the full width. Needs [`patterns`] once on the page. As one string, because
/// a table has many; it contains only numbers.
pub fn bar(counts: ViewCounts, longest: u64) -> InertElement {
    let Stack { human, ai } = Stack::of(counts, longest);
    let (human, ai, label) = (length(human), length(ai), described(counts));
    InertElement::new(format!(
        r#"<svg class="bar" role="img" aria-label="{label}"><rect class="bar-human" height="100%" width="{human}"></rect><rect class="bar-ai" height="100%" x="{human}" width="{ai}"></rect></svg>"#
    ))
}

fn described(counts: ViewCounts) -> String {
    format!("{} people, {} AI", grouped(counts.human), grouped(counts.ai))
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
    .into_any()
}

/// The legend of colors and patterns.
pub fn legend(lines: &[Line]) -> AnyView {
    legend_of_trend(lines, ())
}

/// The same, with the `lines` of the compared period and the legend of [`crate::ui::charts::events`].
pub fn legend_of_trend(lines: &[Line], marks: impl IntoView + 'static) -> AnyView {
    let item = |class: &'static str, name: &'static str| {
        view! {
            <li>
                <svg class="swatch" aria-hidden="true"><rect class=class width="100%" height="100%" /></svg>
                {name}
            </li>
        }
    };
    let lines = lines.iter().map(|line| {
        view! {
            <li>
                <svg class="swatch swatch-line" aria-hidden="true"><line class=line.class y1="50%" x2="100%" y2="50%" /></svg>
                {line.name}
            </li>
        }
    });
    view! { <ul class="legend">{item("bar-human", "People")} {item("bar-ai", "AI")} {lines.collect_view()} {marks}</ul> }
        .into_any()
}
