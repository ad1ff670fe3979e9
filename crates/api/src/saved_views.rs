//! Saved views of the list of jobs or of the analytics page. `of` is `jobs` (the default) or `analytics`. Each endpoint
//! returns the views that the caller now sees. Viewers may save views of their own.

use leptos::prelude::*;

use model::error::AppError;
use model::saved_view::SavedView;
#[cfg(feature = "ssr")]
use model::saved_view::SavedViewPage;

#[cfg(feature = "ssr")]
use web::{auth::guard, request::forms};

/// The caller's own views and shared ones. `cursor`: the header `docket-next` of an earlier part.
#[server(name = GetSavedViews, prefix = "/api", endpoint = "saved-views/list")]
pub async fn get_saved_views(
    project: String,
    of: Option<String>,
    cursor: Option<String>,
) -> Result<Vec<SavedView>, AppError> {
    forms::respond_with_part(list_saved_views(project, of).await?, cursor.as_deref())
}

/// As [`get_saved_views`], all at once for a page.
#[cfg(feature = "ssr")]
pub async fn list_saved_views(project: String, of: Option<String>) -> Result<Vec<SavedView>, AppError> {
    let (caller, state) = guard::of::<GetSavedViews>()?;
    let project = caller.project(&project)?;
    state.saved_views.list(&caller, &project, SavedViewPage::parse(of)?).await
}

/// Saves `query`, the query string of the page, under a name; a view with that name is replaced.
#[server(prefix = "/api", endpoint = "saved-views/save")]
pub async fn save_view(
    project: String,
    of: Option<String>,
    name: String,
    query: String,
    shared: Option<bool>,
) -> Result<Vec<SavedView>, AppError> {
    let (caller, state) = guard::of::<SaveView>()?;
    let project = caller.project(&project)?;
    let (of, name) = (SavedViewPage::parse(of)?, name.parse()?);
    let views = state.saved_views.save(&caller, &project, of, &name, &query, shared.unwrap_or(false)).await?;
    forms::respond_with_first_part(views)
}

/// Renames or shares the caller's own view; omitted fields keep their value.
#[server(prefix = "/api", endpoint = "saved-views/update")]
pub async fn update_saved_view(
    project: String,
    of: Option<String>,
    view: String,
    name: Option<String>,
    shared: Option<bool>,
) -> Result<Vec<SavedView>, AppError> {
    let (caller, state) = guard::of::<UpdateSavedView>()?;
    let project = caller.project(&project)?;
    let (of, view) = (SavedViewPage::parse(of)?, view.parse()?);
    let name = name.as_deref().map(str::parse).transpose()?;
    let views = state.saved_views.update(&caller, &project, of, &view, name.as_ref(), shared).await?;
    forms::respond_with_first_part(views)
}

/// Removes the caller's own view; administrators may also remove shared ones.
#[server(prefix = "/api", endpoint = "saved-views/remove")]
pub async fn remove_saved_view(
    project: String,
    of: Option<String>,
    view: String,
) -> Result<Vec<SavedView>, AppError> {
    let (caller, state) = guard::of::<RemoveSavedView>()?;
    let project = caller.project(&project)?;
    let of = SavedViewPage::parse(of)?;
    let views = state.saved_views.remove(&caller, &project, of, &view.parse()?).await?;
    forms::respond_with_first_part(views)
}
