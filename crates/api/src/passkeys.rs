//! Passkeys: signing in with one, and those of the caller. A page's script requests the options, passes them to the browser,
//! and lets the form post the browser's result as `credential`, in JSON. Forms of the account page return to it.

use leptos::prelude::*;

use model::error::AppError;
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links::ACCOUNT;
#[cfg(feature = "ssr")]
use web::auth::{guard, sign_in, step_cookie::challenge};
#[cfg(feature = "ssr")]
use web::request::flash;

#[cfg(feature = "ssr")]
const RECOVERY_ADVICE: &str = "Keep these recovery codes where you can find them without your device. Each replaces a passkey once. They are shown only once.";

/// The options for `navigator.credentials.get`, in JSON. `second`: for the second step of a sign-in, after the password.
#[server(name = RequestPasskey, prefix = "/api", endpoint = "session/passkey-options")]
pub async fn request_passkey(second: Option<bool>) -> Result<String, AppError> {
    sign_in::request_passkey(second.unwrap_or_default()).await
}

/// Signs in with a passkey, and redirects as the sign-in with a password does.
#[server(name = UsePasskey, prefix = "/api", endpoint = "session/passkey")]
pub async fn use_passkey(credential: String, next: Option<String>) -> Result<(), AppError> {
    let location = sign_in::with_passkey(&credential, next.as_deref()).await?;
    leptos_axum::redirect(&location);
    Ok(())
}

/// The options for `navigator.credentials.get` with an existing passkey of the caller, in JSON: its response is the proof
/// for adding or removing a second factor.
#[server(name = RequestProof, prefix = "/api", endpoint = "passkeys/proof-options")]
pub async fn request_proof(password: String) -> Result<String, AppError> {
    let (caller, state) = guard::of::<RequestProof>()?;
    let options = state.passkeys.begin_proof(caller.authorization(), password).await?;
    Ok(challenge::store_challenge(options, &state.public_url))
}

/// The options for `navigator.credentials.create`, in JSON. A caller with a second factor also sends a code, a recovery
/// code, or the response of an existing passkey as `proof`.
#[server(prefix = "/api", endpoint = "passkeys/begin")]
pub async fn begin_passkey(
    password: String,
    code: Option<String>,
    proof: Option<String>,
) -> Result<String, AppError> {
    let (caller, state) = guard::of::<BeginPasskey>()?;
    let fields = challenge::proof_fields(password, code, proof, &state.public_url);
    let options = state.own_account.begin_passkey(&caller, fields).await?;
    Ok(challenge::store_challenge(options, &state.public_url))
}

/// Adds the passkey that the browser created. Without recovery codes, returns new ones, which are shown once.
#[server(prefix = "/api", endpoint = "passkeys/add")]
pub async fn add_passkey(name: String, credential: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<AddPasskey>()?;
    let token = challenge::take_token(&state.public_url);
    let added = state.passkeys.add(caller.authorization(), &token, &name, &credential).await;
    let confirmation = added.map(|codes| {
        let sentence =
            "The passkey was added. It signs you in alone; with your password, a second factor is needed.";
        match codes.is_empty() {
            true => Confirmation::new(sentence),
            false => Confirmation::new(format!("{sentence} {RECOVERY_ADVICE}")).with_secret(codes.join(" ")),
        }
    });
    flash::respond(ACCOUNT, confirmation)
}

#[server(prefix = "/api", endpoint = "passkeys/rename")]
pub async fn rename_passkey(passkey: String, name: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<RenamePasskey>()?;
    let renamed = state.passkeys.rename(caller.authorization(), &passkey.parse()?, &name).await;
    flash::respond(ACCOUNT, renamed.map(|()| Confirmation::new("The passkey was renamed.")))
}

/// Removes a passkey, with a code, a recovery code, or the response of a passkey as `credential`.
#[server(prefix = "/api", endpoint = "passkeys/remove")]
pub async fn remove_passkey(
    passkey: String,
    password: String,
    code: Option<String>,
    credential: Option<String>,
) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<RemovePasskey>()?;
    let fields = challenge::proof_fields(password, code, credential, &state.public_url);
    let removed = state.own_account.remove_passkey(&caller, &passkey.parse()?, fields).await;
    let confirmation = removed.map(|still_on| match still_on {
        true => Confirmation::new(
            "The passkey was removed. It no longer signs you in; remove it from your device too.",
        ),
        false => {
            Confirmation::new("The passkey was removed. From now on, your password is enough to sign in.")
        }
    });
    flash::respond(ACCOUNT, confirmation)
}
