//! People, for administrators. Plain forms return to the page of the person, or to the list. `access` is `all` or `selected`; `projects` is a comma-separated
//! list of the selected projects, and an empty one gives access to none.

use leptos::prelude::*;

use model::error::AppError;
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links::{self, USERS};
use model::people::{ManagedPerson, People};
#[cfg(feature = "ssr")]
use service::people::ProjectFields;
#[cfg(feature = "ssr")]
use service::response_size::shortened;
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::flash;

/// Everyone with an account or an invitation. `cursor`: `next` of an earlier part.
#[server(name = GetPeople, prefix = "/api", endpoint = "users/list")]
pub async fn get_people(cursor: Option<String>) -> Result<People, AppError> {
    shortened::people(list_people().await?, cursor.as_deref())
}

/// As [`get_people`], all at once for their page.
#[cfg(feature = "ssr")]
pub async fn list_people() -> Result<People, AppError> {
    let (caller, state) = guard::of::<GetPeople>()?;
    state.people.all(&caller).await
}

/// One person.
#[server(name = GetPerson, prefix = "/api", endpoint = "users/get")]
pub async fn get_person(user: String) -> Result<ManagedPerson, AppError> {
    let (caller, state) = guard::of::<GetPerson>()?;
    state.people.one(&caller, &user.parse()?).await
}

/// Invites a person; the `secret` in the response is a one-time link, shown once.
#[server(prefix = "/api", endpoint = "users/invite")]
pub async fn invite_person(
    name: String,
    role: String,
    access: Option<String>,
    projects: Option<String>,
) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<InvitePerson>()?;
    let projects = ProjectFields { access: access.as_deref(), selected: projects.as_deref() };
    let outcome = state.people.invite(&caller, &name, role.parse()?, projects).await;
    flash::respond(USERS, outcome)
}

/// Creates a new link for a person who has not accepted the invitation.
#[server(prefix = "/api", endpoint = "users/renew")]
pub async fn renew_invitation(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<RenewInvitation>()?;
    let outcome = state.people.renew(&caller, &user.parse()?).await;
    flash::respond(&links::person(&user), outcome)
}

/// Makes an invitation on hold valid again. Invitations are put on hold when their author is disabled or demoted.
#[server(prefix = "/api", endpoint = "users/release-invitation")]
pub async fn release_invitation(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<ReleaseInvitation>()?;
    let outcome = state.people.release_invitation(&caller, &user.parse()?).await;
    flash::respond(&links::person(&user), outcome)
}

/// Withdraws an invitation.
#[server(prefix = "/api", endpoint = "users/withdraw")]
pub async fn withdraw_invitation(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<WithdrawInvitation>()?;
    let outcome = state.people.withdraw(&caller, &user.parse()?).await;
    flash::respond(USERS, outcome)
}

/// Changes a person's role and projects, and ends their sessions.
#[server(prefix = "/api", endpoint = "users/change")]
pub async fn change_person(
    user: String,
    role: String,
    access: Option<String>,
    projects: Option<String>,
) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<ChangePerson>()?;
    let projects = ProjectFields { access: access.as_deref(), selected: projects.as_deref() };
    let outcome = state.people.change(&caller, &user.parse()?, role.parse()?, projects).await;
    flash::respond(&links::person(&user), outcome)
}

/// Disables a person, from their next request on.
#[server(prefix = "/api", endpoint = "users/disable")]
pub async fn disable_person(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<DisablePerson>()?;
    let outcome = state.people.disable(&caller, &user.parse()?).await;
    flash::respond(&links::person(&user), outcome)
}

/// Enables a person again.
#[server(prefix = "/api", endpoint = "users/enable")]
pub async fn enable_person(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<EnablePerson>()?;
    let outcome = state.people.enable(&caller, &user.parse()?).await;
    flash::respond(&links::person(&user), outcome)
}

/// Ends all sessions of a person.
#[server(prefix = "/api", endpoint = "users/sign-out")]
pub async fn sign_person_out(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<SignPersonOut>()?;
    let outcome = state.people.sign_out(&caller, &user.parse()?).await;
    flash::respond(&links::person(&user), outcome)
}

/// Releases a person's prompts on hold.
#[server(prefix = "/api", endpoint = "users/release-prompts")]
pub async fn release_prompts(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<ReleasePrompts>()?;
    let outcome = state.people.release_prompts(&caller, &user.parse()?).await;
    flash::respond(USERS, outcome)
}

/// Cancels a person's prompts on hold.
#[server(prefix = "/api", endpoint = "users/cancel-prompts")]
pub async fn cancel_prompts(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<CancelPrompts>()?;
    let outcome = state.people.cancel_prompts(&caller, &user.parse()?).await;
    flash::respond(USERS, outcome)
}

/// Creates a link with which a person sets a new password; the `secret` in the response is the link, shown once.
#[server(prefix = "/api", endpoint = "users/password-link")]
pub async fn create_password_link(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<CreatePasswordLink>()?;
    let outcome = state.people.create_password_link(&caller, &user.parse()?).await;
    flash::respond(&links::person(&user), outcome)
}

/// Removes the second factor of a person, and ends their sessions.
#[server(prefix = "/api", endpoint = "users/reset-second-factor")]
pub async fn reset_second_factor(user: String) -> Result<Confirmation, AppError> {
    let (caller, state) = guard::of::<ResetSecondFactor>()?;
    let outcome = state.people.reset_second_factor(&caller, &user.parse()?).await;
    flash::respond(&links::person(&user), outcome)
}
