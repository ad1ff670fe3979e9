//! Saved views. The canonical query of known fields is stored, never a URL.

use thiserror::Error;

use crate::analytics;
use crate::caller::Caller;
use crate::jobs::filter;
use base::clock::Clock;
use model::day::Day;
use model::error::{AppError, BadInput, ErrorCode};
use model::id::{ProjectId, SavedViewId};
use model::saved_view::{SavedView, SavedViewName, SavedViewPage};
use model::user::Role;
use store::jobs::saved_views::{SAVED_VIEWS_MAX, SavedViewScope};
use store::{Store, StoreError};

/// Why a view cannot be saved.
#[derive(Debug, Error)]
enum SavedViewError {
    #[error("There is nothing to save: filter, search or sort first.")]
    Empty,
    #[error("You have {SAVED_VIEWS_MAX} saved views already. Remove one of them first.")]
    TooMany,
    #[error("You already have a view with that name. Choose another name.")]
    NameTaken,
}

impl BadInput for SavedViewError {}

/// The saved views of people.
#[derive(Clone)]
pub struct SavedViews {
    store: Store,
    clock: Clock,
}

impl SavedViews {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }

    /// The caller's own views and shared ones.
    pub async fn list(
        &self,
        caller: &Caller,
        project: &ProjectId,
        of: SavedViewPage,
    ) -> Result<Vec<SavedView>, AppError> {
        Ok(self.store.saved_views(scope(caller, project, of)).await?)
    }

    /// Saves the known filters in `query` as the caller's view with this name.
    pub async fn save(
        &self,
        caller: &Caller,
        project: &ProjectId,
        of: SavedViewPage,
        name: &SavedViewName,
        query: &str,
        shared: bool,
    ) -> Result<Vec<SavedView>, AppError> {
        may_share(caller, shared)?;
        let query = match of {
            SavedViewPage::Jobs => filter::canonical(query, Day::of(self.clock.now()))?,
            SavedViewPage::Analytics => analytics::saved::to_saved(Day::of(self.clock.now()), query)?,
        };
        if query.is_empty() {
            return Err(SavedViewError::Empty.into());
        }
        let store = &self.store;
        if !store.save_view(caller.authority(), scope(caller, project, of), name, &query, shared).await? {
            return Err(SavedViewError::TooMany.into());
        }
        self.list(caller, project, of).await
    }

    /// Renames or shares the caller's own view.
    pub async fn update(
        &self,
        caller: &Caller,
        project: &ProjectId,
        of: SavedViewPage,
        view: &SavedViewId,
        name: Option<&SavedViewName>,
        shared: Option<bool>,
    ) -> Result<Vec<SavedView>, AppError> {
        may_share(caller, shared.unwrap_or_default())?;
        let (store, scope) = (&self.store, scope(caller, project, of));
        let updated = store.update_saved_view(caller.authority(), scope, view.as_str(), name, shared).await;
        if !updated.map_err(name_in_use)? {
            return Err(missing());
        }
        self.list(caller, project, of).await
    }

    /// Removes the caller's own view; administrators may also remove shared ones.
    pub async fn remove(
        &self,
        caller: &Caller,
        project: &ProjectId,
        of: SavedViewPage,
        view: &SavedViewId,
    ) -> Result<Vec<SavedView>, AppError> {
        let administers = caller.user.role >= Role::Admin;
        let (store, scope) = (&self.store, scope(caller, project, of));
        if !store.remove_saved_view(caller.authority(), scope, view.as_str(), administers).await? {
            return Err(missing());
        }
        self.list(caller, project, of).await
    }
}

fn scope<'a>(caller: &'a Caller, project: &'a ProjectId, of: SavedViewPage) -> SavedViewScope<'a> {
    SavedViewScope { project, of, user_id: &caller.user.id }
}

/// Shared views are in everyone's list, so viewers may not share.
fn may_share(caller: &Caller, shared: bool) -> Result<(), AppError> {
    if shared && caller.user.role < Role::Operator {
        let message =
            "Viewers cannot share saved views. Sharing needs the operator role; ask an administrator.";
        return Err(AppError::new(ErrorCode::Forbidden, message));
    }
    Ok(())
}

/// The same error for other people's views, so that their existence is not revealed.
fn missing() -> AppError {
    AppError::not_found("You have no such saved view.")
}

fn name_in_use(error: StoreError) -> AppError {
    if error.is_duplicate() { SavedViewError::NameTaken.into() } else { error.into() }
}
