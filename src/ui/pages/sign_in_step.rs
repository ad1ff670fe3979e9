//! The pages between the password and the session: complete documents that work without scripts, and use one only for passkeys.

use leptos::config::LeptosOptions;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{CodeField, code_field, submit_button};
use crate::ui::components::icon::mark;
use crate::ui::components::notice::problem;
use crate::ui::components::passkeys::{Ceremony, SCRIPT, passkey_form, without_passkeys};
use crate::ui::document::document;
use crate::ui::look::Look;
use api::passkeys::{RequestPasskey, UsePasskey};
use api::session::EnterCode;
use model::passkey::{AcceptedFactors, StepPasskey};

/// The data that every document needs.
pub struct Document<'a> {
    pub options: &'a LeptosOptions,
    /// `light` or `dark` if the person chose one.
    pub theme: Option<&'static str>,
}

/// The forms for the second factor. `refused`: why the last code or passkey was refused.
pub fn code(step: &Document, accepted: AcceptedFactors, refused: Option<String>) -> String {
    let (title, what) = match (accepted.authenticator, accepted.passkey) {
        (true, StepPasskey::Usable) => (
            "Confirm that it is you",
            "Use your passkey, enter the six-digit code from your authenticator app, or enter one of your recovery codes.",
        ),
        (true, _) => (
            "Enter your code",
            "Enter the six-digit code from your authenticator app, or one of your recovery codes.",
        ),
        (false, StepPasskey::Unusable) => (
            "Enter a recovery code",
            "Your passkeys do not work at this address of Docket. Enter one of your recovery codes, or ask an administrator to reset your second factor.",
        ),
        (false, _) => ("Confirm that it is you", "Use your passkey, or enter one of your recovery codes."),
    };
    let passkey = (accepted.passkey == StepPasskey::Usable).then(|| {
        let hidden = vec![("second", "true".to_owned())];
        view! {
            {passkey_form(Ceremony::Get, RequestPasskey::PATH, UsePasskey::PATH, hidden, None, submit_button("Use a passkey"))}
            {without_passkeys("Your passkeys need JavaScript, and a browser that has passkeys.")}
            <script type="module" src=SCRIPT></script>
        }
    });
    let content = move || {
        view! {
            <h1>{title}</h1>
            <p class="soft">{what}</p>
            {problem(refused)}
            {passkey}
            <form class="stack" method="post" action=EnterCode::PATH>
                {code_field(CodeField { autofocus: true, ..CodeField::new("code", "Code") })}
                {submit_button("Sign in")}
            </form>
            <p class="faint">
                "Lost all of them? An administrator can reset your second factor. " <a href="/login">"Start again"</a>
            </p>
        }
    };
    whole(step, title, content)
}

/// Why signing in failed, with a link back.
pub fn refused(step: &Document, sentence: &str) -> String {
    let sentence = sentence.to_owned();
    let content = move || {
        view! {
            <h1>"You are not signed in"</h1>
            {problem(Some(sentence))}
            <a class="button" href="/login">"Go to the sign-in page"</a>
        }
    };
    whole(step, "You are not signed in", content)
}

fn whole<V: IntoView>(step: &Document, title: &'static str, content: impl FnOnce() -> V) -> String {
    // Views need an owner. Leptos provides one to the pages of the app, but not to a handler of the router.
    Owner::new().with(|| {
        let look = Look { theme: step.theme, density: None, no_shortcuts: false };
        let head = view! { <title>{title} " · Docket"</title> };
        let body = view! {
            <main class="lone">
                <div class="card">{mark()} {content().into_view()}</div>
            </main>
        };
        document(step.options, look, head, body).to_html()
    })
}
