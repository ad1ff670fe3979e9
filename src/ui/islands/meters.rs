//! The meters of the hourly budget. [`super::live::Live`] keeps them current.

use leptos::prelude::*;

use crate::ui::charts::number::{counted, grouped};
use crate::ui::charts::scale::{length, per_mille};
use crate::ui::clock;
use crate::ui::components::time::until;
use crate::ui::islands::live::LiveState;
use model::budget::{AgentLimit, Budgets, Meter};
use model::links;

/// `rendered`: the budgets when the page was rendered. Without them the meters are hidden until the next fetch. `children`: a link with details.
#[island]
pub fn Meters(project: String, rendered: Option<Budgets>, children: Children) -> impl IntoView {
    let latest = LiveState::here().map(|live| live.budgets);
    let budgets = move || latest.and_then(|latest| latest.get()).or(rendered);
    let waiting = move || budgets().map_or(0, |budgets| budgets.waiting);
    view! {
        <section class="budget" aria-label="Hourly budget" hidden=move || budgets().is_none()>
            {meter(budgets, agent, |budgets| Some(budgets.creates))}
            {meter(budgets, |_| "Follow-ups", |budgets| (!is_shared(budgets)).then_some(budgets.follow_ups))}
            {meter(budgets, |_| "Analytics", |budgets| Some(budgets.analytics))}
            <p class="meter-text" hidden=move || waiting() == 0>
                <a href=links::queue(&project)>{move || counted(waiting().into(), "prompt queued", "prompts queued")}</a>
            </p>
            <p class="faint">"Docket’s hourly limits " {children()}</p>
        </section>
    }
}

/// Whether new jobs and follow-ups have one limit.
fn is_shared(budgets: &Budgets) -> bool {
    budgets.agent_limit == AgentLimit::Shared
}

fn agent(budgets: &Budgets) -> &'static str {
    if is_shared(budgets) { "Agent" } else { "New jobs" }
}

/// The meter `of` the budgets; hidden if there is none.
fn meter(
    budgets: impl Fn() -> Option<Budgets> + Copy + Send + Sync + 'static,
    name: fn(&Budgets) -> &'static str,
    of: fn(&Budgets) -> Option<Meter>,
) -> impl IntoView {
    let meter = move || of(&budgets()?);
    let text = move |text: fn(Meter) -> String| move || meter().map(text).unwrap_or_default();
    view! {
        <div
            class=move || if meter().as_ref().is_some_and(is_spent) { "meter meter-spent" } else { "meter" }
            hidden=move || meter().is_none()
        >
            <p class="meter-text">
                <span>{move || budgets().as_ref().map(name).unwrap_or_default()}</span>
                <span class="numeric">{text(used_of_limit)}</span>
            </p>
            <svg class="meter-bar" aria-hidden="true">
                <rect class="meter-track" width="100%" height="100%" />
                <rect class="meter-used" width=move || meter().map_or_else(|| length(0), width)
                    height="100%" />
            </svg>
            <p class="meter-next">{text(next)}</p>
        </div>
    }
}

fn is_spent(meter: &Meter) -> bool {
    meter.left() == 0
}

fn used_of_limit(meter: Meter) -> String {
    [&grouped(meter.used.into()), " of ", &grouped(meter.limit.into())].concat()
}

fn width(meter: Meter) -> String {
    length(per_mille(u64::from(meter.used), u64::from(meter.limit)))
}

/// When a spent budget has room again.
fn next(meter: Meter) -> String {
    match meter.next_fits_at {
        Some(at) if is_spent(&meter) => ["Next in ", &until(at, clock::now())].concat(),
        _ => String::new(),
    }
}
