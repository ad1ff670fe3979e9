//! `/login`: name and password, then on to where the person wanted to go.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::api::session::Login as SignIn;
use crate::ui::components::failure;
use crate::ui::components::icon::mark;
use crate::ui::state::title;

#[component]
pub fn Login() -> impl IntoView {
    title::set("Sign in");
    let next = use_query_map().read_untracked().get("next").unwrap_or_default();
    let sign_in = ServerAction::<SignIn>::new();
    let answer = sign_in.value();
    let problem = move || failure::of_form(answer.get().and_then(Result::err));
    view! {
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>"Sign in to Docket"</h1>
                {problem}
                <ActionForm action=sign_in attr:class="stack">
                    <input type="hidden" name="next" value=next />
                    <label class="field-label" for="username">"Username"</label>
                    <input
                        id="username"
                        class="field"
                        name="username"
                        autocomplete="username"
                        autocapitalize="none"
                        spellcheck="false"
                        required
                        autofocus
                    />
                    <label class="field-label" for="password">"Password"</label>
                    <input id="password" class="field" type="password" name="password" autocomplete="current-password" required />
                    <button type="submit" class="button button-primary" aria-busy=move || sign_in.pending().get().then_some("true")>
                        "Sign in"
                    </button>
                </ActionForm>
            </div>
        </main>
    }
    .into_any()
}
