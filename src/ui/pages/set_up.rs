//! `/setup`: uses a one-time link. The first administrator chooses a name and a password; that link is in the server's log. An
//! invited person chooses a password, and a person with a forgotten password a new one.
//!
//! The token is in the fragment of the link. A script posts it, and the browser stores it in a cookie. Without scripts, people
//! paste the link.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{USERNAME_PATTERN, USERNAME_RULE, new_password_field, submit_button};
use crate::ui::components::icon::mark;
use crate::ui::components::notice::problem;
use crate::ui::pages::outcome::outcome;
use crate::ui::pages::page_head::title;
use crate::ui::pages::request::{self, page};
use api::session::{OpenLink, SetUp as CreateAdministrator, read_link};
use model::flash::FlashMessage;
use model::user::LinkPurpose;

/// Whether this browser has the token of a link in a cookie. The router provides it.
#[derive(Clone, Copy)]
pub struct StoredLink(pub bool);

/// Removes the token from the URL, and posts it. A URL typed into the same tab changes only the fragment.
const OPEN: &str = r#"{const take=()=>{const token=new URLSearchParams(location.hash.slice(1)).get("token");if(token){history.replaceState(null,"",location.pathname);const form=document.querySelector("[data-open-link]");form.elements.token.value=token;form.submit()}};addEventListener("hashchange",take);take()}"#;

#[component]
pub fn SetUp() -> impl IntoView {
    let is_stored = use_context::<StoredLink>().is_some_and(|StoredLink(is_stored)| is_stored);
    let refused = request::flash(CreateAdministrator::PATH);
    let pasted = request::flash(OpenLink::PATH);
    let nonce = use_nonce();
    let content = page(async move {
        let purpose = if is_stored { read_link(None).await? } else { None };
        let refused = refused.as_ref();
        let content = match purpose {
            None if !is_stored && refused.is_none() => open_link(pasted.as_ref()),
            None => view! { {not_valid(refused)} {open_another(pasted.as_ref())} }.into_any(),
            Some(LinkPurpose::Invitation { name }) => {
                let texts = FormTexts {
                    heading: "Welcome to Docket",
                    sentence: "Choose your password. This link works once.",
                    button: "Save and sign in",
                };
                view! { {form(texts, name, true, refused)} {open_another(pasted.as_ref())} }.into_any()
            }
            Some(LinkPurpose::NewPassword { name }) => {
                let texts = FormTexts {
                    heading: "Set a new password",
                    sentence: "You are signed out everywhere else. This link works once.",
                    button: "Save and sign in",
                };
                view! { {form(texts, name, true, refused)} {open_another(pasted.as_ref())} }.into_any()
            }
            Some(LinkPurpose::FirstAdministrator) => {
                let typed = refused.map(|refused| refused.typed("username")).filter(|name| !name.is_empty());
                let texts = FormTexts {
                    heading: "Set up Docket",
                    sentence: "Create the first administrator. This link works once.",
                    button: "Create and sign in",
                };
                let name = typed.unwrap_or("admin").to_owned();
                view! { {form(texts, name, false, refused)} {open_another(pasted.as_ref())} }.into_any()
            }
        };
        Ok(view! { {content} <script nonce=nonce inner_html=OPEN></script> }.into_any())
    });
    view! {
        {title("Set up")}
        <main class="lone">
            <div class="card">{mark()} {content}</div>
        </main>
    }
}

/// The texts of a form.
struct FormTexts {
    heading: &'static str,
    sentence: &'static str,
    button: &'static str,
}

fn form(
    FormTexts { heading, sentence, button }: FormTexts,
    name: String,
    is_known: bool,
    refused: Option<&FlashMessage>,
) -> AnyView {
    view! {
        <h1>{heading}</h1>
        <p class="soft">{sentence}</p>
        {refused.and_then(outcome)}
        <form class="stack" method="post" action=CreateAdministrator::PATH>
            <label class="field-label" for="username">"Username"</label>
            <input
                id="username"
                class="field"
                name="username"
                value=name
                readonly=is_known
                pattern=(!is_known).then_some(USERNAME_PATTERN)
                title=(!is_known).then_some(USERNAME_RULE)
                autocomplete="username"
                autocapitalize="none"
                spellcheck="false"
                required
            />
            {new_password_field("password", "Password", "")}
            {submit_button(button)}
        </form>
    }
    .into_any()
}

/// The page without a link. Scripts post its token at once.
fn open_link(pasted: Option<&FlashMessage>) -> AnyView {
    view! {
        <h1>"Open your link"</h1>
        <p class="soft">"Paste the one-time link that you were sent, or the one in the log of the server."</p>
        {pasted.and_then(outcome)}
        {link_form()}
        <p class="faint">
            "Do you have a password? " <a href="/login">"Go to the sign-in page"</a>
        </p>
    }
    .into_any()
}

fn open_another(pasted: Option<&FlashMessage>) -> AnyView {
    let is_refused = pasted.is_some();
    view! {
        <details open=is_refused>
            <summary>"Open another link"</summary>
            {pasted.and_then(outcome)}
            {link_form()}
        </details>
    }
    .into_any()
}

fn link_form() -> AnyView {
    view! {
        <form class="stack" method="post" action=OpenLink::PATH data-open-link="">
            <label class="field-label" for="token">"Link"</label>
            <input
                id="token"
                class="field"
                name="token"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                required
            />
            {submit_button("Continue")}
        </form>
    }
    .into_any()
}

fn not_valid(refused: Option<&FlashMessage>) -> AnyView {
    let message = refused.and_then(outcome).unwrap_or_else(|| {
        let sentence = "It was used already, has expired, or is incomplete. Ask an administrator for a new one; if nobody has an account yet, restart Docket to get one in its log.";
        problem(Some(sentence.to_owned())).into_any()
    });
    view! {
        <h1>"This link is not valid"</h1>
        {message}
        <a class="button" href="/login">"Go to the sign-in page"</a>
    }
    .into_any()
}
