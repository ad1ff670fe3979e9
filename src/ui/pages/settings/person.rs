//! `/admin/users/:person`: what administrators can change about a person. Plain forms.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::access_fields::{Choice, access_fields, unknown};
use super::users::{FORMS, state};
use crate::ui::components::form::{confirm, post_form, submit_button};
use crate::ui::components::time::ahead;
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::users::{
    ChangePerson, CreatePasswordLink, DisablePerson, EnablePerson, ReleaseInvitation, RenewInvitation,
    ResetSecondFactor, SignPersonOut, WithdrawInvitation, get_person,
};
use model::links;
use model::people::{AccountState, Person};
use model::user::Project;

#[component]
pub fn PersonPage() -> impl IntoView {
    let (user, outcome) = (request::param("person"), outcome_of(&FORMS));
    page(async move {
        let managed = get_person(user).await?;
        let person = &managed.person;
        let back = view! { <a href=links::USERS>"People"</a> };
        let is_invited = !matches!(person.state, AccountState::Active | AccountState::Disabled);
        let state = state(person.state);
        Ok(view! {
            {page_head(&person.name, view! { {back} {format!(" · {state}")} }, ())}
            {outcome}
            {role_and_projects(person, &managed.projects)}
            {if is_invited { invitation(person) } else { sign_in(person) }}
            {(!is_invited).then(|| account(person))}
        }
        .into_any())
    })
}

fn role_and_projects(person: &Person, projects: &[Project]) -> AnyView {
    let choice = Choice {
        role: person.role.as_str(),
        access: if person.projects.is_none() { "all" } else { "selected" },
        chosen: person.projects.iter().flatten().map(String::as_str).collect(),
    };
    let unknown: Vec<&str> = unknown(person, projects).collect();
    let fields = view! {
        {access_fields("person", &choice, projects, &unknown, person.group_projects.is_some())}
        {submit_button("Save")}
        <p class="hint">"They have to sign in again."</p>
    };
    view! {
        <section class="group narrow">
            <h2>"Role and projects"</h2>
            {post_form("stack", ChangePerson::PATH, of(person), fields)}
        </section>
    }
    .into_any()
}

fn invitation(person: &Person) -> AnyView {
    let is_on_hold = person.state == AccountState::InvitationOnHold;
    view! {
        <section class="group narrow">
            <h2>"Invitation"</h2>
            <div class="actions">
                {is_on_hold.then(|| button(person, ReleaseInvitation::PATH, "Release invitation"))}
                {button(person, RenewInvitation::PATH, "Create new link")}
                {button(person, WithdrawInvitation::PATH, "Withdraw invitation")}
            </div>
        </section>
    }
    .into_any()
}

/// How the person signs in, and how an administrator can help.
fn sign_in(person: &Person) -> AnyView {
    let is_active = person.state == AccountState::Active;
    let content = if person.is_you {
        view! {
            <p>
                "This is you. Change your password and your second factor on your " <a href=links::ACCOUNT>"account page"</a>
                "."
            </p>
        }
        .into_any()
    } else {
        view! {
            {(is_active && person.has_password).then(|| password_link(person))}
            {(!person.has_password).then(|| view! { <p>"They have no password in Docket: a provider or a proxy signs them in."</p> })}
            {person.has_second_factor.then(|| second_factor(person))}
            {(!person.has_second_factor).then(|| view! { <p>"They have no second factor."</p> })}
        }
        .into_any()
    };
    view! {
        <section class="group narrow">
            <h2>"Sign-in"</h2>
            <div class="stack">
                {content}
                {is_active.then(|| button(person, SignPersonOut::PATH, "Sign out everywhere"))}
            </div>
        </section>
    }
    .into_any()
}

fn password_link(person: &Person) -> AnyView {
    let name = person.name.clone();
    let there = person.password_link_until.map(|until| {
        view! { <p>"A link to set a new password was created; it expires " {ahead(until)} ". Another one replaces it."</p> }
    });
    let content = view! {
        <p>
            "Create a link with which " <bdi>{name}</bdi>
            " sets a new password? Check that the request came from them. The current password works until the link is used; then they are signed out everywhere."
        </p>
        <button class="button button-primary" type="submit">"Create link"</button>
    };
    let form = post_form("stack", CreatePasswordLink::PATH, of(person), content);
    view! {
        {there}
        {confirm("Create link for a new password", form)}
    }
    .into_any()
}

fn second_factor(person: &Person) -> AnyView {
    let name = person.name.clone();
    let content = view! {
        <p>
            "Remove the authenticator, the passkeys and the recovery codes of " <bdi>{name}</bdi>
            "? Check that the request came from them. They are signed out everywhere, and sign in with the password alone until they set up a new second factor."
        </p>
        <button class="button button-primary" type="submit">"Remove second factor"</button>
    };
    confirm("Reset second factor", post_form("stack", ResetSecondFactor::PATH, of(person), content))
}

fn account(person: &Person) -> AnyView {
    let button = match person.state {
        AccountState::Disabled => button(person, EnablePerson::PATH, "Enable"),
        _ => button(person, DisablePerson::PATH, "Disable"),
    };
    view! {
        <section class="group narrow">
            <h2>"Account"</h2>
            <div class="stack">
                {button}
                <p class="hint">"A disabled person cannot sign in. What they queued waits until an administrator decides."</p>
            </div>
        </section>
    }
    .into_any()
}

fn of(person: &Person) -> Vec<(&'static str, String)> {
    vec![("user", person.id.clone())]
}

fn button(person: &Person, endpoint: &'static str, label: &'static str) -> AnyView {
    post_form("", endpoint, of(person), view! { <button class="button" type="submit">{label}</button> })
        .into_any()
}
