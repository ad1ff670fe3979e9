//! Saved views: filters of the list of jobs or of the analytics page, stored under a name.

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, Row};

use crate::{Authority, Change, Store, StoreError, audit, new_id};
use model::audit::{Action, AuditEvent};
use model::id::ProjectId;
use model::saved_view::{SavedView, SavedViewName, SavedViewPage};

/// The maximum number of views per person, project and page.
pub const SAVED_VIEWS_MAX: i64 = 100;

/// The owner and the page of saved views.
#[derive(Debug, Clone, Copy)]
pub struct SavedViewScope<'a> {
    pub project: &'a ProjectId,
    pub of: SavedViewPage,
    pub user_id: &'a str,
}

/// Whether a view is shared, as the audit log records it: without the view's name.
const fn visibility(shared: bool) -> &'static str {
    if shared { "shared" } else { "private" }
}

/// A boolean as a database integer.
const fn flag(value: bool) -> i64 {
    value as i64
}

impl Store {
    /// The views that this person may see: their own first, then shared ones, by name.
    pub async fn saved_views(
        &self,
        SavedViewScope { project, of, user_id }: SavedViewScope<'_>,
    ) -> Result<Vec<SavedView>, StoreError> {
        let rows = sqlx::query(
            "SELECT v.*, u.name AS owner FROM saved_views v JOIN users u ON u.id = v.owner_id
             WHERE v.project = $1 AND v.page = $3 AND (v.owner_id = $2 OR v.shared = 1)
             ORDER BY CASE WHEN v.owner_id = $2 THEN 0 ELSE 1 END, LOWER(v.name), v.id",
        )
        .bind(project.as_str())
        .bind(user_id)
        .bind(of.as_str())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| saved_view(row, user_id)).collect()
    }

    /// Saves a view; one with the same name is replaced. `false` if the person has too many.
    pub async fn save_view(
        &self,
        by: Authority<'_>,
        SavedViewScope { project, of, user_id }: SavedViewScope<'_>,
        name: &SavedViewName,
        query: &str,
        shared: bool,
    ) -> Result<bool, StoreError> {
        let now = by.now();
        let saved = sqlx::query(
            "INSERT INTO saved_views (id, project, owner_id, name, query, shared, created_at, page)
             SELECT $1, $2, $3, $4, $5, $6, $7, $9 WHERE
                 EXISTS (SELECT 1 FROM saved_views WHERE project = $2 AND owner_id = $3 AND page = $9 AND name = $4)
                 OR (SELECT COUNT(*) FROM saved_views WHERE project = $2 AND owner_id = $3 AND page = $9) < $8
             ON CONFLICT (project, owner_id, page, name) DO UPDATE SET query = excluded.query, shared = excluded.shared
             RETURNING id, shared",
        )
        .bind(new_id())
        .bind(project.as_str())
        .bind(user_id)
        .bind(name.as_str())
        .bind(query)
        .bind(flag(shared))
        .bind(now.as_millis())
        .bind(SAVED_VIEWS_MAX)
        .bind(of.as_str());
        self.change_view(by, saved, Action::SavedViewSave, project).await
    }

    /// Renames or shares a person's own view; `None` leaves the value unchanged. `false` if there is no such view.
    pub async fn update_saved_view(
        &self,
        by: Authority<'_>,
        SavedViewScope { project, of, user_id }: SavedViewScope<'_>,
        id: &str,
        name: Option<&SavedViewName>,
        shared: Option<bool>,
    ) -> Result<bool, StoreError> {
        let updated = sqlx::query(
            "UPDATE saved_views SET name = COALESCE($4, name), shared = COALESCE($5, shared)
             WHERE project = $1 AND owner_id = $2 AND id = $3 AND page = $6 RETURNING id, shared",
        )
        .bind(project.as_str())
        .bind(user_id)
        .bind(id)
        .bind(name.map(SavedViewName::to_string))
        .bind(shared.map(flag))
        .bind(of.as_str());
        self.change_view(by, updated, Action::SavedViewChange, project).await
    }

    /// Removes a person's own view or, if the person `administers`, any shared one. `false` if there is no such view.
    pub async fn remove_saved_view(
        &self,
        by: Authority<'_>,
        SavedViewScope { project, of, user_id }: SavedViewScope<'_>,
        id: &str,
        administers: bool,
    ) -> Result<bool, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM saved_views WHERE project = $1 AND page = $5 AND id = $3 AND (owner_id = $2 OR (shared = 1 AND $4 = 1))
             RETURNING id, shared",
        )
        .bind(project.as_str())
        .bind(user_id)
        .bind(id)
        .bind(flag(administers))
        .bind(of.as_str());
        self.change_view(by, removed, Action::SavedViewRemove, project).await
    }

    /// Changes one view, and records the change in the same transaction; `false` if there is no such view.
    async fn change_view(
        &self,
        by: Authority<'_>,
        change: Query<'_, Any, AnyArguments>,
        action: Action,
        project: &ProjectId,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let Some(row) = change.fetch_optional(&mut *tx).await? else { return Ok(false) };
        let id: String = row.try_get("id")?;
        let shared = row.try_get::<i64, _>("shared")? == 1;
        let event = AuditEvent::new(action).in_project(project).on(id).with_detail(visibility(shared));
        audit::record_often(&mut tx, &by, &event, now).await?;
        tx.commit().await?;
        Ok(true)
    }
}

fn saved_view(row: &AnyRow, user_id: &str) -> Result<SavedView, StoreError> {
    Ok(SavedView {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        query: row.try_get("query")?,
        shared: row.try_get::<i64, _>("shared")? == 1,
        owner: row.try_get("owner")?,
        own: row.try_get::<String, _>("owner_id")? == user_id,
    })
}
