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
pub mod settings;
// Drawn on the server alone.
#[cfg(feature = "ssr")]
pub mod sign_in_step;
pub mod templates;

use leptos::prelude::*;
use leptos::wasm_split::{SplitLoaderError, wasm_split};
use leptos_router::LazyRoute;
use leptos_router::hooks::use_url;

use crate::ui::state::{browser, response};

/// `piece: module::Page` gives a route of that name, whose code lies in a piece of the WebAssembly that a browser fetches only
/// when it comes to a page of it. What several pieces need lies in further ones.
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
                    response::fetch_with_it(stringify!($piece));
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

// Few pieces: each doubles into how many files the code that pages share can fall.
fetched_when_needed! {
    jobs: jobs::Jobs,
    job: job::JobPage,
    new_job: new_job::NewJob,
    jobs: adopt::Adopt,
    plans: batch::BatchPage,
    plans: new_batch::NewBatch,
    jobs: queue::QueuePage,
    plans: templates::Templates,
    oversight: set_up::SetUp,
    oversight: overview::Overview,
    oversight: analytics::Analytics,
    oversight: admin_upstream::AdminUpstream,
    oversight: admin_webhooks::AdminWebhooks,
    oversight: settings::Settings,
}

/// A page that was rendered by the server stays as it is. On the way to another one the browser asks the server for it: a newer
/// release than the one that is open no longer has its pieces.
async fn without_its_piece() {
    let url = use_url().get_untracked();
    browser::load_if_hydrated(&format!("{}?{}", url.path(), url.search()));
    std::future::pending().await
}
