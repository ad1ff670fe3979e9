//! What is shown while something loads, and how what came is shown. All of it goes through one Transition type, which
//! keeps the WebAssembly small.

use std::sync::Arc;

use leptos::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::AppError;
use crate::ui::components::failure;

/// `ready` for what `resource` holds, `fallback` until then, a way on if it failed.
pub fn loaded<T>(
    resource: Resource<Result<T, AppError>>,
    fallback: fn() -> AnyView,
    ready: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView
where
    T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let content = move || match resource.get() {
        None => ().into_any(),
        Some(Ok(value)) => ready(value),
        Some(Err(error)) => failure::panel(&error, Some(Callback::new(move |()| resource.refetch()))),
    };
    suspended(fallback, Arc::new(content))
}

/// `content`, with `fallback` until the resources it reads are there. Nothing in `content` may create a resource or
/// another Suspense: it runs several times.
pub fn suspended(fallback: fn() -> AnyView, content: Arc<dyn Fn() -> AnyView + Send + Sync>) -> AnyView {
    view! { <Transition fallback>{move || content()}</Transition> }.into_any()
}

pub fn nothing() -> AnyView {
    ().into_any()
}

/// The shape of a list of jobs.
pub fn rows() -> AnyView {
    (0..8).map(|_| view! { <div class="skeleton skeleton-row"></div> }).collect_view().into_any()
}

/// The shape of a job with its conversation.
pub fn conversation() -> AnyView {
    view! {
        <div class="skeleton skeleton-title"></div>
        <div class="skeleton skeleton-block"></div>
        <div class="skeleton skeleton-block"></div>
    }
    .into_any()
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
    .into_any()
}
