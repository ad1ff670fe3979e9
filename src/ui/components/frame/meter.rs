//! The hour's budget as two thin bars.

use leptos::prelude::*;

use crate::model::budget::{Budgets, Meter};
use crate::model::user::Role;
use crate::ui::charts::scale::{length, per_mille};
use crate::ui::components::loading::suspended;
use crate::ui::components::moment::until;
use crate::ui::components::waiting::waiting_link;
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::budget::AskedBudget;
use crate::ui::state::clock::Clock;
use crate::ui::state::project;
use crate::ui::state::session::AskedSession;

pub(super) fn meters(budget: AskedBudget, session: AskedSession) -> AnyView {
    let project = project::current();
    let content = move || match budget.get() {
        Some(Ok(budgets)) => both(&project, budgets, may_look(session)),
        // The budget is no reason to disturb: what needs it says so when it is spent.
        _ => ().into_any(),
    };
    suspended(skeleton, std::sync::Arc::new(content))
}

fn may_look(session: AskedSession) -> bool {
    matches!(session.get(), Some(Ok(session)) if session.role == Role::Admin)
}

fn both(project: &str, budgets: Budgets, may_look: bool) -> AnyView {
    let waiting = (budgets.waiting > 0)
        .then(|| view! { <p class="meter-text">{waiting_link(project, budgets.waiting)}</p> }.erase());
    let details = may_look.then(|| view! { <a href=links::UPSTREAM>"Details"</a> }.erase());
    view! {
        <section class="budget" aria-label="Budget of upstream calls">
            {meter("Agent", "job starts", budgets.creates)}
            {meter("Analytics", "questions", budgets.analytics)}
            {waiting}
            <p class="faint">"Resets gradually " {details}</p>
        </section>
    }
    .erase()
}

fn meter(name: &'static str, what: &'static str, meter: Meter) -> AnyView {
    let clock = Clock::get();
    let spent = meter.left() == 0;
    let share = per_mille(u64::from(meter.used), u64::from(meter.limit));
    let bar = format!(
        r#"<rect class="meter-track" width="100%" height="100%"/><rect class="meter-used" width="{}" height="100%"/>"#,
        length(share)
    );
    let next = move || match meter.next_fits_at {
        Some(at) if spent => format!("Next in {}", until(at, clock.now())),
        _ => String::new(),
    };
    view! {
        <div class="meter" data-spent=spent.then_some("true")>
            <p class="meter-text">
                <span>{name}</span>
                <span class="numeric" title=what>{format!("{} of {} this hour", meter.used, meter.limit)}</span>
            </p>
            <svg class="meter-bar" aria-hidden="true" inner_html=bar></svg>
            <p class="meter-next">{move || next()}</p>
        </div>
    }
    .erase()
}

fn skeleton() -> AnyView {
    view! { <div class="skeleton skeleton-meter"></div> }.erase()
}
