//! The document shell, and [`App`]: contexts and the route table, nothing else.

use leptos::prelude::*;
use leptos_meta::{MetaTags, provide_meta_context};
use leptos_router::components::{ParentRoute, Route, Router, Routes};
use leptos_router::{Lazy, SsrMode, path};

use crate::ui::components::frame::{AdminFrame, Frame};
use crate::ui::pages::{self, home, login, not_found};
use crate::ui::state;

/// The document around the app: everything a browser needs before the first pixel.
/// `theme` is `light` or `dark` where the person chose one.
pub fn shell(options: LeptosOptions, theme: Option<&'static str>) -> impl IntoView {
    let stylesheet = format!("/{}/{}.css", options.site_pkg_dir, options.output_name);
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=theme data-provider=state::browser::provider()>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <link rel="stylesheet" href=stylesheet />
                <AutoReload options=options.clone() />
                <HydrationScripts options />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

/// Every page is rendered whole (`SsrMode::Async`), so that it reads and posts without JavaScript.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    state::provide();
    view! {
        {state::title::view()}
        <Router>
            <Routes fallback=not_found::NotFound>
                <Route path=path!("/login") view=login::Login ssr=SsrMode::Async />
                <Route path=path!("/setup") view={Lazy::<pages::SetUp>::new()} ssr=SsrMode::Async />
                <Route path=path!("/") view=home::Home ssr=SsrMode::Async />
                <ParentRoute path=path!("/p/:project") view=Frame ssr=SsrMode::Async>
                    <Route path=path!("") view={Lazy::<pages::Overview>::new()} />
                    <Route path=path!("jobs") view={Lazy::<pages::Jobs>::new()} />
                    <Route path=path!("jobs/new") view={Lazy::<pages::NewJob>::new()} />
                    <Route path=path!("jobs/adopt") view={Lazy::<pages::Adopt>::new()} />
                    <Route path=path!("jobs/batch") view={Lazy::<pages::NewBatch>::new()} />
                    <Route path=path!("jobs/:job") view={Lazy::<pages::JobPage>::new()} />
                    <Route path=path!("batches/:batch") view={Lazy::<pages::BatchPage>::new()} />
                    <Route path=path!("queue") view={Lazy::<pages::QueuePage>::new()} />
                    <Route path=path!("analytics") view={Lazy::<pages::Analytics>::new()} />
                    <Route path=path!("templates") view={Lazy::<pages::Templates>::new()} />
                </ParentRoute>
                <ParentRoute path=path!("") view=AdminFrame ssr=SsrMode::Async>
                    <Route path=path!("account") view={Lazy::<pages::Settings>::new()} />
                    <Route path=path!("admin/audit") view={Lazy::<pages::Settings>::new()} />
                    <Route path=path!("admin/upstream") view={Lazy::<pages::AdminUpstream>::new()} />
                    <Route path=path!("admin/users") view={Lazy::<pages::Settings>::new()} />
                    <Route path=path!("admin/webhooks") view={Lazy::<pages::AdminWebhooks>::new()} />
                </ParentRoute>
            </Routes>
        </Router>
    }
}
