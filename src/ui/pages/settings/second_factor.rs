//! The second factor on `/account`: switching it on with an authenticator, its recovery codes, switching it off.

use leptos::server_fn::ServerFn;
use qrcode::{Color, QrCode};

use super::notice;
use crate::api::second_factor::{
    BeginSecondFactor, ConfirmSecondFactor, RemoveSecondFactor, RenewRecoveryCodes,
};
use crate::model::settings::Told;
use crate::server::auth::second_factor::State;
use crate::ui::charts::number::counted;
use crate::ui::markup::{Markup, markup};

/// Light modules around a QR code, without which it is not found.
const QUIET_ZONE: usize = 4;

pub fn drawn(state: &State, told: Option<&Told>) -> Markup {
    let forms = [
        BeginSecondFactor::PATH,
        ConfirmSecondFactor::PATH,
        RenewRecoveryCodes::PATH,
        RemoveSecondFactor::PATH,
    ];
    let content = match state {
        State::NoPassword => markup(
            r#"<p class="soft">You sign in elsewhere, and a second factor is asked for there.</p>"#,
            &[],
        ),
        State::Off => off(),
        State::Proposed { secret, address } => proposed(secret, address),
        State::On { codes_left } => on(*codes_left),
    };
    markup(
        r#"<section class="group narrow" aria-labelledby="second-factor"><h2 id="second-factor">Second factor</h2>{}{}</section>"#,
        &[&notice::about(told, &forms), &content],
    )
}

fn off() -> Markup {
    markup(
        r#"<p class="soft">Off. With it, signing in asks for your password and a code of six digits, which an authenticator on your phone shows: who learns your password cannot get in.</p><form class="stack" method="post" action="{}">{}<button class="button" type="submit">Set up</button></form>"#,
        &[&BeginSecondFactor::PATH, &password_field("begin-password")],
    )
}

fn proposed(secret: &str, address: &str) -> Markup {
    markup(
        r#"<p>Scan this with your authenticator, or enter the secret there by hand. Then enter the code it shows; nothing changes before that.</p>{}<dl class="facts"><div><dt>Secret</dt><dd><code class="secret">{}</code></dd></div><div><dt>Address</dt><dd><code class="secret">{}</code></dd></div></dl><form class="stack" method="post" action="{}">{}<button class="button button-primary" type="submit">Switch on</button></form>"#,
        &[
            &qr_code(address),
            &secret,
            &address,
            &ConfirmSecondFactor::PATH,
            &code_field("confirm-code", "Code"),
        ],
    )
}

fn on(codes_left: i64) -> Markup {
    let left = counted(codes_left.unsigned_abs(), "recovery code is", "recovery codes are");
    markup(
        r#"<p>On: signing in asks for a code. {} left.</p><details class="confirm"><summary class="button">New recovery codes</summary><form class="stack" method="post" action="{}">{}<button class="button" type="submit">Make ten new codes</button></form></details><details class="confirm"><summary class="button">Switch off</summary><form class="stack" method="post" action="{}">{}{}<button class="button" type="submit">Switch off</button></form></details>"#,
        &[
            &left,
            &RenewRecoveryCodes::PATH,
            &code_field("renew-code", "Code"),
            &RemoveSecondFactor::PATH,
            &password_field("remove-password"),
            &code_field("remove-code", "Code, or a recovery code"),
        ],
    )
}

fn password_field(id: &str) -> Markup {
    markup(
        r#"<label class="field-label" for="{}">Password</label><input id="{}" class="field" type="password" name="password" autocomplete="current-password" required>"#,
        &[&id, &id],
    )
}

fn code_field(id: &str, label: &str) -> Markup {
    markup(
        r#"<label class="field-label" for="{}">{}</label><input id="{}" class="field" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="40" required>"#,
        &[&id, &label, &id],
    )
}

/// `text` for a camera: dark on light in either theme. Nothing where it does not fit; the text itself stands below.
fn qr_code(text: &str) -> Markup {
    let Ok(code) = QrCode::new(text) else { return Markup::default() };
    let (width, size) = (code.width(), code.width() + 2 * QUIET_ZONE);
    let dark = code.to_colors().into_iter().enumerate().filter(|(_, module)| *module == Color::Dark);
    let path: String = dark
        .map(|(at, _)| format!("M{} {}h1v1h-1z", at % width + QUIET_ZONE, at / width + QUIET_ZONE))
        .collect();
    let (view, size) = (format!("0 0 {size} {size}"), size.to_string());
    markup(
        r##"<svg role="img" aria-label="QR code of the secret" width="200" height="200" viewBox="{}" shape-rendering="crispEdges"><rect width="{}" height="{}" fill="#fff"/><path d="{}" fill="#000"/></svg>"##,
        &[&view, &size, &size, &path],
    )
}
