//! Questions about page views.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::views::Views;
#[cfg(feature = "ssr")]
use crate::server::{auth::guard, upstream::views::ViewsQuestion};

/// Page views from the upstream. `from` and `to` are both inclusive UTC days (`YYYY-MM-DD`), the last
/// 28 days unless told; `limit` is 1..=250 (50), `offset` from 0 (0). `refresh` asks anew, which costs a call.
#[server(name = GetViews, prefix = "/api", endpoint = "analytics/views")]
pub async fn views(
    project: String,
    from: Option<String>,
    to: Option<String>,
    limit: Option<i64>,
    offset: Option<i64>,
    refresh: Option<bool>,
) -> Result<Views, AppError> {
    let caller = guard::viewer()?;
    let project = caller.project(&project)?;
    let today = caller.panel.today();
    let question = ViewsQuestion::parse(project, from.as_deref(), to.as_deref(), limit, offset, today)?;
    match refresh.unwrap_or(false) {
        true => caller.panel.views.refreshed(question).await,
        false => caller.panel.views.answer(question).await,
    }
}
