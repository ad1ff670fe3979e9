//! What is left of the hour's budget of upstream calls, asked again now and then.

use leptos::prelude::*;

use crate::api::upstream::budgets;
use crate::error::AppError;
use crate::model::budget::Budgets;

pub type BudgetResource = Resource<Result<Budgets, AppError>>;

pub fn provide(project: String) -> BudgetResource {
    let resource = Resource::new(|| (), move |()| budgets(project.clone()));
    provide_context(resource);
    resource
}

pub fn get() -> BudgetResource {
    expect_context()
}
