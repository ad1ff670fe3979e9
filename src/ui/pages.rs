//! One module a route. A page creates its resources, then lays out named pieces.

pub mod admin_upstream;
pub mod admin_webhooks;
pub mod adopt;
pub mod analytics;
pub mod batch;
pub mod home;
pub mod job;
pub mod jobs;
pub mod login;
pub mod new_batch;
pub mod new_job;
pub mod not_found;
pub mod overview;
pub mod queue;
pub mod set_up;
pub mod templates;

use leptos::prelude::*;
use leptos::wasm_split::{SplitLoaderError, wasm_split};
use leptos_router::LazyRoute;
use leptos_router::hooks::use_url;

use crate::ui::state::browser;

/// `piece: module::Page` gives a route of that name, whose code lies in a piece of the WebAssembly that a browser fetches only
/// when it comes to a page of it. What several pieces need lies in further ones, so pages that are much alike share one.
macro_rules! fetched_when_needed {
    ($($piece:ident: $module:ident :: $page:ident),* $(,)?) => { $(
        pub struct $page;

        const _: () = {
            #[wasm_split($piece, wasm_split_path = ::leptos::wasm_split, preload(fetch), fallible)]
            fn $module() -> Result<AnyView, SplitLoaderError> {
                Ok($module::$page().into_any())
            }

            impl LazyRoute for $page {
                fn data() -> Self {
                    Self
                }

                async fn view(_page: Self) -> AnyView {
                    #[cfg(feature = "ssr")]
                    leptos::prefetch_lazy_fn_on_server(stringify!($piece));
                    $module().await.unwrap_or_else(|_| ().into_any())
                }

                async fn preload() {
                    if fetch().await.is_err() {
                        without_its_piece().await;
                    }
                }
            }
        };
    )* };
}

fetched_when_needed! {
    sign_in: login::Login,
    sign_in: set_up::SetUp,
    overview: overview::Overview,
    jobs: jobs::Jobs,
    job: job::JobPage,
    new_job: new_job::NewJob,
    adopt: adopt::Adopt,
    batches: batch::BatchPage,
    batches: new_batch::NewBatch,
    queue: queue::QueuePage,
    analytics: analytics::Analytics,
    templates: templates::Templates,
    admin: admin_upstream::AdminUpstream,
    admin: admin_webhooks::AdminWebhooks,
}

/// A page that was rendered by the server stays as it is. On the way to another one the browser asks the server for it: a newer
/// release than the one that is open no longer has its pieces.
async fn without_its_piece() {
    let url = use_url().get_untracked();
    browser::load_if_hydrated(&format!("{}?{}", url.path(), url.search()));
    std::future::pending().await
}
