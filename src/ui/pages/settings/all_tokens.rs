//! `/admin/tokens`: everyone's API tokens, for administrators.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::token_table::{TokenTable, token_table};
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::api_tokens::{RevokeAnyToken, all_tokens};
use model::api_token::LISTED_MAX;

#[component]
pub fn AllTokens() -> impl IntoView {
    let message = outcome_of(&[RevokeAnyToken::PATH]);
    let projects = request::session().projects;
    let head =
        page_head("All API tokens", "Each acts as its owner, with at most the rights of the owner", ());
    let content = page(async move {
        let tokens = all_tokens().await?;
        let list = if tokens.is_empty() {
            view! { <p class="none group">"No API tokens yet."</p> }.into_any()
        } else {
            let table = token_table(&TokenTable {
                name: "All API tokens",
                tokens: &tokens,
                projects: &projects,
                has_owners: true,
                revoke: RevokeAnyToken::PATH,
                rotation: None,
            });
            let more = (tokens.len() == LISTED_MAX as usize)
                .then(|| view! { <p class="hint">"There may be more: " <code>"docket token list"</code> " prints all tokens."</p> });
            view! { {table} {more} }.into_any()
        };
        Ok(view! { {message} {list} }.into_any())
    });
    view! { {head} {content} }
}
