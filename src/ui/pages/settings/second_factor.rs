//! The second factor on the account page: setting up, confirming with a first code, and removing.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use qrcode::{Color, QrCode};

use crate::ui::charts::number::counted;
use crate::ui::components::form::{CodeField, Hidden, code_field, confirm, post_form, submit_button};
use crate::ui::components::passkeys::proof_form;
use crate::ui::islands::buttons;
use crate::ui::pages::outcome::{copy_secret, outcome_with};
use crate::ui::pages::request;
use api::passkeys::RequestProof;
use api::second_factor::{BeginSecondFactor, ConfirmSecondFactor, RemoveSecondFactor, RenewRecoveryCodes};
use model::account::{Account, SecondFactor};
use model::links;
use model::passkey::Adding;

/// Light modules around a QR code, which scanners need.
const QUIET_ZONE: usize = 4;

const FORMS: [&str; 4] =
    [BeginSecondFactor::PATH, ConfirmSecondFactor::PATH, RenewRecoveryCodes::PATH, RemoveSecondFactor::PATH];

/// The outcome of the last form, if it was one of this section. Call it before the first await.
pub(super) fn last_outcome() -> Option<AnyView> {
    FORMS
        .iter()
        .find_map(|form| request::flash(form))
        .and_then(|message| outcome_with(&message, recovery_codes))
}

/// The recovery codes, separated by spaces, as a list to store.
pub(super) fn recovery_codes(codes: &str) -> AnyView {
    let lines = codes.split(' ').collect::<Vec<_>>().join("\n");
    let list = codes.split(' ').map(|code| view! { <li><code class="secret">{code.to_owned()}</code></li> });
    let list = list.collect_view();
    let file = links::text_file(&format!("Recovery codes of Docket. Each signs you in once.\n\n{lines}\n"));
    view! {
        <ol class="recovery-codes" aria-label="Recovery codes">{list}</ol>
        <div class="actions">
            {copy_secret(lines)} <a class="button" href=file download="docket-recovery-codes.txt">"Download"</a>
            <button type="button" class="button js-only" data-button=buttons::PRINT>"Print"</button>
        </div>
    }
    .into_any()
}

/// What the person can confirm with, besides the password, before they add or remove a second factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Confirming {
    pub(super) authenticator: bool,
    pub(super) passkey: bool,
    /// Whether browsers support passkeys for the public URL.
    pub(super) usable: bool,
}

impl Confirming {
    pub(super) fn of(account: &Account) -> Self {
        Self {
            authenticator: matches!(account.second_factor, SecondFactor::On { .. }),
            passkey: !account.passkeys.list.is_empty(),
            usable: matches!(account.passkeys.adding, Adding::Possible { .. }),
        }
    }

    /// The fields of a form: the password, and a code while a second factor is on.
    pub(super) fn fields(self, form: &str) -> AnyView {
        let password = password_field(format!("{form}-password"));
        if !self.authenticator && !self.passkey {
            return password;
        }
        let label = if self.authenticator { "Code, or a recovery code" } else { "Recovery code" };
        let of_passkey = self.can_use_passkey().then(|| {
            view! { <span data-passkeys="with" hidden=true>" Leave it empty to use your passkey instead."</span> }
        });
        let hint = view! { "Confirms that it is you, because your second factor is on." {of_passkey} };
        let code = CodeField {
            required: !self.can_use_passkey(),
            hint: Some(hint.into_any()),
            ..CodeField::new(format!("{form}-code"), label)
        };
        view! {
            {password}
            {code_field(code)}
        }
        .into_any()
    }

    /// A form with these fields and one button.
    pub(super) fn form(
        self,
        form: &str,
        action: &'static str,
        hidden: Hidden,
        button: &'static str,
    ) -> AnyView {
        let content = view! {
            {self.fields(form)}
            <button class="button" type="submit">{button}</button>
        };
        match self.can_use_passkey() {
            true => proof_form(RequestProof::PATH, action, hidden, content),
            false => post_form("stack", action, hidden, content).into_any(),
        }
    }

