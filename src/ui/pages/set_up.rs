//! `/setup?token=…`: what a one-time link is for. The first administrator chooses a name and a password; the link is in the
//! server's log. An invited person chooses a password.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::flash::FlashMessage;
use crate::api::session::{SetUp as CreateAdministrator, read_link};
use crate::model::user::LinkPurpose;
use crate::ui::components::form::submit_button;
use crate::ui::components::icon::mark;
use crate::ui::components::notice::problem;
use crate::ui::pages::outcome::outcome;
use crate::ui::pages::page_head::title;
use crate::ui::pages::request::{self, page};

#[component]
pub fn SetUp() -> impl IntoView {
    let token = request::query().get("token").unwrap_or_default();
    let refused = request::flash(CreateAdministrator::PATH);
    let content = page(async move {
        let purpose = read_link(token.clone()).await?;
        let refused = refused.as_ref();
        Ok(match purpose {
            None => not_valid(refused),
            Some(LinkPurpose::Invitation { name }) => {
                let what =
                    ("Welcome to Docket", "Choose your password. This link works once.", "Save and sign in");
                form(what, token, name, true, refused)
            }
            Some(LinkPurpose::FirstAdministrator) => {
                let typed = refused.map(|refused| refused.typed("username")).filter(|name| !name.is_empty());
                let what = (
                    "Set up Docket",
                    "Create the first administrator. This link works once.",
                    "Create and sign in",
                );
                form(what, token, typed.unwrap_or("admin").to_owned(), false, refused)
            }
        })
    });
    view! {
        {title("Set up")}
        <main class="lone">
            <div class="card">{mark()} {content}</div>
        </main>
    }
}

fn form(
    (heading, sentence, button): (&'static str, &'static str, &'static str),
    token: String,
    name: String,
    is_invited: bool,
    refused: Option<&FlashMessage>,
) -> AnyView {
    view! {
        <h1>{heading}</h1>
        <p class="soft">{sentence}</p>
        {refused.and_then(outcome)}
        <form class="stack" method="post" action=CreateAdministrator::PATH>
            <input type="hidden" name="token" value=token />
            <label class="field-label" for="username">"Username"</label>
            <input
                id="username"
                class="field"
                name="username"
                value=name
                readonly=is_invited
                autocomplete="username"
                autocapitalize="none"
                spellcheck="false"
                required
            />
            <label class="field-label" for="password">"Password"</label>
            <input id="password" class="field" type="password" name="password" autocomplete="new-password" required />
            {submit_button(button)}
        </form>
    }
    .into_any()
}

fn not_valid(refused: Option<&FlashMessage>) -> AnyView {
    let said = refused.and_then(outcome).unwrap_or_else(|| {
        let sentence = "It was used already, has expired, or is incomplete. Ask an administrator for a new one; if nobody has an account yet, restart Docket to get one in its log.";
        problem(Some(sentence.to_owned())).into_any()
    });
    view! {
        <h1>"This link is not valid"</h1>
        {said}
        <a class="button" href="/login">"Go to the sign-in page"</a>
    }
    .into_any()
}
