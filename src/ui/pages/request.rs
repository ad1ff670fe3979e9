//! The request of a page: its URL, the session, and the outcome of the last form.

use std::future::Future;

use futures::future::{BoxFuture, Shared};
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_url};
use leptos_router::location::Url;
use leptos_router::params::ParamsMap;

use crate::ui::components::failure::{heading, page_failure};
use crate::ui::components::form::PersonId;
use crate::ui::pages::page_head::title;
use model::budget::{Budgets, PageBudgets};
use model::error::{AppError, ErrorCode};
use model::flash::{FlashMessage, PendingFlash};
use model::user::{CurrentSession, Role};

/// `content` when it is loaded, or its error with the error's status.
pub(super) fn page(content: impl Future<Output = Result<AnyView, AppError>> + Send + 'static) -> AnyView {
    let shown = Suspend::new(async move {
        // During layout, Leptos polls this once and then not again until everything before it is written. Work that has
        // started by then, such as waiting for a database connection, would block others meanwhile.
        tokio::task::yield_now().await;
        match content.await {
            Ok(content) => content,
            Err(error) => {
                set_status(error.code);
                view! { {title(heading(error.code))} {page_failure(&error)} }.into_any()
            }
        }
    });
    view! { {shown} }.into_any()
}

/// The id of the project in the URL.
pub(super) fn project() -> String {
    param("project")
}

/// A path parameter.
pub(super) fn param(name: &str) -> String {
    use_params_map().read_untracked().get(name).unwrap_or_default()
}

pub(super) fn path() -> String {
    use_url().read_untracked().path().to_owned()
}

/// The query string of the URL, without the question mark.
pub(super) fn search() -> String {
    use_url().read_untracked().search().to_owned()
}

/// The fields of the query. The router's own map decodes each value twice: `%2541` would become `A`.
pub(super) fn query() -> ParamsMap {
    read(&search())
}

/// The project's budgets, loaded once for the frame and its page. [`Frame`](super::frame::Frame) provides them.
#[derive(Clone)]
pub(super) struct PendingBudgets(pub(super) Shared<BoxFuture<'static, Option<PageBudgets>>>);

/// The budgets, or `None` if they cannot be loaded, because an error must not prevent a page.
pub(super) fn budgets() -> impl Future<Output = Option<Budgets>> + Send {
    let budgets = page_budgets();
    async move { Some(budgets.await?.budgets) }
}

/// The same, with what only a page of the server shows.
pub(super) fn page_budgets() -> impl Future<Output = Option<PageBudgets>> + Send {
    let budgets = use_context::<PendingBudgets>();
    async move {
        match budgets {
            Some(PendingBudgets(budgets)) => budgets.await,
            None => None,
        }
    }
}

/// The id of the signed-in person's account. Call it before the first await.
pub(super) fn person() -> String {
    use_context::<PersonId>().map(|PersonId(id)| id).unwrap_or_default()
}

/// An open page fetches itself again; the router provides it then.
#[derive(Clone)]
pub struct Refresh;

/// Whether an open page fetches itself again, with what somebody has typed into it. Call it before the first await.
pub(super) fn is_refresh() -> bool {
    use_context::<Refresh>().is_some()
}

/// The signed-in person. The pages that call this require a session.
pub(super) fn session() -> CurrentSession {
    use_context().unwrap_or_else(|| CurrentSession {
        username: String::new(),
        role: Role::Viewer,
        projects: Vec::new(),
    })
}

/// The outcome of the form that this browser posted to `endpoint`. The page must show it: it counts as shown. Call it
/// before the first await.
pub(super) fn flash(endpoint: &str) -> Option<FlashMessage> {
    use_context::<PendingFlash>().and_then(|pending| pending.for_form(endpoint))
}

pub(super) fn set_status(code: ErrorCode) {
    let response = use_context::<leptos_axum::ResponseOptions>();
    if let (Some(response), Ok(status)) = (response, axum::http::StatusCode::from_u16(code.status())) {
        response.set_status(status);
    }
}

/// The fields of a query, decoded.
pub(super) fn read(query: &str) -> ParamsMap {
    let mut fields = ParamsMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        // Adding to the map decodes once.
        fields.insert(Url::unescape(name), value.replace('+', "%20"));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_once() {
        let fields = read("q=gu%25de+%2B1&author=%C3%85se&empty=&flag&next=%2Fp%2Fdocs%3Fa%3D%2541");
        let value = |name| fields.get(name);
        assert_eq!(value("q").as_deref(), Some("gu%de +1"));
        assert_eq!(value("author").as_deref(), Some("Åse"));
        assert_eq!((value("empty").as_deref(), value("flag").as_deref()), (Some(""), Some("")));
        assert_eq!(value("next").as_deref(), Some("/p/docs?a=%41"));
        assert_eq!(value("missing"), None);
    }
}
