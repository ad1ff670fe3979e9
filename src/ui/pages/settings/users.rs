//! `/admin/users`: who may use Docket, with their roles and projects.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::flash::FlashMessage;
use crate::api::users::{
    CancelPrompts, ChangePerson, DisablePerson, EnablePerson, InvitePerson, ReleaseInvitation,
    ReleasePrompts, RenewInvitation, SignPersonOut, WithdrawInvitation, list_people,
};
use crate::model::people::{AccountState, Person};
use crate::model::user::{Project, Role};
use crate::ui::charts::number::counted;
use crate::ui::components::form::{post_form, submit_button};
use crate::ui::components::table::{ACTIONS, table};
use crate::ui::components::time::ago;
use crate::ui::pages::outcome::{outcome, outcome_of};
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};

/// The forms whose outcome is shown above the list.
const OF_THE_LIST: [&str; 9] = [
    CancelPrompts::PATH,
    ChangePerson::PATH,
    DisablePerson::PATH,
    EnablePerson::PATH,
    ReleaseInvitation::PATH,
    ReleasePrompts::PATH,
    RenewInvitation::PATH,
    SignPersonOut::PATH,
    WithdrawInvitation::PATH,
];

const ROLES: [(Role, &str); 3] = [
    (Role::Viewer, "Viewer (read-only)"),
    (Role::Operator, "Operator (also starts jobs)"),
    (Role::Admin, "Administrator (also manages people and settings)"),
];

#[component]
pub fn Users() -> impl IntoView {
    let (of_list, invited) = (outcome_of(&OF_THE_LIST), request::flash(InvitePerson::PATH));
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
    let state = match person.state {
        AccountState::Active => "Active",
        AccountState::Disabled => "Disabled",
        AccountState::Invited => "Invited",
        AccountState::InvitationOver => "Invited (link expired)",
        AccountState::InvitationHeld => {
            "Invitation on hold: its author was disabled or is no longer an administrator"
        }
    };
    let factor = if person.has_second_factor { ", second factor" } else { "" };
    view! {
        <tr>
            <th scope="row">{person.name.clone()} " " {you}</th>
            <td data-label="Role">{person.role.as_str()}</td>
            <td data-label="Projects">{seen_projects(person, projects)}</td>
            <td data-label="Last seen">{person.last_seen.map_or_else(|| "Never".into_any(), |at| ago(at).into_any())}</td>
            <td data-label="State"><span>{format!("{state}{factor}")} {held_prompts(person)}</span></td>
            <td>{actions(person, projects)}</td>
        </tr>
    }
    .into_any()
}

/// The prompts that wait for a decision because the person may no longer start jobs.
fn held_prompts(person: &Person) -> Option<AnyView> {
    let count = person.held_prompts;
    let user = || vec![("user", person.id.clone())];
    let button = |endpoint: &'static str, label: &'static str| {
        let of = format!("{label}: prompts of {}", person.name);
        let button = view! { <button class="button" type="submit" aria-label=of>{label}</button> };
        post_form("", endpoint, user(), button).into_any()
    };
    (count > 0).then(|| {
        view! {
            <span>{format!(", {} held", counted(u64::from(count), "queued prompt", "queued prompts"))}</span>
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

/// The ids of projects that an administrator gave and that are not configured.
fn unknown<'a>(person: &'a Person, projects: &'a [Project]) -> impl Iterator<Item = &'a str> {
    let given = person.projects.iter().flatten().map(String::as_str);
    given.filter(|id| projects.iter().all(|project| project.id.as_str() != *id))
}

fn not_configured(id: &str) -> String {
    format!("{id} (not configured)")
}

/// The actions for a person, in a disclosure.
fn actions(person: &Person, projects: &[Project]) -> AnyView {
    let user = || vec![("user", person.id.clone())];
    let button = |endpoint: &'static str, label: &'static str| {
        post_form("", endpoint, user(), view! { <button class="button" type="submit">{label}</button> })
            .into_any()
    };
    let buttons = match person.state {
        AccountState::Active => {
            vec![button(SignPersonOut::PATH, "Sign out everywhere"), button(DisablePerson::PATH, "Disable")]
        }
        AccountState::Disabled => vec![button(EnablePerson::PATH, "Enable")],
        AccountState::Invited | AccountState::InvitationOver => vec![
            button(RenewInvitation::PATH, "Create new link"),
            button(WithdrawInvitation::PATH, "Withdraw invitation"),
        ],
        AccountState::InvitationHeld => vec![
            button(ReleaseInvitation::PATH, "Release invitation"),
            button(RenewInvitation::PATH, "Create new link"),
            button(WithdrawInvitation::PATH, "Withdraw invitation"),
        ],
    };
    let choice = Choice {
        role: person.role.as_str(),
        access: if person.projects.is_none() { "all" } else { "selected" },
        chosen: person.projects.iter().flatten().map(String::as_str).collect(),
    };
    let unknown: Vec<&str> = unknown(person, projects).collect();
    let fields = view! {
        {access_fields(&format!("of-{}", person.id), &choice, projects, &unknown, person.group_projects.is_some())}
        {submit_button("Save")}
        <p class="hint">"They have to sign in again."</p>
    };
    view! {
        <details class="manage">
            <summary class="button">"Manage" <span class="visually-hidden">" " {person.name.clone()}</span></summary>
            {post_form("stack", ChangePerson::PATH, user(), fields)}
            <div class="actions">{buttons}</div>
        </details>
    }
    .into_any()
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
            required
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
        />
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

/// What the fields of a form about a person's access show.
struct Choice<'a> {
    role: &'a str,
    /// `all` or `selected`.
    access: &'a str,
    /// The ids of the selected projects.
    chosen: Vec<&'a str>,
}

/// The role and the projects of a person. `of` makes the ids of one form unique; `unknown` are selected projects that are not configured.
fn access_fields(
    of: &str,
    choice: &Choice<'_>,
    projects: &[Project],
    unknown: &[&str],
    has_groups: bool,
) -> AnyView {
    let Choice { role, access, ref chosen } = *choice;
    let (legend, hint) = match has_groups {
        false => ("Project access", "Administrators always see all projects."),
        true => (
            "Project access besides their groups",
            "Their groups decide at each sign-in; what you select here is added. Administrators always see all projects.",
        ),
    };
    let radio = |value: &'static str, label: &'static str| {
        view! {
            <label class="choice">
                <input type="radio" name="access" value=value checked={value == access} required />
                " "
                {label}
            </label>
        }
    };
    let id = format!("role-{of}");
    let options = ROLES.map(|(each, meaning)| {
        view! { <option value=each.as_str() selected=each.as_str() == role>{meaning}</option> }
    });
    let known = projects.iter().map(|project| (project.id.to_string(), project.name.clone()));
    let unknown = unknown.iter().map(|id| ((*id).to_owned(), not_configured(id)));
    let boxes = known.chain(unknown).map(|(value, label)| {
        let checked = chosen.contains(&value.as_str());
        view! {
            <label class="choice">
                <input type="checkbox" name="projects" value=value checked=checked />
                " "
                {label}
            </label>
        }
    });
    view! {
        <label class="field-label" for=id.clone()>"Role"</label>
        <select id=id class="field" name="role">{options.into_iter().collect_view()}</select>
        <fieldset>
            <legend class="field-label">{legend}</legend>
            {radio("all", "All projects")}
            {radio("selected", "Selected projects")}
            <div class="selection">{boxes.collect_view()}</div>
            <p class="hint">{hint}</p>
        </fieldset>
    }
    .into_any()
}
