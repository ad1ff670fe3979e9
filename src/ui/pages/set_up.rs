//! `/setup?token=…`: the first administrator chooses a name and a password; the link stands in the server's log. With `&name=…`, a
//! person who was invited chooses a password.

use leptos::prelude::*;

use crate::api::session::SetUp as CreateAdministrator;
use crate::ui::components::failure;
use crate::ui::components::icon::mark;
use crate::ui::components::submit_button::submit_button;
use crate::ui::erase::Erase;
use crate::ui::state::address;
use crate::ui::state::post::Post;
use crate::ui::state::title;

const MISTAKE: &str =
    "A username has 1 to 64 characters, none of them a control character; a password has at least 12.";

#[component]
pub fn SetUp() -> impl IntoView {
    title::set("Set up");
    let query = address::query();
    let field = |name| query.read_untracked().get(name);
    let token = field("token").unwrap_or_default();
    let (invited, name) = (field("name").is_some(), field("name").unwrap_or_else(|| "admin".to_owned()));
    let (heading, lead, button) = match invited {
        true => ("Welcome to Docket", "Choose your password. This link works once.", "Save and sign in"),
        false => {
            ("Set up Docket", "Create the first administrator. This link works once.", "Create and sign in")
        }
    };
    let post = Post::to::<CreateAdministrator>(MISTAKE);
    view! {
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>{heading}</h1>
                <p class="soft">{lead}</p>
                {move || failure::of_form(post.problem())}
                <form class="stack" method="post" action=post.url on:submit=post.submitting()>
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
                    {submit_button(post, button, "Saving…")}
                </form>
            </div>
        </main>
    }
    .erase()
}
