//! Filters of the list of jobs that people keep under a name. Each answers the views that the caller sees then. They are
//! everybody's own to keep, so a viewer may.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::saved_view::SavedView;
#[cfg(feature = "ssr")]
use crate::server::auth::guard;

/// The caller's own views and those that others share.
#[server(name = GetSavedViews, prefix = "/api", endpoint = "views/list")]
pub async fn saved_views(project: String) -> Result<Vec<SavedView>, AppError> {
    let caller = guard::of::<GetSavedViews>()?;
    let project = caller.project(&project)?;
    caller.panel.jobs.saved_views(&caller, &project).await
}

/// Keeps `query`, the part of the list's address after the `?`, under a name; a view of that name is replaced.
#[server(prefix = "/api", endpoint = "views/save")]
pub async fn save_view(
    project: String,
    name: String,
    query: String,
    shared: Option<bool>,
) -> Result<Vec<SavedView>, AppError> {
    let caller = guard::of::<SaveView>()?;
    let project = caller.project(&project)?;
    caller.panel.jobs.save_view(&caller, &project, &name, &query, shared.unwrap_or(false)).await
}

/// Gives the caller's own view another name, and shares it or not; what is left out stays.
#[server(prefix = "/api", endpoint = "views/update")]
pub async fn update_view(
    project: String,
    view: String,
    name: Option<String>,
    shared: Option<bool>,
) -> Result<Vec<SavedView>, AppError> {
    let caller = guard::of::<UpdateView>()?;
    let project = caller.project(&project)?;
    caller.panel.jobs.update_view(&caller, &project, &view, name.as_deref(), shared).await
}

/// Forgets the caller's own view; an administrator may forget what others share.
#[server(prefix = "/api", endpoint = "views/remove")]
pub async fn remove_view(project: String, view: String) -> Result<Vec<SavedView>, AppError> {
    let caller = guard::of::<RemoveView>()?;
    let project = caller.project(&project)?;
    caller.panel.jobs.remove_view(&caller, &project, &view).await
}
