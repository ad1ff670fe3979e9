//! `/account`, `/admin/users`, `/admin/audit`: pages of plain forms, drawn on the server. All that a browser has of them is this file.

// Drawn on the server, as text.
#[cfg(feature = "ssr")]
pub mod account;
#[cfg(feature = "ssr")]
pub mod audit;
#[cfg(feature = "ssr")]
pub mod notice;
#[cfg(feature = "ssr")]
pub mod second_factor;
#[cfg(feature = "ssr")]
pub mod users;

use leptos::prelude::*;
use leptos_router::hooks::use_url;

use crate::api::call::call;
use crate::api::settings::GetSettings;
use crate::ui::components::loading::{self, loaded};
use crate::ui::components::page_head::page_head;

use crate::model::links;
use crate::ui::state::asked::Asked;

/// Address, name, and what it is for.
const PAGES: [(&str, &str, &str); 3] = [
    (links::ACCOUNT, "Account", "You, your password and where you are signed in"),
    (links::USERS, "People", "Who may use Docket, and what each may do and see"),
    (links::AUDIT, "Audit log", "Who did what, when and from where"),
];

#[component]
pub fn Settings() -> impl IntoView {
    let url = use_url();
    let here = url.read_untracked().path().to_owned();
    let (_, name, context) =
        PAGES.into_iter().find(|(path, ..)| *path == here).unwrap_or(("", "Settings", ""));
    let query = Memo::new(move |_| url.read().search().to_owned());
    let page = Asked::on(
        move || query.with(|_| ()),
        move || call(GetSettings { path: here.clone(), query: query.get_untracked() }),
    );
    view! {
        {page_head(name, context.into_any(), ().into_any())}
        {loaded(page, loading::rows, |html: String| view! { <div inner_html=html></div> }.into_any())}
    }
    .into_any()
}
