//! `/account`: a person's own account: password, sessions, second factor, passkeys, and keyboard shortcuts.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::second_factor::Confirming;
use super::{passkeys, second_factor};
use crate::ui::components::form::{new_password_field, post_form, submit_button};
use crate::ui::components::table::{ACTIONS, table};
use crate::ui::components::time::ago;
use crate::ui::islands::buttons;
use crate::ui::look::Look;
use crate::ui::marks::SHORTCUTS;
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::account::{ChangePassword, EndOtherSessions, EndSession, account};
use model::account::SignedIn;
use model::links::PASSWORD;
use model::user::CurrentSession;

#[component]
pub fn Account() -> impl IntoView {
    let session = request::session();
    let of_password = outcome_of(&[ChangePassword::PATH]);
    let of_sessions = outcome_of(&[EndSession::PATH, EndOtherSessions::PATH]);
    let of_factor = second_factor::last_outcome();
    let of_passkeys = passkeys::last_outcome();
    let are_shortcuts_on = !use_context::<Look>().is_some_and(|look| look.no_shortcuts);
    let head = page_head("Account", "How you sign in, your sessions and your keyboard", ());
    let content = page(async move {
        let account = account().await?;
        let confirming = Confirming::of(&account);
        Ok(view! {
            {facts(&session, account.sees_all_projects)}
            {password(of_password)}
            {sessions(account.sessions, of_sessions)}
            {second_factor::second_factor(account.second_factor, confirming, of_factor)}
            {passkeys::passkeys(account.passkeys, confirming, of_passkeys)}
            {keyboard(are_shortcuts_on)}
        }
        .into_any())
    });
    view! { {head} {content} }
}

fn facts(session: &CurrentSession, sees_all: bool) -> AnyView {
    let names =
        || session.projects.iter().map(|project| project.name.as_str()).collect::<Vec<_>>().join(", ");
    let projects = if sees_all { "all projects".to_owned() } else { names() };
    view! {
        <p>
            "You are " <strong>{session.username.clone()}</strong> ", with the role " <strong>{session.role.as_str()}</strong>
            {format!(". You have access to {projects}.")}
        </p>
        <p class="faint">"An administrator can change that."</p>
    }
    .into_any()
}

fn password(outcome: Option<AnyView>) -> AnyView {
    let fields = view! {
        <label class="field-label" for="old">"Current password"</label>
        <input id="old" class="field" type="password" name="old" autocomplete="current-password" required />
        {new_password_field("new", "New password", " You are signed out everywhere else.")}
        {submit_button("Change password")}
    };
    view! {
        <section id=PASSWORD class="group narrow">
            <h2>"Password"</h2>
            {outcome}
            {post_form("stack", ChangePassword::PATH, Vec::new(), fields)}
        </section>
    }
    .into_any()
}

fn sessions(sessions: Vec<SignedIn>, outcome: Option<AnyView>) -> AnyView {
    let others = sessions.iter().any(|session| !session.is_here).then(|| {
        let button = view! { <button class="button" type="submit">"Sign out everywhere else"</button> };
        post_form("", EndOtherSessions::PATH, Vec::new(), button)
    });
    let heads = ["Device", "Address", "Signed in", "Last used", ACTIONS];
    view! {
        <section class="group">
            <h2>"Active sessions"</h2>
            {outcome}
            {table("Active sessions", &heads, sessions.into_iter().map(row).collect_view())}
            {others}
        </section>
    }
    .into_any()
}

/// The choice whether single keys are shortcuts. It needs JavaScript, as shortcuts do.
fn keyboard(are_shortcuts_on: bool) -> AnyView {
    view! {
        <section id="keyboard" class="group narrow js-only">
            <h2>"Keyboard"</h2>
            <label class="choice">
                <input id=SHORTCUTS.name() type="checkbox" checked=are_shortcuts_on autocomplete="off" />
                "Shortcuts of a single key"
            </label>
            <p class="hint">
                "Such as c for a new job, in this browser. Switch them off if you dictate, or press keys by accident. Ctrl K always works. "
                <button type="button" class="quiet-link" data-button=buttons::HELP>"List of shortcuts"</button>
            </p>
        </section>
    }
    .into_any()
}

fn row(session: SignedIn) -> AnyView {
    let action = if session.is_here {
        "This session".into_any()
    } else {
        let button = view! {
            <button class="button" type="submit">
                "Sign out" <span class="visually-hidden">": " {session.device.clone()}</span>
            </button>
        };
        post_form("", EndSession::PATH, vec![("session", session.id)], button).into_any()
    };
    view! {
        <tr>
            <th scope="row">{session.device}</th>
            <td data-label="Address">{session.address}</td>
            <td data-label="Signed in">{ago(session.since)}</td>
            <td data-label="Last used">{ago(session.last_used)}</td>
            <td>
                <div class="actions">{action}</div>
            </td>
        </tr>
    }
    .into_any()
}
