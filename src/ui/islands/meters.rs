//! Updates the meters of the hourly budget. Needs [`super::live::LiveState`].

use leptos::prelude::*;

use crate::ui::components::meters::{self, meters};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::morph;

/// `has_details`: whether the user may open the page about the platform. `children` are the meters.
#[island]
pub fn Meters(project: String, has_details: bool, children: Children) -> impl IntoView {
    if let Some(live) = LiveState::here() {
        live.on_budgets(move |budgets| {
            morph::show(meters::ID, || meters(&project, budgets, has_details));
        });
    }
    children()
}
