//! The table of API tokens, on a person's page and on that of administrators.

use leptos::prelude::*;

use crate::ui::components::form::post_form;
use crate::ui::components::table::{ACTIONS, table};
use crate::ui::components::time::{ago, ahead};
use model::api_token::{ApiToken, TokenState};
use model::user::Project;

/// `projects`: those with a name. `has_owners`: with a column for the owners. `revoke`: the endpoint that revokes a token.
pub(super) fn token_table(
    name: &'static str,
    tokens: &[ApiToken],
    projects: &[Project],
    has_owners: bool,
    revoke: &'static str,
) -> AnyView {
    let owner = has_owners.then_some("Owner");
    let heads: Vec<&'static str> = ["Name"]
        .into_iter()
        .chain(owner)
        .chain(["Scopes", "Projects", "Expires", "Last used", "State", ACTIONS])
        .collect();
    let rows = tokens.iter().map(|token| row(token, projects, has_owners, revoke)).collect_view();
    view! { <div class="group">{table(name, &heads, rows)}</div> }.into_any()
}

fn row(token: &ApiToken, projects: &[Project], has_owners: bool, revoke: &'static str) -> AnyView {
    let owner = has_owners.then(|| view! { <td data-label="Owner">{token.owner.clone()}</td> });
    let expires = match token.state {
        TokenState::Expired => ago(token.expires_at).into_any(),
        _ => ahead(token.expires_at).into_any(),
    };
    let used = token.last_used_at.map_or_else(|| "Never".into_any(), |at| ago(at).into_any());
    let is_revocable = matches!(token.state, TokenState::Active | TokenState::OwnerDisabled);
    let scopes = token.scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(", ");
    view! {
        <tr>
            <th scope="row">
                <span dir="auto">{token.name.clone()}</span> " " <span class="faint">{format!("…{}", token.last_four)}</span>
            </th>
            {owner}
            <td data-label="Scopes">{scopes}</td>
            <td data-label="Projects">{names(token, projects)}</td>
            <td data-label="Expires">{expires}</td>
            <td data-label="Last used">{used}</td>
            <td data-label="State">{token.state.as_str()}</td>
            <td>
                <div class="actions">{is_revocable.then(|| confirm(token, revoke))}</div>
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
