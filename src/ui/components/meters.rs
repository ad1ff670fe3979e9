//! The hourly budget as meters.

use leptos::prelude::*;

use crate::ui::charts::number::grouped;
use crate::ui::charts::scale::{length, per_mille};
use crate::ui::clock;
use crate::ui::components::time::until;
use crate::ui::components::waiting::waiting_link;
use model::budget::{AgentLimit, Budgets, Meter};
use model::links;

/// The id of the element with the meters.
pub const ID: &str = "meters";

/// `has_details`: whether the user may open the page about the platform.
pub fn meters(project: &str, budgets: &Budgets, has_details: bool) -> impl IntoView + use<> {
    let waiting = (budgets.waiting > 0)
        .then(|| view! { <p class="meter-text">{waiting_link(project, budgets.waiting)}</p> });
    let details = has_details.then(|| view! { <a href=links::UPSTREAM>"Details"</a> });
    let agent = match budgets.agent_limit {
        AgentLimit::Shared => meter("Agent", budgets.creates).into_any(),
        AgentLimit::Separate => {
            view! { {meter("New jobs", budgets.creates)} {meter("Follow-ups", budgets.follow_ups)} }
                .into_any()
        }
    };
    view! {
        <section class="budget" aria-label="Hourly budget">
            {agent}
            {meter("Analytics", budgets.analytics)}
            {waiting}
            <p class="faint">"Docket’s hourly limits " {details}</p>
        </section>
    }
}

fn meter(name: &'static str, meter: Meter) -> impl IntoView + use<> {
    let spent = meter.left() == 0;
    let used = length(per_mille(u64::from(meter.used), u64::from(meter.limit)));
    let next = match meter.next_fits_at {
        Some(at) if spent => format!("Next in {}", until(at, clock::now())),
        _ => String::new(),
    };
    view! {
        <div class="meter" data-spent=spent.then_some("true")>
            <p class="meter-text">
                <span>{name}</span>
                <span class="numeric">{format!("{} of {}", grouped(meter.used.into()), grouped(meter.limit.into()))}</span>
            </p>
            <svg class="meter-bar" aria-hidden="true">
                <rect class="meter-track" width="100%" height="100%" />
                <rect class="meter-used" width=used height="100%" />
            </svg>
            <p class="meter-next">{next}</p>
        </div>
    }
}
