//! The passkeys on the account page: adding, renaming and removing.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::second_factor::{Confirming, recovery_codes};
use crate::ui::charts::number::counted;
use crate::ui::components::form::{post_form, submit_button};
use crate::ui::components::passkeys::{Ceremony, SCRIPT, passkey_form, without_passkeys};
use crate::ui::components::table::{ACTIONS, table};
use crate::ui::components::time::ago;
use crate::ui::pages::outcome::outcome_with;
use crate::ui::pages::request;
use api::passkeys::{AddPasskey, BeginPasskey, RemovePasskey, RenamePasskey, RequestProof};
use model::passkey::{Adding, Passkey, Passkeys};

const FORMS: [&str; 3] = [AddPasskey::PATH, RenamePasskey::PATH, RemovePasskey::PATH];

/// The outcome of the last form, if it was one of this section. Call it before the first await.
pub(super) fn last_outcome() -> Option<AnyView> {
    FORMS
        .iter()
        .find_map(|form| request::flash(form))
        .and_then(|message| outcome_with(&message, recovery_codes))
}

pub(super) fn passkeys(passkeys: Passkeys, confirming: Confirming, outcome: Option<AnyView>) -> AnyView {
    let heads = ["Name", "Added", "Last used", ACTIONS];
    let list = (!passkeys.list.is_empty()).then(|| {
        let rows = passkeys.list.iter().map(|passkey| row(passkey, confirming)).collect_view();
        table("Passkeys", &heads, rows)
    });
    let codes = passkeys.codes_left.map(|left| {
        let left = counted(left.unsigned_abs(), "recovery code is", "recovery codes are");
        view! {
            <p>
                {format!("Signing in with your password needs a passkey or a recovery code. {left} left.")}
            </p>
        }
    });
    view! {
        <section class="group" aria-labelledby="passkeys">
            <h2 id="passkeys">"Passkeys"</h2>
            {outcome}
            <p class="soft">
                "A passkey is stored on your phone, computer or security key, which checks that it is you. It signs you in without a password, or replaces the code after your password."
            </p>
            {list}
            {codes}
            {adding(passkeys.adding, confirming)}
        </section>
    }
    .into_any()
}

fn row(passkey: &Passkey, confirming: Confirming) -> AnyView {
    let used = passkey.last_used.map_or_else(|| "Never".into_any(), |at| ago(at).into_any());
    view! {
        <tr>
            <th scope="row">{passkey.name.clone()}</th>
            <td data-label="Added">{ago(passkey.added)}</td>
            <td data-label="Last used">{used}</td>
            <td>
                <div class="actions">{rename(passkey)} {remove(passkey, confirming)}</div>
            </td>
        </tr>
    }
    .into_any()
}

fn rename(passkey: &Passkey) -> AnyView {
    let id = format!("name-{}", passkey.id);
    let fields = view! {
        <label class="field-label" for=id.clone()>"New name"</label>
        <input id=id class="field" name="name" value=passkey.name.clone() required maxlength="64" autocomplete="off" />
        <button class="button" type="submit">"Rename passkey"</button>
    };
    disclosed(
        "Rename",
        &passkey.name,
        post_form("stack", RenamePasskey::PATH, vec![("passkey", passkey.id.clone())], fields),
    )
}

fn remove(passkey: &Passkey, confirming: Confirming) -> AnyView {
    let warning = passkey.is_last_factor.then(|| {
        view! {
            <p class="hint">
                "It is your only second factor. Without it, your password is enough to sign in."
            </p>
        }
    });
    let hidden = vec![("passkey", passkey.id.clone())];
    let form =
        confirming.form(&format!("remove-{}", passkey.id), RemovePasskey::PATH, hidden, "Remove passkey");
    disclosed(
        "Remove",
        &passkey.name,
        view! {
            {warning}
            {form}
        },
    )
}

/// A button that opens `content`. Its accessible name includes the passkey's name.
fn disclosed(action: &'static str, name: &str, content: impl IntoView) -> AnyView {
    view! {
        <details class="confirm">
            <summary class="button">{action} <span class="visually-hidden">": " {name.to_owned()}</span></summary>
            {content.into_view()}
        </details>
    }
    .into_any()
}

fn adding(adding: Adding, confirming: Confirming) -> AnyView {
    match adding {
        Adding::Possible { suggested } => form(suggested, confirming),
        Adding::NoPassword => {
            view! { <p class="soft">"Another service signs you in. Add a passkey there, if it has them."</p> }
                .into_any()
        }
        Adding::NoAddress { address } => view! {
            <p class="soft">
                {format!("Passkeys need an https address with a host name, and Docket’s is {address}. Ask the administrator of this server (setting DOCKET_PUBLIC_URL).")}
            </p>
        }
        .into_any(),
    }
}

fn form(suggested: String, confirming: Confirming) -> AnyView {
    let proof = confirming.passkey.then_some(RequestProof::PATH);
    let hidden = if confirming.passkey { vec![("proof", String::new())] } else { Vec::new() };
    let fields = view! {
        <label class="field-label" for="passkey-name">"Name"</label>
        <input
            id="passkey-name"
            class="field"
            name="name"
            value=suggested
            required
            maxlength="64"
            autocomplete="off"
            aria-describedby="passkey-name-hint"
        />
        <p class="hint" id="passkey-name-hint">"Shown in this list."</p>
        {confirming.fields("passkey")}
        {submit_button("Add a passkey")}
    };
    view! {
        <div class="narrow">
            {passkey_form(Ceremony::Create, BeginPasskey::PATH, AddPasskey::PATH, hidden, proof, fields)}
        </div>
        {without_passkeys("Adding a passkey needs JavaScript, and a browser that has passkeys.")}
        <script type="module" src=SCRIPT nonce=use_nonce()></script>
    }
    .into_any()
}
