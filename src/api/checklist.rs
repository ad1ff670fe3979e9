//! The first steps in a new installation.

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use crate::server::auth::guard;
use model::checklist::Checklist;
use model::error::AppError;

/// Which first steps are done; `None` if all are, or 30 days after the first account was made. For administrators.
#[server(name = GetChecklist, prefix = "/api", endpoint = "checklist/get")]
pub async fn checklist() -> Result<Option<Checklist>, AppError> {
    let (_, state) = guard::of::<GetChecklist>()?;
    Ok(state.store.checklist(state.clock.now()).await?)
}
