//! Forms that ask the browser for a passkey. They are hidden until `public/passkeys.js` has found that the browser has passkeys; must not
//! be the only way to sign in.

use leptos::prelude::*;

use crate::ui::components::form::Hidden;
use crate::ui::components::icon::{self, icon};

/// The script of these forms.
pub const SCRIPT: &str = "/passkeys.js";

/// What the browser is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Ask {
    /// A new passkey.
    Create,
    /// The use of one.
    Get,
}

/// A form that gets its options from the endpoint `options`, asks the browser, and posts its answer to `action`.
pub fn passkey_form(
    ask: Ask,
    options: &'static str,
    action: &'static str,
    hidden: Hidden,
    content: impl IntoView,
) -> AnyView {
    let hidden = hidden
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value autocomplete="off" /> });
    let ask = match ask {
        Ask::Create => "create",
        Ask::Get => "get",
    };
    view! {
        <div data-passkeys="with" hidden=true>
            <form class="stack" method="post" action=action data-passkey=ask data-options=options>
                {hidden.collect_view()}
                <input type="hidden" name="credential" autocomplete="off" />
                <div class="notice notice-bad" role="alert" hidden=true>{icon(icon::CROSS)} <div><p></p></div></div>
                {content.into_view()}
            </form>
        </div>
    }
    .into_any()
}

/// What is shown as long as there are no passkeys: without scripts, or in an old browser.
pub fn without_passkeys(sentence: &'static str) -> AnyView {
    view! { <p class="soft" data-passkeys="without">{sentence}</p> }.into_any()
}
