//! What is left of the hour's budget of upstream calls, asked again now and then.

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::upstream::GetBudgets;
use crate::model::budget::Budgets;
use crate::ui::state::asked::Asked;

pub type AskedBudget = Asked<Budgets>;

pub fn provide(project: String) -> AskedBudget {
    let budget = Asked::once(move || call(GetBudgets { project: project.clone() }));
    provide_context(budget);
    budget
}

pub fn get() -> AskedBudget {
    expect_context()
}
