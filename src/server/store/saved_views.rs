//! Saved views: filters of the list of jobs or of the analytics page, stored under a name.

use sqlx::Row;
use sqlx::any::AnyRow;

use super::{Store, StoreError, new_id};
use crate::model::id::ProjectId;
use crate::model::saved_view::{SavedView, SavedViewName, SavedViewPage};
use crate::model::time::Timestamp;

/// The maximum number of views per person, project and page.
pub const SAVED_VIEWS_MAX: i64 = 100;

/// The owner and the page of saved views.
#[derive(Debug, Clone, Copy)]
pub struct SavedViewScope<'a> {
    pub project: &'a ProjectId,
    pub of: SavedViewPage,
    pub user_id: &'a str,
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
        SavedViewScope { project, of, user_id }: SavedViewScope<'_>,
        name: &SavedViewName,
        query: &str,
        shared: bool,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let saved = sqlx::query(
            "INSERT INTO saved_views (id, project, owner_id, name, query, shared, created_at, page)
             SELECT $1, $2, $3, $4, $5, $6, $7, $9 WHERE
                 EXISTS (SELECT 1 FROM saved_views WHERE project = $2 AND owner_id = $3 AND page = $9 AND name = $4)
                 OR (SELECT COUNT(*) FROM saved_views WHERE project = $2 AND owner_id = $3 AND page = $9) < $8
             ON CONFLICT (project, owner_id, page, name) DO UPDATE SET query = excluded.query, shared = excluded.shared",
        )
        .bind(new_id())
        .bind(project.as_str())
        .bind(user_id)
        .bind(name.as_str())
        .bind(query)
        .bind(flag(shared))
        .bind(now.as_millis())
        .bind(SAVED_VIEWS_MAX)
        .bind(of.as_str())
        .execute(&self.pool)
        .await?;
        Ok(saved.rows_affected() == 1)
    }

    /// Renames or shares a person's own view; `None` keeps the value. `false` if there is no such view.
    pub async fn update_saved_view(
        &self,
        SavedViewScope { project, of, user_id }: SavedViewScope<'_>,
        id: &str,
        name: Option<&SavedViewName>,
        shared: Option<bool>,
    ) -> Result<bool, StoreError> {
        let updated = sqlx::query(
            "UPDATE saved_views SET name = COALESCE($4, name), shared = COALESCE($5, shared)
             WHERE project = $1 AND owner_id = $2 AND id = $3 AND page = $6",
        )
        .bind(project.as_str())
        .bind(user_id)
        .bind(id)
        .bind(name.map(SavedViewName::to_string))
        .bind(shared.map(flag))
        .bind(of.as_str())
        .execute(&self.pool)
        .await?;
        Ok(updated.rows_affected() == 1)
    }

    /// Removes a person's own view or, if the person `administers`, any shared one. `false` if there is no such view.
    pub async fn remove_saved_view(
        &self,
        SavedViewScope { project, of, user_id }: SavedViewScope<'_>,
        id: &str,
        administers: bool,
    ) -> Result<bool, StoreError> {
        let removed = sqlx::query(
            "DELETE FROM saved_views WHERE project = $1 AND page = $5 AND id = $3 AND (owner_id = $2 OR (shared = 1 AND $4 = 1))",
        )
        .bind(project.as_str())
        .bind(user_id)
        .bind(id)
        .bind(flag(administers))
        .bind(of.as_str())
        .execute(&self.pool)
        .await?;
        Ok(removed.rows_affected() == 1)
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
