//! The document shell, and [`App`], the route table. Server only.

use leptos::prelude::*;
use leptos_meta::{MetaTags, provide_meta_context};
use leptos_router::components::{ParentRoute, Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::ui::document::{document, scripts};
use crate::ui::islands::ready::Ready;
use crate::ui::look::Look;
use crate::ui::pages::frame::{Frame, SettingsFrame};
use crate::ui::pages::{
    admin_upstream, admin_webhooks, analytics, api_reference, batch, batches, help, home, import, job, jobs,
    login, new_batch, new_job, not_found, notifications, overview, queue, reviews, set_up, settings,
    templates,
};

/// The HTML document around the app.
pub fn shell(options: LeptosOptions, look: Look) -> impl IntoView {
    provide_context(look);
    let head = view! {
        <AutoReload options=options.clone() />
        {scripts(&options)}
        <MetaTags />
    };
    let body = view! {
        <App />
        <Ready />
    };
    document(&options, look, head, body)
}

/// Every page is rendered whole (`SsrMode::Async`), so that it works without JavaScript.
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
                    <Route path=path!("analytics/check") view=analytics::agreement::AgreementPage />
                    <Route path=path!("jobs/import") view=import::Import />
                    <Route path=path!("jobs/batch") view=new_batch::NewBatch />
                    <Route path=path!("jobs/:job") view=job::JobPage />
                    <Route path=path!("batches") view=batches::Batches />
                    <Route path=path!("batches/:batch") view=batch::BatchPage />
                    <Route path=path!("notifications") view=notifications::NotificationsPage />
                    <Route path=path!("queue") view=queue::QueuePage />
                    <Route path=path!("reviews") view=reviews::ReviewsPage />
                    <Route path=path!("templates") view=templates::Templates />
                </ParentRoute>
                <ParentRoute path=path!("") view=SettingsFrame ssr=SsrMode::Async>
                    <Route path=path!("admin/upstream") view=admin_upstream::AdminUpstream />
                    <Route path=path!("admin/webhooks") view=admin_webhooks::AdminWebhooks />
                    <Route path=path!("docs/api") view=api_reference::ApiReference />
                    <Route path=path!("help") view=help::Help />
                    <Route path=path!("help/:area") view=help::HelpArea />
                    <Route path=path!("account") view=settings::account::Account />
                    <Route path=path!("account/tokens") view=settings::tokens::Tokens />
                    <Route path=path!("admin/users") view=settings::users::Users />
                    <Route path=path!("admin/users/:person") view=settings::person::PersonPage />
                    <Route path=path!("admin/audit") view=settings::audit::Audit />
                    <Route path=path!("admin/tokens") view=settings::all_tokens::AllTokens />
                </ParentRoute>
            </Routes>
        </Router>
    }
}
