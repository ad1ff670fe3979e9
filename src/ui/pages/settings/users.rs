//! `/admin/users`: who may use Docket, and what each may do and see.

use leptos::server_fn::ServerFn;

use super::account::moment;
use super::notice;
use crate::api::users::{
    ChangePerson, DisablePerson, EnablePerson, InvitePerson, RenewInvitation, SignPersonOut,
    WithdrawInvitation,
};
use crate::model::settings::Told;
use crate::model::time::Timestamp;
use crate::model::user::{Project, Role};
use crate::ui::markup::{Markup, markup};

/// The forms whose outcome is told above the list.
const OF_THE_LIST: [&str; 6] = [
    ChangePerson::PATH,
    DisablePerson::PATH,
    EnablePerson::PATH,
    RenewInvitation::PATH,
    SignPersonOut::PATH,
    WithdrawInvitation::PATH,
];

/// What the page is about.
pub struct People<'a> {
    pub people: Vec<Person>,
    /// Every project there is.
    pub projects: &'a [Project],
    pub now: Timestamp,
}

pub struct Person {
    pub id: String,
    pub name: String,
    pub role: Role,
    /// The ids of the only projects they may see; nothing: all there are.
    pub projects: Option<Vec<String>>,
    pub last_seen: Option<Timestamp>,
    pub state: State,
    pub has_second_factor: bool,
    /// Whether it is who looks at the page.
    pub is_you: bool,
}

#[derive(Clone, Copy)]
pub enum State {
    Active,
    Disabled,
    /// Has not come yet; until when the link is good.
    Invited(Timestamp),
}

pub fn drawn(page: &People, told: Option<&Told>) -> Markup {
    let rows: Markup = page.people.iter().map(|person| row(person, page)).collect();
    let list = markup(
        r#"{}<table class="status-table" aria-label="People"><thead><tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">Projects</th><th scope="col">Last seen</th><th scope="col">State</th><th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead><tbody>{}</tbody></table>"#,
        &[&notice::about(told, &OF_THE_LIST), &rows],
    );
    [list, invitation(page, told)].into_iter().collect()
}

fn row(person: &Person, page: &People) -> Markup {
    let you =
        if person.is_you { markup(r#" <span class="faint">you</span>"#, &[]) } else { Markup::default() };
    let seen = person.last_seen.map_or_else(|| markup("Never", &[]), |at| moment(at, page.now));
    let state = match person.state {
        State::Active => "Active",
        State::Disabled => "Disabled",
        State::Invited(until) if until <= page.now => "Invited; the link is over",
        State::Invited(_) => "Invited",
    };
    markup(
        r#"<tr><th scope="row">{}{}</th><td data-label="Role">{}</td><td data-label="Projects">{}</td><td data-label="Last seen">{}</td><td data-label="State">{}{}</td><td>{}</td></tr>"#,
        &[
            &person.name,
            &you,
            &person.role.as_str(),
            &seen_projects(person, page),
            &seen,
            &state,
            &if person.has_second_factor { ", second factor" } else { "" },
            &actions(person, page),
        ],
    )
}

fn seen_projects(person: &Person, page: &People) -> String {
    let Some(ids) = person.projects.as_ref().filter(|_| person.role != Role::Admin) else {
        return "All".to_owned();
    };
    let named = page.projects.iter().filter(|project| ids.iter().any(|id| id == project.id.as_str()));
    let names: Vec<&str> = named.map(|project| project.name.as_str()).collect();
    if names.is_empty() { "None that is still here".to_owned() } else { names.join(", ") }
}

/// What can be done with somebody, shown when it is asked for. Works without scripts.
fn actions(person: &Person, page: &People) -> Markup {
    let id = person.id.as_str();
    let button = |endpoint: &str, label: &str| {
        markup(
            r#"<form method="post" action="{}"><input type="hidden" name="user" value="{}"><button class="button" type="submit">{}</button></form>"#,
            &[&endpoint, &id, &label],
        )
    };
    let buttons: Vec<Markup> = match person.state {
        State::Active => {
            vec![button(SignPersonOut::PATH, "Sign out everywhere"), button(DisablePerson::PATH, "Disable")]
        }
        State::Disabled => vec![button(EnablePerson::PATH, "Enable")],
        State::Invited(_) => vec![
            button(RenewInvitation::PATH, "Make a new link"),
            button(WithdrawInvitation::PATH, "Withdraw the invitation"),
        ],
    };
    let ids = person.projects.clone().unwrap_or_default();
    let fields = access_fields(&format!("of-{id}"), person.role.as_str(), &ids, page);
    markup(
        r#"<details class="manage"><summary class="button">Manage<span class="visually-hidden"> {}</span></summary><form class="stack" method="post" action="{}"><input type="hidden" name="user" value="{}">{}<button class="button button-primary" type="submit">Save</button><p class="hint">They have to sign in again.</p></form><div class="actions">{}</div></details>"#,
        &[&person.name, &ChangePerson::PATH, &id, &fields, &buttons.into_iter().collect::<Markup>()],
    )
}

fn invitation(page: &People, told: Option<&Told>) -> Markup {
    let told_here = told.filter(|told| told.form == InvitePerson::PATH);
    let typed = |name| told_here.map_or("", |told| told.typed(name));
    let role = Some(typed("role")).filter(|role| !role.is_empty()).unwrap_or("viewer");
    let chosen: Vec<String> = typed("projects").split(',').map(str::to_owned).collect();
    markup(
        r#"<section class="group narrow"><h2>Invite somebody</h2>{}<form class="stack" method="post" action="{}"><label class="field-label" for="name">Username</label><input id="name" class="field" name="name" value="{}" maxlength="64" required autocomplete="off" autocapitalize="none" spellcheck="false">{}<button class="button button-primary" type="submit">Make a link</button><p class="hint">They choose their own password at the link, within 48 hours.</p></form></section>"#,
        &[
            &notice::about(told, &[InvitePerson::PATH]),
            &InvitePerson::PATH,
            &typed("name"),
            &access_fields("new", role, &chosen, page),
        ],
    )
}

/// The role and the projects of somebody. `of` tells the fields of one form from those of another.
fn access_fields(of: &str, role: &str, chosen: &[String], page: &People) -> Markup {
    let options: Markup = [
        (Role::Viewer, "Viewer: reads"),
        (Role::Operator, "Operator: starts jobs, too"),
        (Role::Admin, "Administrator: manages people and settings, too"),
    ]
    .iter()
    .map(|(each, meaning)| match each.as_str() == role {
        true => markup(r#"<option value="{}" selected>{}</option>"#, &[&each.as_str(), meaning]),
        false => markup(r#"<option value="{}">{}</option>"#, &[&each.as_str(), meaning]),
    })
    .collect();
    let boxes: Markup = page
        .projects
        .iter()
        .map(|project| {
            let id = project.id.as_str();
            match chosen.iter().any(|chosen| chosen == id) {
                true => markup(
                    r#"<label class="choice"><input type="checkbox" name="projects" value="{}" checked> {}</label>"#,
                    &[&id, &project.name],
                ),
                false => markup(
                    r#"<label class="choice"><input type="checkbox" name="projects" value="{}"> {}</label>"#,
                    &[&id, &project.name],
                ),
            }
        })
        .collect();
    markup(
        r#"<label class="field-label" for="role-{}">Role</label><select id="role-{}" class="field" name="role">{}</select><fieldset><legend class="field-label">Only these projects</legend>{}<p class="hint">With none ticked, all of them. Administrators always see all.</p></fieldset>"#,
        &[&of, &of, &options, &boxes],
    )
}
