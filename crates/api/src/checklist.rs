//! The first steps in a new installation.

use leptos::prelude::*;

use model::checklist::Checklist;
use model::error::AppError;
#[cfg(feature = "ssr")]
use web::auth::guard;

/// Which first steps are done; `None` if all are, or 30 days after the first account was made. For administrators.
#[server(name = GetChecklist, prefix = "/api", endpoint = "checklist/get")]
pub async fn checklist() -> Result<Option<Checklist>, AppError> {
    let (_, state) = guard::of::<GetChecklist>()?;
    Ok(state.store.checklist(state.clock.now()).await?)
}
