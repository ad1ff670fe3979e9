//! `/setup?token=…`: the first administrator chooses a name and a password. The link stands in the server's log.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::api::session::SetUp as CreateAdministrator;
use crate::ui::components::failure;
use crate::ui::components::icon::mark;
use crate::ui::state::title;

#[component]
pub fn SetUp() -> impl IntoView {
    title::set("Set up");
    let token = use_query_map().read_untracked().get("token").unwrap_or_default();
    let create = ServerAction::<CreateAdministrator>::new();
    let answer = create.value();
    let problem = move || failure::of_form(answer.get().and_then(Result::err));
    view! {
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>"Set up Docket"</h1>
                <p class="soft">"Create the first administrator. This link works once."</p>
                {problem}
                <ActionForm action=create attr:class="stack">
                    <input type="hidden" name="token" value=token />
                    <label class="field-label" for="username">"Username"</label>
                    <input
                        id="username"
                        class="field"
                        name="username"
                        value="admin"
                        autocomplete="username"
                        autocapitalize="none"
                        spellcheck="false"
                        required
                    />
                    <label class="field-label" for="password">"Password"</label>
                    <input id="password" class="field" type="password" name="password" autocomplete="new-password" required />
                    <button type="submit" class="button button-primary" aria-busy=move || create.pending().get().then_some("true")>
                        "Create and sign in"
                    </button>
                </ActionForm>
            </div>
        </main>
    }
    .into_any()
}
