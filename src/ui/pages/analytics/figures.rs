//! The three figures over a range, and where live ones come from. As text. Also used by the overview.

use crate::model::time::Timestamp;
use crate::model::views::{ViewCounts, Views};
use crate::ui::charts::number::{ai_share, change_in_words, grouped};
use crate::ui::components::moment::age;
use crate::ui::markup::{Markup, markup};

/// With the change from the second to the first of two comparable counts.
pub fn compared(totals: ViewCounts, change: Option<(ViewCounts, ViewCounts)>) -> Markup {
    let ai = format!("{} ({})", grouped(totals.ai), ai_share(totals));
    let of =
        |count: fn(ViewCounts) -> u64| change.map(|(now, before)| change_in_words(count(now), count(before)));
    let figures: Markup = [
        figure("figure", "Views", grouped(totals.total), of(|counts| counts.total)),
        figure("figure figure-human", "By people", grouped(totals.human), of(|counts| counts.human)),
        figure("figure figure-ai", "By AI agents", ai, of(|counts| counts.ai)),
    ]
    .into_iter()
    .collect();
    markup(r#"<dl class="figures">{}</dl>"#, &[&figures])
}

fn figure(class: &str, name: &str, value: String, change: Option<String>) -> Markup {
    let change = change.map(|change| markup(r#"<dd class="change">{}</dd>"#, &[&change]));
    markup(
        r#"<div class="{}"><dt>{}</dt><dd>{}</dd>{}</div>"#,
        &[&class, &name, &value, &change.unwrap_or_default()],
    )
}

/// How old live figures are and where they come from.
pub fn provenance(answer: &Views, now: Timestamp) -> Markup {
    let warning = match answer.stale {
        true => markup("<strong>Older figures: newer ones are asked for, or cannot be had. </strong>", &[]),
        false => Markup::default(),
    };
    let note = match answer.corrected {
        true => ". Some figures came in an impossible form and were corrected or left out.",
        false => "",
    };
    let fetched = age(answer.fetched_at, now);
    markup(
        r#"<p class="provenance">{}Live from the upstream, fetched {}{}</p>"#,
        &[&warning, &fetched, &note],
    )
}
