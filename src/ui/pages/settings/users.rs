//! `/admin/users`: who may use Docket, with their roles and projects.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::access_fields::{Choice, access_fields, not_configured, unknown};
use crate::ui::charts::number::counted;
use crate::ui::components::form::{USERNAME_PATTERN, USERNAME_RULE, post_form, submit_button};
use crate::ui::components::table::{ACTIONS, table};
use crate::ui::components::time::ago;
use crate::ui::pages::outcome::{outcome, outcome_of};
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::users::{
    CancelPrompts, ChangePerson, CreatePasswordLink, DisablePerson, EnablePerson, InvitePerson,
    ReleaseInvitation, ReleasePrompts, RenewInvitation, ResetSecondFactor, SignPersonOut, WithdrawInvitation,
    list_people,
};
use model::flash::FlashMessage;
use model::links;
use model::people::{AccountState, Person};
use model::user::{Project, Role};

/// The forms about a person. Their outcomes are on the person's page, or on the list if the person no longer exists.
pub(super) const FORMS: [&str; 11] = [
    CancelPrompts::PATH,
    ChangePerson::PATH,
    CreatePasswordLink::PATH,
    DisablePerson::PATH,
    EnablePerson::PATH,
    ReleaseInvitation::PATH,
    ReleasePrompts::PATH,
    RenewInvitation::PATH,
    ResetSecondFactor::PATH,
    SignPersonOut::PATH,
    WithdrawInvitation::PATH,
];

#[component]
pub fn Users() -> impl IntoView {
    let (of_list, invited) = (outcome_of(&FORMS), request::flash(InvitePerson::PATH));
    let head = page_head("People", "Who can use Docket, and what each person can do and see", ());
    let content = page(async move {
        let listed = list_people().await?;
        let rows = listed.people.iter().map(|person| row(person, &listed.projects)).collect_view();
        let heads = ["Name", "Role", "Projects", "Last seen", "State", ACTIONS];
        Ok(view! {
            {of_list}
            {table("People", &heads, rows)}
            {invitation(invited.as_ref(), &listed.projects)}
        }
        .into_any())
    });
    view! { {head} {content} }
}

fn row(person: &Person, projects: &[Project]) -> AnyView {
    let you = person.is_you.then(|| view! { <span class="faint">"you"</span> });
    let state = state(person.state);
    let factor = if person.has_second_factor { ", second factor" } else { "" };
    view! {
        <tr>
            <th scope="row">{person.name.clone()} " " {you}</th>
            <td data-label="Role">{person.role.as_str()}</td>
            <td data-label="Projects">{seen_projects(person, projects)}</td>
            <td data-label="Last seen">{person.last_seen.map_or_else(|| "Never".into_any(), |at| ago(at).into_any())}</td>
            <td data-label="State"><span>{format!("{state}{factor}")} {prompts_on_hold(person)}</span></td>
            <td>
                <div class="actions">
                    <a class="button" href=links::person(&person.id)>
                        "Manage" <span class="visually-hidden">" " {person.name.clone()}</span>
                    </a>
                </div>
            </td>
        </tr>
    }
    .into_any()
}

pub(super) fn state(state: AccountState) -> &'static str {
    match state {
        AccountState::Active => "Active",
        AccountState::Disabled => "Disabled",
        AccountState::Invited => "Invited",
        AccountState::InvitationOver => "Invited (link expired)",
        AccountState::InvitationOnHold => {
            "Invitation on hold: its author was disabled or is no longer an administrator"
        }
    }
}

/// The prompts on hold, which need a decision because the person may no longer start jobs.
fn prompts_on_hold(person: &Person) -> Option<AnyView> {
    let count = person.prompts_on_hold;
    let user = || vec![("user", person.id.clone())];
    let button = |endpoint: &'static str, label: &'static str| {
        let of = format!("{label}: prompts of {}", person.name);
        let button = view! { <button class="button" type="submit" aria-label=of>{label}</button> };
        post_form("", endpoint, user(), button)
    };
    (count > 0).then(|| {
        view! {
            <span>{format!(", {} on hold", counted(u64::from(count), "queued prompt", "queued prompts"))}</span>
            <span class="actions">
                {button(ReleasePrompts::PATH, "Release")} {button(CancelPrompts::PATH, "Cancel")}
            </span>
        }
        .into_any()
    })
}

fn seen_projects(person: &Person, projects: &[Project]) -> String {
    let of_groups = person.group_projects.as_deref();
    let sees_all = of_groups == Some("*") || person.projects.is_none();
    if sees_all || person.role == Role::Admin {
        return "All".to_owned();
    }
    let given = person.projects.iter().flatten().map(String::as_str);
    let ids: Vec<&str> = given.chain(of_groups.unwrap_or_default().split(',')).collect();
    let named = projects.iter().filter(|project| ids.contains(&project.id.as_str()));
    let names = named.map(|project| project.name.clone());
    let names: Vec<String> = names.chain(unknown(person, projects).map(not_configured)).collect();
    if names.is_empty() { "None".to_owned() } else { names.join(", ") }
}

/// The form for an invitation, with the previous input if that was refused.
fn invitation(last: Option<&FlashMessage>, projects: &[Project]) -> AnyView {
    let typed = |name| last.map_or("", |last| last.typed(name));
    let choice = Choice {
        role: Some(typed("role")).filter(|role| !role.is_empty()).unwrap_or(Role::Viewer.as_str()),
        access: Some(typed("access")).filter(|access| !access.is_empty()).unwrap_or("all"),
        chosen: last.map(|last| last.list_typed("projects")).unwrap_or_default(),
    };
    let fields = view! {
        <label class="field-label" for="name">"Username"</label>
        <input
            id="name"
            class="field"
            name="name"
            value=typed("name").to_owned()
            maxlength="64"
            pattern=USERNAME_PATTERN
            title=USERNAME_RULE
            aria-describedby="name-hint"
            required
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
        />
        <p class="hint" id="name-hint">{USERNAME_RULE}</p>
        {access_fields("new", &choice, projects, &[], false)}
        {submit_button("Create invite link")}
        <p class="hint">"They choose their own password. The link expires after 48 hours."</p>
    };
    view! {
        <section class="group narrow">
            <h2>"Invite a person"</h2>
            {last.and_then(outcome)}
            {post_form("stack", InvitePerson::PATH, Vec::new(), fields)}
        </section>
    }
    .into_any()
}
