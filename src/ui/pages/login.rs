//! `/login`: name and password, then on to where the person wanted to go.

use leptos::prelude::*;

use crate::api::session::Login as SignIn;
use crate::ui::components::failure;
use crate::ui::components::icon::mark;
use crate::ui::components::submit_button::submit_button;
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::address;
use crate::ui::state::browser;
use crate::ui::state::post::Post;
use crate::ui::state::title;

#[component]
pub fn Login() -> impl IntoView {
    title::set("Sign in");
    let next = address::query().read_untracked().get("next").unwrap_or_default();
    let post = Post::to::<SignIn>("A username and a password are needed.");
    let elsewhere = browser::provider().map(|name| {
        view! { <a class="button" href=links::single_sign_on(&next) rel="external">"Sign in with " {name}</a> }.erase()
    });
    view! {
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>"Sign in to Docket"</h1>
                {move || failure::of_form(post.problem())}
                <form class="stack" method="post" action=post.url on:submit=post.submitting()>
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
                    {submit_button(post, "Sign in", "Signing in…")}
                </form>
                {elsewhere}
            </div>
        </main>
    }
    .erase()
}
