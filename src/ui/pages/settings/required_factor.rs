//! `/account/second-factor`: the only page for people without a second factor where one is required. Without the frame, whose
//! links are not available yet.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos_router::components::Redirect;

use super::second_factor::Confirming;
use super::{passkeys, second_factor};
use crate::ui::components::form::post_form;
use crate::ui::components::icon::mark;
use crate::ui::pages::page_head::title;
use crate::ui::pages::request::page;
use api::account::account;
use api::session::Logout;
use model::account::SecondFactor;
use model::links;

#[component]
pub fn RequiredFactor() -> impl IntoView {
    let (outcome, of_passkeys) = (second_factor::last_outcome(), passkeys::last_outcome());
    let content = page(async move {
        let account = account().await?;
        let confirming = Confirming::of(&account);
        let factor = account.second_factor;
        if confirming.passkey || matches!(factor, SecondFactor::On { .. } | SecondFactor::NoPassword) {
            return Ok(view! { <Redirect path=links::ACCOUNT /> }.into_any());
        }
        let sign_out = view! { <button class="button" type="submit">"Sign out"</button> };
        Ok(view! {
            <h1>"Set up a second factor"</h1>
            <p>
                "Docket requires a second factor of everybody who signs in with a password. You need an authenticator app or a passkey; nothing else is available before that."
            </p>
            {second_factor::second_factor(factor, confirming, outcome)}
            {passkeys::passkeys(account.passkeys, confirming, of_passkeys)}
            {post_form("", Logout::PATH, Vec::new(), sign_out)}
        }
        .into_any())
    });
    view! {
        {title("Set up a second factor")}
        <main class="lone">
            <div class="card">{mark()} {content}</div>
        </main>
    }
}
