//! What is shown while something loads, and how what came is shown. All of it goes through one Transition type, which
//! keeps the WebAssembly small.

use std::sync::Arc;

use leptos::prelude::*;
use serde::de::DeserializeOwned;

use crate::ui::components::failure;
use crate::ui::erase::Erase;
use crate::ui::state::asked::Asked;

/// `ready` for what was `asked`, `fallback` until it is there, a way on if it failed.
pub fn loaded<T: DeserializeOwned + 'static>(
    asked: Asked<T>,
    fallback: fn() -> AnyView,
    ready: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let content = move || match asked.get() {
        None => ().into_any(),
        Some(Ok(value)) => ready(value),
        Some(Err(error)) => failure::panel(&error, asked.retry()),
    };
    suspended(fallback, Arc::new(content))
}

/// `content`, with `fallback` until the resources it reads are there. Nothing in `content` may create a resource or
/// another Suspense: it runs several times.
pub fn suspended(fallback: fn() -> AnyView, content: Arc<dyn Fn() -> AnyView + Send + Sync>) -> AnyView {
    view! { <Transition fallback>{move || content()}</Transition> }.erase()
}

pub fn nothing() -> AnyView {
    ().into_any()
}

/// The shape of a list of jobs.
pub fn rows() -> AnyView {
    (0..8).map(|_| view! { <div class="skeleton skeleton-row"></div> }.erase()).collect_view().into_any()
}

/// The shape of a job with its conversation.
pub fn conversation() -> AnyView {
    view! {
        <div class="skeleton skeleton-title"></div>
        <div class="skeleton skeleton-block"></div>
        <div class="skeleton skeleton-block"></div>
    }
    .erase()
}

/// The shape of three figures over a trend and a table.
pub fn report() -> AnyView {
    view! {
        <div class="figures">
            <div class="skeleton skeleton-compared"></div>
            <div class="skeleton skeleton-compared"></div>
            <div class="skeleton skeleton-compared"></div>
        </div>
        <div class="skeleton skeleton-chart"></div>
        {rows()}
    }
    .erase()
}

/// The shape of three figures over a table.
pub fn figures() -> AnyView {
    view! {
        <div class="figures">
            <div class="skeleton skeleton-figure"></div>
            <div class="skeleton skeleton-figure"></div>
            <div class="skeleton skeleton-figure"></div>
        </div>
        {rows()}
    }
    .erase()
}
