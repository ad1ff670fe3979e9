//! `/login`: name and password, or a passkey, then a redirect to the requested page.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::submit_button;
use crate::ui::components::icon::mark;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::passkeys::{Ceremony, SCRIPT, passkey_form};
use crate::ui::pages::outcome::outcome;
use crate::ui::pages::page_head::title;
use crate::ui::pages::request;
use api::passkeys::{RequestPasskey, UsePasskey};
use api::session::{EnterCode, Login as SignIn};
use model::flash::SESSION_ENDED;
use model::links;

/// The display name of the single sign-on provider. The router provides it if there is one.
#[derive(Clone)]
pub struct Provider(pub String);

/// Present if browsers support passkeys for the public URL. The router provides it then.
#[derive(Clone, Copy)]
pub struct AcceptsPasskeys;

#[component]
pub fn Login() -> impl IntoView {
    let next = request::query().get("next").unwrap_or_default();
    // A wrong code may end the second step, which leads back here.
    let forms = [SignIn::PATH, EnterCode::PATH, UsePasskey::PATH];
    let refused = forms.into_iter().find_map(request::flash);
    let ended = request::flash(SESSION_ENDED).filter(|_| refused.is_none());
    let ended = ended.and_then(|ended| ended.problem().map(|why| why.message.clone()));
    let username = refused.as_ref().map(|refused| refused.typed("username").to_owned()).unwrap_or_default();
    // In most cases the password was wrong.
    let is_again = !username.is_empty();
    let elsewhere = use_context::<Provider>().map(|Provider(name)| {
        view! { <a class="button" href=links::single_sign_on(&next)>"Sign in with " {name}</a> }
    });
    let passkey = use_context::<AcceptsPasskeys>().map(|AcceptsPasskeys| {
        let hidden = vec![("next", next.clone())];
        let button = view! { <button class="button" type="submit">"Sign in with a passkey"</button> };
        view! {
            {passkey_form(Ceremony::Get, RequestPasskey::PATH, UsePasskey::PATH, hidden, None, button)}
            <script type="module" src=SCRIPT nonce=use_nonce()></script>
        }
    });
    view! {
        {title("Sign in")}
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>"Sign in to Docket"</h1>
                {ended.map(|why| notice(Tone::Plain, view! { <p>{why}</p> }))}
                {refused.as_ref().and_then(outcome)}
                <form class="stack" method="post" action=SignIn::PATH>
                    <input type="hidden" name="next" value=next />
                    <label class="field-label" for="username">"Username"</label>
                    <input
                        id="username"
                        class="field"
                        name="username"
                        value=username
                        autocomplete="username"
                        autocapitalize="none"
                        spellcheck="false"
                        required
                        autofocus=!is_again
                    />
                    <label class="field-label" for="password">"Password"</label>
                    <input
                        id="password"
                        class="field"
                        type="password"
                        name="password"
                        autocomplete="current-password"
                        required
                        autofocus=is_again
                    />
                    {submit_button("Sign in")}
                </form>
                {passkey}
                {elsewhere}
                <details class="forgotten">
                    <summary>"Forgot your password?"</summary>
                    <p class="soft">
                        "Ask an administrator for a link to set a new one. They can also reset your second factor. If you are the only administrator, run "
                        <code>"docket user passwd"</code> " on the server."
                    </p>
                </details>
            </div>
        </main>
    }
}
