//! The document shell, and [`App`], the route table. Server only.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::{MetaTags, provide_meta_context};
use leptos_router::components::{ParentRoute, Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::ui::islands::ready::Ready;
use crate::ui::look::Look;
use crate::ui::pages::frame::{Frame, SettingsFrame};
use crate::ui::pages::{
    admin_upstream, admin_webhooks, analytics, batch, batches, help, home, import, job, jobs, login,
    new_batch, new_job, not_found, notifications, overview, queue, set_up, settings, templates,
};

/// Speculation rules: browsers prefetch the page of a link under the pointer. Excluded are pages that may call the platform,
/// notifications (a visit marks them as read), and other projects (a visit stores the last project).
const PREFETCH: &str = r#"{"prefetch":[{"where":{"and":[{"href_matches":"/p/*"},{"not":{"href_matches":"/p/*/analytics*"}},{"not":{"href_matches":"/p/*/notifications*"}},{"not":{"selector_matches":"[download],[data-ask],[data-pick],.switcher a,.palette a"}}]},"eagerness":"moderate"}]}"#;

/// Starts the islands, outer ones first. Leptos's own script waits for an idle moment and visits every element of the page;
/// this one visits only the islands. The page works without it, because the import is dynamic. `async` loads and compiles the
/// module while the page is parsed. The script then waits for the whole page. `__hydrateIsland` hydrates islands that a refresh
/// inserts.
fn start(options: &LeptosOptions) -> impl IntoView + use<> {
    // As in Leptos's own script: only islands are hydrated.
    if let Some(context) = Owner::current_shared_context() {
        context.set_is_hydrating(false);
    }
    let file = |extension| format!("/{}/{}.{extension}", options.site_pkg_dir, options.output_name);
    let (script, module) = (file("js"), file("wasm"));
    let start = format!(
        r#"import("{script}").then(async islands=>{{await islands.default({{module_or_path:"{module}"}});if(document.readyState==="loading")await new Promise(parsed=>document.addEventListener("DOMContentLoaded",parsed));islands.hydrate();const hydrate=window.__hydrateIsland=(island,name)=>islands[name]?.(island);for(const island of document.querySelectorAll("leptos-island")){{island.parentElement.closest("leptos-children")?.$$on_hydrate?.();hydrate(island,island.dataset.component)}}}})"#
    );
    let nonce = use_nonce();
    view! {
        <link rel="modulepreload" href=script crossorigin=nonce.clone() />
        <link rel="preload" href=module r#as="fetch" r#type="application/wasm" crossorigin=nonce.clone() />
        <script type="module" r#async=true nonce=nonce inner_html=start></script>
    }
}

/// The HTML document around the app.
pub fn shell(options: LeptosOptions, look: Look) -> impl IntoView {
    provide_context(look);
    let stylesheet = format!("/{}/{}.css", options.site_pkg_dir, options.output_name);
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=look.theme data-density=look.density>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="robots" content="noindex" />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <link rel="stylesheet" href=stylesheet />
                <AutoReload options=options.clone() />
                {start(&options)}
                <script type="speculationrules" nonce=use_nonce() inner_html=PREFETCH></script>
                <MetaTags />
            </head>
            <body>
                <App />
                <Ready />
            </body>
        </html>
    }
}

/// Renders every page completely (`SsrMode::Async`), so that it works without JavaScript.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Router>
            <Routes fallback=not_found::NotFound>
                <Route path=path!("/login") view=login::Login ssr=SsrMode::Async />
                <Route path=path!("/setup") view=set_up::SetUp ssr=SsrMode::Async />
                <Route
                    path=path!("/account/second-factor")
                    view=settings::required_factor::RequiredFactor
                    ssr=SsrMode::Async
                />
                <Route path=path!("/") view=home::Home ssr=SsrMode::Async />
                <ParentRoute path=path!("/p/:project") view=Frame ssr=SsrMode::Async>
                    <Route path=path!("") view=overview::Overview />
                    <Route path=path!("jobs") view=jobs::Jobs />
                    <Route path=path!("jobs/new") view=new_job::NewJob />
                    <Route path=path!("analytics") view=analytics::Analytics />
                    <Route path=path!("jobs/import") view=import::Import />
                    <Route path=path!("jobs/batch") view=new_batch::NewBatch />
                    <Route path=path!("jobs/:job") view=job::JobPage />
                    <Route path=path!("batches") view=batches::Batches />
                    <Route path=path!("batches/:batch") view=batch::BatchPage />
                    <Route path=path!("notifications") view=notifications::NotificationsPage />
                    <Route path=path!("queue") view=queue::QueuePage />
                    <Route path=path!("templates") view=templates::Templates />
                </ParentRoute>
                <ParentRoute path=path!("") view=SettingsFrame ssr=SsrMode::Async>
                    <Route path=path!("admin/upstream") view=admin_upstream::AdminUpstream />
                    <Route path=path!("admin/webhooks") view=admin_webhooks::AdminWebhooks />
                    <Route path=path!("help") view=help::Help />
                    <Route path=path!("help/:area") view=help::HelpArea />
                    <Route path=path!("account") view=settings::account::Account />
                    <Route path=path!("admin/users") view=settings::users::Users />
                    <Route path=path!("admin/users/:person") view=settings::person::PersonPage />
                    <Route path=path!("admin/audit") view=settings::audit::Audit />
                </ParentRoute>
            </Routes>
        </Router>
    }
}
