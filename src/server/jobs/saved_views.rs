//! Filters that people keep under a name. What is kept is the canonical query of known fields, never an address.

use crate::error::{AppError, ErrorCode};
use crate::model::id::{ProjectId, ViewId};
use crate::model::job_query::JobQuery;
use crate::model::saved_view::{SavedView, ViewName};
use crate::model::user::Role;
use crate::server::auth::guard::Caller;
use crate::server::jobs::Jobs;
use crate::server::jobs::filter::parse;
use crate::server::store::StoreError;
use crate::server::store::saved_views::VIEWS_MAX;

impl Jobs {
    pub async fn saved_views(
        &self,
        caller: &Caller,
        project: &ProjectId,
    ) -> Result<Vec<SavedView>, AppError> {
        Ok(self.store.saved_views(project, &caller.user.id).await?)
    }

    /// Keeps the filters of `query`, whatever else stands in it, as the caller's view of that name.
    pub async fn save_view(
        &self,
        caller: &Caller,
        project: &ProjectId,
        name: &str,
        query: &str,
        shared: bool,
    ) -> Result<Vec<SavedView>, AppError> {
        let name: ViewName = name.parse().map_err(AppError::bad_input)?;
        may_share(caller, shared)?;
        let (query, _) = parse(&fields(query))?;
        if query == JobQuery::default() {
            return Err(AppError::bad_input(
                "There is nothing to save: filter, search or sort the list first.",
            ));
        }
        let (query, now) = (query.canonical(), self.clock.now());
        if !self.store.save_view(project, &caller.user.id, &name, &query, shared, now).await? {
            return Err(AppError::bad_input(format!(
                "You have {VIEWS_MAX} saved views already. Remove one of them first."
            )));
        }
        self.saved_views(caller, project).await
    }

    /// Another name, or shared or not, for the caller's own view.
    pub async fn update_view(
        &self,
        caller: &Caller,
        project: &ProjectId,
        view: &str,
        name: Option<&str>,
        shared: Option<bool>,
    ) -> Result<Vec<SavedView>, AppError> {
        let view: ViewId = view.parse().map_err(AppError::bad_input)?;
        let name: Option<ViewName> = name.map(str::parse).transpose().map_err(AppError::bad_input)?;
        may_share(caller, shared.unwrap_or_default())?;
        let updated =
            self.store.update_view(project, &caller.user.id, view.as_str(), name.as_ref(), shared).await;
        if !updated.map_err(taken_name)? {
            return Err(missing());
        }
        self.saved_views(caller, project).await
    }

    /// Forgets the caller's own view; administrators may forget what others share.
    pub async fn remove_view(
        &self,
        caller: &Caller,
        project: &ProjectId,
        view: &str,
    ) -> Result<Vec<SavedView>, AppError> {
        let view: ViewId = view.parse().map_err(AppError::bad_input)?;
        let administers = caller.user.role >= Role::Admin;
        if !self.store.remove_view(project, &caller.user.id, view.as_str(), administers).await? {
            return Err(missing());
        }
        self.saved_views(caller, project).await
    }
}

/// What is shared stands in everybody's list, so viewers keep theirs to themselves.
fn may_share(caller: &Caller, shared: bool) -> Result<(), AppError> {
    if shared && caller.user.role < Role::Operator {
        let message =
            "Viewers keep their views to themselves; sharing needs the role operator. Ask an administrator.";
        return Err(AppError::new(ErrorCode::Forbidden, message));
    }
    Ok(())
}

/// The known fields of a query; the first of those that stand in it twice.
fn fields(query: &str) -> JobQuery {
    let pairs: Vec<(String, String)> =
        url::form_urlencoded::parse(query.trim_start_matches('?').as_bytes()).into_owned().collect();
    JobQuery::of(|name| pairs.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone()))
}

/// Whose it is makes no difference to somebody who may not change it.
fn missing() -> AppError {
    AppError::not_found("You have no such saved view here.")
}

fn taken_name(error: StoreError) -> AppError {
    if error.is_duplicate() {
        AppError::bad_input("You have a view of that name already. Choose another name.")
    } else {
        error.into()
    }
}