    fn can_use_passkey(self) -> bool {
        self.passkey && self.usable
    }
}

/// With a passkey the password alone does not suffice, even without an authenticator app.
pub(super) fn second_factor(
    state: SecondFactor,
    confirming: Confirming,
    outcome: Option<AnyView>,
) -> AnyView {
    let content = match state {
        SecondFactor::NoPassword => {
            view! { <p class="soft">"Another service signs you in. It requires a second factor if it needs one."</p> }.into_any()
        }
        SecondFactor::Off => off(confirming),
        SecondFactor::Proposed { secret, address } => proposed(secret, address),
        SecondFactor::On { codes_left } => on(codes_left, confirming),
    };
    view! {
        <section class="group narrow" aria-labelledby="second-factor">
            <h2 id="second-factor">"Second factor"</h2>
            {outcome}
            {content}
        </section>
    }
    .into_any()
}

fn off(confirming: Confirming) -> AnyView {
    let state = match confirming.passkey {
        true => {
            "No authenticator app is set up. With one, you can enter a six-digit code instead of a passkey after your password."
        }
        false => {
            "Off. When it is on, signing in needs your password and a six-digit code from an authenticator app."
        }
    };
    view! {
        <p class="soft">{state}</p>
        {confirming.form("begin", BeginSecondFactor::PATH, Vec::new(), "Set up")}
    }
    .into_any()
}

fn proposed(secret: String, address: String) -> AnyView {
    let fields = view! { {code_field(CodeField::new("confirm-code", "Code"))} {submit_button("Switch on")} };
    view! {
        <p>
            "Scan this with your authenticator app, or enter the secret by hand. Then enter the code it shows; nothing changes before that."
        </p>
        {qr_code(&address)}
        <dl class="facts">
            <div>
                <dt>"Secret"</dt>
                <dd><code class="secret">{secret}</code></dd>
            </div>
            <div>
                <dt>"Address"</dt>
                <dd><code class="secret">{address}</code></dd>
            </div>
        </dl>
        {post_form("stack", ConfirmSecondFactor::PATH, Vec::new(), fields)}
    }
    .into_any()
}

fn on(codes_left: i64, confirming: Confirming) -> AnyView {
    let left = counted(codes_left.unsigned_abs(), "recovery code is", "recovery codes are");
    // New recovery codes need a code, not a passkey.
    let by_code = Confirming { passkey: false, ..confirming };
    let renew = by_code.form("renew", RenewRecoveryCodes::PATH, Vec::new(), "Create ten new codes");
    let remove = confirming.form("remove", RemoveSecondFactor::PATH, Vec::new(), "Switch off");
    view! {
        <p>{format!("On: signing in needs a code. {left} left.")}</p>
        {confirm("New recovery codes", renew)}
        {confirm("Switch off", remove)}
    }
    .into_any()
}

fn password_field(id: String) -> AnyView {
    view! {
        <label class="field-label" for=id.clone()>"Password"</label>
        <input id=id class="field" type="password" name="password" autocomplete="current-password" required />
    }
    .into_any()
}

/// A QR code of `text`, dark on light in both themes. `None` if it does not fit; the text itself is shown below.
fn qr_code(text: &str) -> Option<AnyView> {
    let code = QrCode::new(text).ok()?;
    let (width, size) = (code.width(), code.width() + 2 * QUIET_ZONE);
    let dark = code.to_colors().into_iter().enumerate().filter(|(_, module)| *module == Color::Dark);
    let path: String = dark
        .map(|(at, _)| format!("M{} {}h1v1h-1z", at % width + QUIET_ZONE, at / width + QUIET_ZONE))
        .collect();
    let code = view! {
        <svg
            role="img"
            aria-label="QR code of the secret"
            width="200"
            height="200"
            viewBox=format!("0 0 {size} {size}")
            shape-rendering="crispEdges"
        >
            <rect width=size.to_string() height=size.to_string() fill="#fff" />
            <path d=path fill="#000" />
        </svg>
    };
    Some(code.into_any())
}
