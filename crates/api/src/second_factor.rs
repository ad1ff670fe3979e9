//! The caller's own second factor. Forms return to the account page.

use leptos::prelude::*;

use model::error::AppError;
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links::ACCOUNT;
#[cfg(feature = "ssr")]
use web::auth::{guard, step_cookie::challenge};
#[cfg(feature = "ssr")]
use web::request::flash;

#[cfg(feature = "ssr")]
const RECOVERY_ADVICE: &str = "Keep these recovery codes where you can find them without your authenticator. Each signs you in once. They are shown only once.";

/// Proposes a secret for the caller's authenticator. It takes effect once it is confirmed. A caller with a passkey also
/// sends a recovery code, or the passkey's response as `credential`.
#[server(prefix = "/api", endpoint = "second-factor/begin")]
pub async fn begin_second_factor(
    password: String,
    code: Option<String>,
    credential: Option<String>,
) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<BeginSecondFactor>()?;
    let fields = challenge::proof_fields(password, code, credential, &state.public_url);
    let begun = state.own_account.begin_authenticator(&caller, fields).await;
    let confirmation = begun
        .map(|()| Confirmation::new("Add the secret to your authenticator, then enter the code it shows."));
    flash::respond(ACCOUNT, confirmation)
}

/// Confirms the secret: from now on, signing in asks for a code. Returns the recovery codes, which are shown once.
#[server(prefix = "/api", endpoint = "second-factor/confirm")]
pub async fn confirm_second_factor(code: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<ConfirmSecondFactor>()?;
    let confirmed = state.second_factors.confirm(caller.authorization(), &code).await;
    let confirmation = confirmed.map(|codes| {
        Confirmation::new(format!("From now on, signing in needs a code. {RECOVERY_ADVICE}"))
            .with_secret(codes.join(" "))
    });
    flash::respond(ACCOUNT, confirmation)
}

/// Replaces the recovery codes. The new ones are shown once.
#[server(prefix = "/api", endpoint = "second-factor/renew")]
pub async fn renew_recovery_codes(password: String, code: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<RenewRecoveryCodes>()?;
    let factors = &state.second_factors;
    let renewed = factors.renew_codes(caller.authorization(), password, &code).await;
    let confirmation = renewed.map(|codes| {
        Confirmation::new(format!("Your old recovery codes no longer work. {RECOVERY_ADVICE}"))
            .with_secret(codes.join(" "))
    });
    flash::respond(ACCOUNT, confirmation)
}

/// Removes the authenticator, with a code, a recovery code, or the response of a passkey as `credential`.
#[server(prefix = "/api", endpoint = "second-factor/remove")]
pub async fn remove_second_factor(
    password: String,
    code: String,
    credential: Option<String>,
) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<RemoveSecondFactor>()?;
    let fields = challenge::proof_fields(password, Some(code), credential, &state.public_url);
    let removed = state.own_account.remove_authenticator(&caller, fields).await;
    let confirmation = removed.map(|still_on| match still_on {
        true => Confirmation::new("From now on, signing in needs your password and a passkey."),
        false => Confirmation::new("From now on, your password is enough to sign in."),
    });
    flash::respond(ACCOUNT, confirmation)
}
