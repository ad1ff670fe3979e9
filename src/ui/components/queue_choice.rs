//! Where the hour's budget is spent: the choice to let a prompt wait in line. To be shown inside a form and a Suspense.

use leptos::prelude::*;

use crate::error::ErrorCode;
use crate::model::budget::{Budgets, Meter};
use crate::ui::erase::{Erase, shown};
use crate::ui::state::budget::AskedBudget;
use crate::ui::state::post::Post;

/// Offered as long as the budget is known to have no room.
pub fn checkbox(budget: AskedBudget, meter: fn(&Budgets) -> Meter) -> AnyView {
    shown(move || match budget.get() {
        Some(Ok(budgets)) if meter(&budgets).left() == 0 => view! {
            <label class="choice">
                <input type="checkbox" name="queue" value="on" autocomplete="off" />
                "Send it by itself when there is room"
            </label>
        }
        .into_any(),
        _ => ().into_any(),
    })
}

/// Offered once the form was refused for want of room: the same form again, to wait in line.
pub fn button(post: Post) -> AnyView {
    shown(move || match post.problem() {
        Some(error) if error.code == ErrorCode::BudgetSpent => {
            view! { <button type="submit" class="button" name="queue" value="on">"Queue it"</button> }.into_any()
        }
        _ => ().into_any(),
    })
}
