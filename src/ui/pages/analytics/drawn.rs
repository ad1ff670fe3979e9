//! Shows what the server has drawn: only the trend answers to pointer and keyboard, and a search needs no reload.

use leptos::prelude::*;

use crate::model::drawn::Drawn;
use crate::ui::charts::trend;
use crate::ui::components::search_form;


pub fn page(Drawn { above, heading, plot, events, below, .. }: Drawn) -> AnyView {
    let plot = plot.map(|plot| {
        view! {
            <div class="trend">
                <div class="section-head" inner_html=heading></div>
                {trend::trend(plot)}
                <div inner_html=events></div>
            </div>
        }
        .into_any()
    });
    view! {
        <div inner_html=above></div>
        {plot}
        <div on:submit=search_form::navigating() inner_html=below></div>
    }
    .into_any()
}
