//! `/account`: a person's own account: the password, and where they are signed in.

use leptos::server_fn::ServerFn;

use super::notice;
use crate::api::account::{ChangePassword, EndOtherSessions, EndSession};
use crate::model::settings::Told;
use crate::model::time::Timestamp;
use crate::model::user::CurrentSession;
use crate::ui::components::moment::age;
use crate::ui::markup::{Markup, markup};

/// What the page is about.
pub struct Account<'a> {
    pub who: &'a CurrentSession,
    /// Whether they may see all projects.
    pub sees_all: bool,
    /// Where they are signed in.
    pub places: Vec<Place>,
    pub now: Timestamp,
}

/// Where somebody is signed in.
pub struct Place {
    pub id: String,
    pub device: String,
    pub address: String,
    pub since: Timestamp,
    pub last_used: Timestamp,
    /// Whether this page was asked for there.
    pub is_here: bool,
}

pub fn drawn(account: &Account, told: Option<&Told>) -> Markup {
    [facts(account), password(told), sessions(account, told)].into_iter().collect()
}

fn facts(Account { who, sees_all, .. }: &Account) -> Markup {
    let names: Vec<&str> = who.projects.iter().map(|project| project.name.as_str()).collect();
    let projects = if *sees_all { "All projects".to_owned() } else { names.join(", ") };
    markup(
        r#"<p>You are <strong>{}</strong>, with the role <strong>{}</strong>. You see: {}.</p><p class="faint">An administrator can change that.</p>"#,
        &[&who.username, &who.role.as_str(), &projects],
    )
}

fn password(told: Option<&Told>) -> Markup {
    markup(
        r#"<section class="group narrow"><h2>Password</h2>{}<form class="stack" method="post" action="{}"><label class="field-label" for="old">Present password</label><input id="old" class="field" type="password" name="old" autocomplete="current-password" required><label class="field-label" for="new">New password</label><input id="new" class="field" type="password" name="new" autocomplete="new-password" minlength="12" required aria-describedby="new-hint"><p class="hint" id="new-hint">At least 12 characters; a few words that do not belong together are good. You are signed out everywhere else.</p><button class="button button-primary" type="submit">Change password</button></form></section>"#,
        &[&notice::about(told, &[ChangePassword::PATH]), &ChangePassword::PATH],
    )
}

fn sessions(Account { places, now, .. }: &Account, told: Option<&Told>) -> Markup {
    let rows: Markup = places.iter().map(|place| session(place, *now)).collect();
    let others = places.iter().any(|place| !place.is_here).then(|| {
        markup(
            r#"<form method="post" action="{}"><button class="button" type="submit">Sign out everywhere else</button></form>"#,
            &[&EndOtherSessions::PATH],
        )
    });
    markup(
        r#"<section class="group"><h2 id="sessions">Where you are signed in</h2>{}<table class="status-table" aria-labelledby="sessions"><thead><tr><th scope="col">Device</th><th scope="col">Address</th><th scope="col">Signed in</th><th scope="col">Last use</th><th scope="col"><span class="visually-hidden">Actions</span></th></tr></thead><tbody>{}</tbody></table>{}</section>"#,
        &[
            &notice::about(told, &[EndSession::PATH, EndOtherSessions::PATH]),
            &rows,
            &others.unwrap_or_default(),
        ],
    )
}

fn session(place: &Place, now: Timestamp) -> Markup {
    let action = match place.is_here {
        true => markup("This session", &[]),
        false => markup(
            r#"<form method="post" action="{}"><input type="hidden" name="session" value="{}"><button class="button" type="submit">Sign out<span class="visually-hidden">: {}</span></button></form>"#,
            &[&EndSession::PATH, &place.id, &place.device],
        ),
    };
    markup(
        r#"<tr><th scope="row">{}</th><td data-label="Address">{}</td><td data-label="Signed in">{}</td><td data-label="Last use">{}</td><td><div class="actions">{}</div></td></tr>"#,
        &[&place.device, &place.address, &moment(place.since, now), &moment(place.last_used, now), &action],
    )
}

/// How long ago, with the full time on hover.
pub(super) fn moment(at: Timestamp, now: Timestamp) -> Markup {
    let full = at.to_string();
    markup(r#"<time datetime="{}" title="{}">{}</time>"#, &[&full, &full, &age(at, now)])
}
