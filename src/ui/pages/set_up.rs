//! `/setup?token=…`: the first administrator chooses a name and a password; the link is in the server's log. With
//! `&name=…`, an invited person chooses a password.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::session::SetUp as CreateAdministrator;
use crate::ui::components::form::submit_button;
use crate::ui::components::icon::mark;
use crate::ui::pages::outcome::outcome;
use crate::ui::pages::page_head::title;
use crate::ui::pages::request;

#[component]
pub fn SetUp() -> impl IntoView {
    let query = request::query();
    let token = query.get("token").unwrap_or_default();
    let invited = query.get("name").is_some();
    let refused = request::flash(CreateAdministrator::PATH);
    let typed =
        refused.as_ref().map(|refused| refused.typed("username").to_owned()).filter(|name| !name.is_empty());
    let name = typed.or_else(|| query.get("name")).unwrap_or_else(|| "admin".to_owned());
    let (heading, scan_by, button) = match invited {
        true => ("Welcome to Docket", "Choose your password. This link works once.", "Save and sign in"),
        false => {
            ("Set up Docket", "Create the first administrator. This link works once.", "Create and sign in")
        }
    };
    view! {
        {title("Set up")}
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>{heading}</h1>
                <p class="soft">{scan_by}</p>
                {refused.as_ref().and_then(outcome)}
                <form class="stack" method="post" action=CreateAdministrator::PATH>
                    <input type="hidden" name="token" value=token />
                    <label class="field-label" for="username">"Username"</label>
                    <input
                        id="username"
                        class="field"
                        name="username"
                        value=name
                        readonly=invited
                        autocomplete="username"
                        autocapitalize="none"
                        spellcheck="false"
                        required
                    />
                    <label class="field-label" for="password">"Password"</label>
                    <input id="password" class="field" type="password" name="password" autocomplete="new-password" required />
                    {submit_button(button)}
                </form>
            </div>
        </main>
    }
}
