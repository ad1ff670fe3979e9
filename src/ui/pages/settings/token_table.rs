//! The table of API tokens, on a person's page and on that of administrators.

use leptos::prelude::*;

use crate::ui::components::form::post_form;
use crate::ui::components::table::{ACTIONS, table};
use crate::ui::components::time::{ago, ahead};
use model::api_token::{ApiToken, TokenState};
use model::user::Project;

/// What a table of tokens has.
pub(super) struct TokenTable<'a> {
    pub name: &'static str,
    pub tokens: &'a [ApiToken],
    /// Those with a name.
    pub projects: &'a [Project],
    /// With a column for the owners.
    pub has_owners: bool,
    /// The endpoint that revokes a token.
    pub revoke: &'static str,
    /// The forms that rotate tokens, if the table has them.
    pub rotation: Option<Rotation>,
}

/// The form that rotates a token.
#[derive(Clone, Copy)]
pub(super) struct Rotation {
    pub endpoint: &'static str,
    /// Whether the person enters their password.
    pub needs_password: bool,
}

pub(super) fn token_table(wanted: &TokenTable<'_>) -> AnyView {
    let owner = wanted.has_owners.then_some("Owner");
    let heads: Vec<&'static str> = ["Name"]
        .into_iter()
        .chain(owner)
        .chain(["Scopes", "Projects", "Expires", "Last used", "State", ACTIONS])
        .collect();
    let rows = wanted.tokens.iter().map(|token| row(token, wanted)).collect_view();
    view! { <div class="group">{table(wanted.name, &heads, rows)}</div> }.into_any()
}

fn row(token: &ApiToken, wanted: &TokenTable<'_>) -> AnyView {
    let owner = wanted.has_owners.then(|| view! { <td data-label="Owner">{token.owner.clone()}</td> });
    let expires = match token.state {
        TokenState::Expired => ago(token.expires_at).into_any(),
        _ => ahead(token.expires_at).into_any(),
    };
    let used = token.last_used_at.map_or_else(|| "Never".into_any(), |at| ago(at).into_any());
    let is_revocable =
        matches!(token.state, TokenState::Active | TokenState::Replaced | TokenState::OwnerDisabled);
    let is_active = token.state == TokenState::Active;
    let rotation = wanted.rotation.filter(|_| is_active).map(|rotation| rotate(token, rotation));
    let scopes = token.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ");
    view! {
        <tr>
            <th scope="row">
                <span dir="auto">{token.name.clone()}</span> " " <span class="faint">{format!("…{}", token.last_four)}</span>
            </th>
            {owner}
            <td data-label="Scopes">{scopes}</td>
            <td data-label="Projects">{names(token, wanted.projects)}</td>
            <td data-label="Expires">{expires}</td>
            <td data-label="Last used">{used}</td>
            <td data-label="State">{token.state.as_str()}</td>
            <td>
                <div class="actions">{rotation} {is_revocable.then(|| confirm(token, wanted.revoke))}</div>
            </td>
        </tr>
    }
    .into_any()
}

/// The names of the projects; the id of one without a name.
fn names(token: &ApiToken, projects: &[Project]) -> String {
    let Some(ids) = &token.projects else { return "All".to_owned() };
    let name = |id: &String| {
        let known = projects.iter().find(|project| project.id.as_str() == id);
        known.map_or_else(|| id.clone(), |project| project.name.clone())
    };
    ids.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// A button that opens the form that rotates a token.
fn rotate(token: &ApiToken, rotation: Rotation) -> AnyView {
    let id = format!("rotate-{}", token.id);
    let form = view! {
        <p class="hint">
            "You get a new token with the same scopes, projects and time of validity. The old one works for 24 more hours."
        </p>
        {rotation.needs_password.then(|| password_field(id))}
        <button class="button" type="submit">"Rotate token"</button>
    };
    view! {
        <details class="confirm">
            <summary class="button">"Rotate…" <span class="visually-hidden">" " {token.name.clone()}</span></summary>
            {post_form("stack", rotation.endpoint, vec![("token", token.id.to_string())], form)}
        </details>
    }
    .into_any()
}

/// The field for the person's password, which a new token requires.
pub(super) fn password_field(id: String) -> AnyView {
    view! {
        <label class="field-label" for=id.clone()>"Your password"</label>
        <input id=id class="field" type="password" name="password" autocomplete="current-password" required />
    }
    .into_any()
}

/// A button that opens the confirmation. Its accessible name includes the name of the token.
fn confirm(token: &ApiToken, revoke: &'static str) -> AnyView {
    let button = view! {
        <p class="hint">"Scripts that use it stop working at once. This cannot be undone."</p>
        <button class="button" type="submit">"Revoke token"</button>
    };
    view! {
        <details class="confirm">
            <summary class="button">"Revoke…" <span class="visually-hidden">" " {token.name.clone()}</span></summary>
            {post_form("stack", revoke, vec![("token", token.id.to_string())], button)}
        </details>
    }
    .into_any()
}
