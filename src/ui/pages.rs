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
use leptos_router::{LazyRoute, lazy_route};

/// Pages whose code a browser fetches when it comes to them.
macro_rules! fetched_when_needed {
    ($($module:ident :: $page:ident),* $(,)?) => { $(
        pub struct $page;

        #[lazy_route]
        impl LazyRoute for $page {
            fn data() -> Self {
                Self
            }

            fn view(_page: Self) -> AnyView {
                $module::$page().into_any()
            }
        }
    )* };
}

fetched_when_needed! {
    admin_upstream::AdminUpstream, admin_webhooks::AdminWebhooks, adopt::Adopt, analytics::Analytics, batch::BatchPage,
    login::Login, new_batch::NewBatch, new_job::NewJob, queue::QueuePage, set_up::SetUp, templates::Templates,
}
