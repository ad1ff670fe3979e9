//! What of the list of jobs, or of the analytics, people keep under a name. `of` is `jobs` (unless told) or `analytics`. Each
//! answers the views that the caller sees then. They are everybody's own to keep, so a viewer may.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::saved_view::SavedView;
#[cfg(feature = "ssr")]
use crate::{
    model::saved_view::SavedViewPage,
    server::{auth::guard, saved_views},
};

/// The caller's own views and those that others share.
#[server(name = GetSavedViews, prefix = "/api", endpoint = "saved-views/list")]
pub async fn list_saved_views(project: String, of: Option<String>) -> Result<Vec<SavedView>, AppError> {
    let caller = guard::of::<GetSavedViews>()?;
    let project = caller.project(&project)?;
    saved_views::list(&caller, &project, SavedViewPage::parse(of).map_err(AppError::bad_input)?).await
}

/// Keeps `query`, the part of the page's address after the `?`, under a name; a view of that name is replaced.
#[server(prefix = "/api", endpoint = "saved-views/save")]
pub async fn save_view(
    project: String,
    of: Option<String>,
    name: String,
    query: String,
    shared: Option<bool>,
) -> Result<Vec<SavedView>, AppError> {
    let caller = guard::of::<SaveView>()?;
    let project = caller.project(&project)?;
    let of = SavedViewPage::parse(of).map_err(AppError::bad_input)?;
    saved_views::save(&caller, &project, of, &name, &query, shared.unwrap_or(false)).await
}

/// Gives the caller's own view another name, and shares it or not; what is left out stays.
#[server(prefix = "/api", endpoint = "saved-views/update")]
pub async fn update_saved_view(
    project: String,
    of: Option<String>,
    view: String,
    name: Option<String>,
    shared: Option<bool>,
) -> Result<Vec<SavedView>, AppError> {
    let caller = guard::of::<UpdateSavedView>()?;
    let project = caller.project(&project)?;
    let of = SavedViewPage::parse(of).map_err(AppError::bad_input)?;
    saved_views::update(&caller, &project, of, &view, name.as_deref(), shared).await
}

/// Forgets the caller's own view; an administrator may forget what others share.
#[server(prefix = "/api", endpoint = "saved-views/remove")]
pub async fn remove_saved_view(
    project: String,
    of: Option<String>,
    view: String,
) -> Result<Vec<SavedView>, AppError> {
    let caller = guard::of::<RemoveSavedView>()?;
    let project = caller.project(&project)?;
    let of = SavedViewPage::parse(of).map_err(AppError::bad_input)?;
    saved_views::remove(&caller, &project, of, &view).await
}
