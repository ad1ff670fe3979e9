//! The stacked bar of human and AI views, and its legend, as text. AI is hatched, so that colour is not needed to tell them apart.

use crate::model::views::ViewCounts;
use crate::ui::charts::number::grouped;
use crate::ui::charts::scale::{Stack, length};
use crate::ui::markup::{Markup, markup};

/// One row's bar. `longest` is what the full width stands for. Needs [`patterns`] once on the page.
pub fn drawn(counts: ViewCounts, longest: u64) -> Markup {
    let Stack { human, ai } = Stack::of(counts, longest);
    let (human, ai) = (length(human), length(ai));
    markup(
        r#"<svg class="bar" role="img" aria-label="{}"><rect class="bar-human" height="100%" width="{}"/><rect class="bar-ai" height="100%" x="{}" width="{}"/></svg>"#,
        &[&described(counts), &human, &human, &ai],
    )
}

fn described(counts: ViewCounts) -> String {
    format!("{} human, {} AI", grouped(counts.human), grouped(counts.ai))
}

/// The hatching of AI bars.
pub fn patterns() -> Markup {
    markup(
        r#"<svg class="patterns" aria-hidden="true"><defs><pattern id="ai-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="5" height="5"/><rect class="hatch-line" width="2" height="5"/></pattern></defs></svg>"#,
        &[],
    )
}

/// Which colour and pattern is whom.
pub fn legend() -> Markup {
    markup(
        r#"<ul class="legend"><li><svg class="swatch" aria-hidden="true"><rect class="bar-human" width="100%" height="100%"/></svg>Human</li><li><svg class="swatch" aria-hidden="true"><rect class="bar-ai" width="100%" height="100%"/></svg>AI</li></ul>"#,
        &[],
    )
}
