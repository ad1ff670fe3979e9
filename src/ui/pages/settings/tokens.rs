//! `/account/tokens`: a person's own API tokens.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::access_fields::{ProjectWords, project_fields};
use super::token_table::{Rotation, TokenTable, password_field, token_table};
use crate::ui::components::form::{post_form, submit_button};
use crate::ui::pages::outcome::{outcome, outcome_of};
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::api_tokens::{CreateToken, RevokeToken, RotateToken, own_tokens};
use model::api_token::{NAME_MAX_CHARS, OwnTokens, Scope, TokenDays};
use model::flash::FlashMessage;
use model::links;
use model::user::Project;

#[component]
pub fn Tokens() -> impl IntoView {
    let not_created = request::flash(CreateToken::PATH).filter(|message| message.outcome.is_err());
    let message = outcome_of(&[CreateToken::PATH, RotateToken::PATH, RevokeToken::PATH])
        .filter(|_| not_created.is_none());
    let introduction = view! {
        <span>
            "With a token, a script calls the "
            <a href=links::API_REFERENCE>"JSON API"</a>
            " as you"
        </span>
    };
    let head = page_head("API tokens", introduction, ());
    let content = page(async move {
        let own = own_tokens().await?;
        let list = if own.tokens.is_empty() {
            view! { <p class="none group">"No API tokens yet. Create one below."</p> }.into_any()
        } else {
            token_table(&TokenTable {
                name: "API tokens",
                tokens: &own.tokens,
                projects: &own.projects,
                has_owners: false,
                revoke: RevokeToken::PATH,
                rotation: Some(Rotation { endpoint: RotateToken::PATH, needs_password: own.has_password }),
            })
        };
        Ok(view! { {message} {list} {form(&own, not_created.as_ref())} }.into_any())
    });
    view! { {head} {content} }
}

/// The form for a new token. `refused`: the error of the last attempt, with its fields.
fn form(own: &OwnTokens, refused: Option<&FlashMessage>) -> AnyView {
    let typed = |name: &str| refused.map_or("", |refused| refused.typed(name)).to_owned();
    let days = Some(typed("days")).filter(|days| !days.is_empty());
    let days = days.unwrap_or_else(|| TokenDays::default().to_string());
    let password = own.has_password.then(|| password_field("token-password".to_owned()));
    let fields = view! {
        <label class="field-label" for="token-name">"Name"</label>
        <input
            id="token-name"
            class="field"
            name="name"
            value=typed("name")
            maxlength=NAME_MAX_CHARS.to_string()
            required
            autocomplete="off"
            aria-describedby="token-name-hint"
        />
        <p class="hint" id="token-name-hint">"Where you use it, such as “Nightly check”."</p>
        {scopes(&own.scopes, refused)}
        {projects(&own.projects, refused)}
        <label class="field-label" for="token-days">"Expires after, in days"</label>
        <input
            id="token-days"
            class="field"
            type="number"
            name="days"
            value=days
            min="1"
            max=TokenDays::MAX.to_string()
            required
            aria-describedby="token-days-hint"
        />
        <p class="hint" id="token-days-hint">"At most 365. You are notified 14 and 3 days before."</p>
        {password}
        {submit_button("Create token")}
    };
    view! {
        <section class="group narrow" aria-labelledby="new-token">
            <h2 id="new-token">"Create a token"</h2>
            {refused.and_then(outcome)}
            <p class="soft">
                "A token never has more rights than you have. It stops working while your account is disabled."
            </p>
            {post_form("stack", CreateToken::PATH, Vec::new(), fields)}
        </section>
    }
    .into_any()
}

fn scopes(permitted: &[Scope], refused: Option<&FlashMessage>) -> AnyView {
    let typed = refused.map(|refused| refused.list_typed("scopes")).unwrap_or_default();
    let boxes = permitted.iter().map(|scope| {
        let (name, meaning) = (scope.as_str(), scope.meaning());
        view! {
            <label class="choice">
                <input type="checkbox" name="scopes" value=name checked=typed.contains(&name) />
                " "
                <span><code>{name}</code> {format!(": {meaning}")}</span>
            </label>
        }
    });
    view! {
        <fieldset>
            <legend class="field-label">"Scopes"</legend>
            {boxes.collect_view()}
        </fieldset>
    }
    .into_any()
}

fn projects(projects: &[Project], refused: Option<&FlashMessage>) -> AnyView {
    let typed = refused.map(|refused| refused.list_typed("projects")).unwrap_or_default();
    let access = refused.map(|refused| refused.typed("access")).filter(|access| !access.is_empty());
    let access = access.unwrap_or("all");
    let words = ProjectWords { legend: "Projects", all: "All projects that you can see", hint: None };
    let choices = projects.iter().map(|project| (project.id.to_string(), project.name.clone()));
    project_fields(words, access, &typed, choices)
}
