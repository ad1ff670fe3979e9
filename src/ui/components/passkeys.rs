//! Forms that request a passkey from the browser. They are hidden until `public/passkeys.js` has found that the browser
//! supports passkeys. They must not be the only way to sign in.

use leptos::prelude::*;

use crate::ui::components::form::{Hidden, hidden_fields};
use crate::ui::components::icon::{self, icon};

/// The script of these forms.
pub const SCRIPT: &str = "/passkeys.js";

/// The request to the browser.
#[derive(Debug, Clone, Copy)]
pub enum Ceremony {
    /// A new passkey.
    Create,
    /// A signature with an existing one.
    Get,
}

/// A form that gets its options from the endpoint `options`, calls the browser, and posts the browser's result to `action`.
/// `proof`: the endpoint with the options for an existing passkey, which is requested first if the field `code` is empty.
pub fn passkey_form(
    ceremony: Ceremony,
    options: &'static str,
    action: &'static str,
    hidden: Hidden,
    proof: Option<&'static str>,
    content: impl IntoView,
) -> AnyView {
    let ceremony = match ceremony {
        Ceremony::Create => "create",
        Ceremony::Get => "get",
    };
    view! {
        <div data-passkeys="with" hidden=true>
            <form class="stack" method="post" action=action data-passkey=ceremony data-options=options data-proof=proof>
                {hidden_fields(hidden)}
                <input type="hidden" name="credential" autocomplete="off" />
                {refusal()}
                {content.into_view()}
            </form>
        </div>
    }
    .into_any()
}

/// A form that adds or removes a second factor of an account which has a passkey. It works without scripts, with a code. If that is empty, the
/// script requests the passkey from the browser, and posts its response with the form.
pub fn proof_form(
    options: &'static str,
    action: &'static str,
    hidden: Hidden,
    content: impl IntoView,
) -> AnyView {
    view! {
        <form class="stack" method="post" action=action data-passkey="get" data-options=options>
            {hidden_fields(hidden)}
            <input type="hidden" name="credential" autocomplete="off" />
            {refusal()}
            {content.into_view()}
        </form>
    }
    .into_any()
}

/// Where the script shows why a passkey was not used.
fn refusal() -> AnyView {
    view! { <div class="notice notice-bad" role="alert" hidden=true>{icon(icon::CROSS)} <div><p></p></div></div> }.into_any()
}

/// Shown while passkeys are unavailable: without scripts, or in an old browser.
pub fn without_passkeys(sentence: &'static str) -> AnyView {
    view! { <p class="soft" data-passkeys="without">{sentence}</p> }.into_any()
}
