//! A day that is being fetched: its pages are stored until the day is complete, so that a fetch continues after a restart.

use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::any::AnyRow;

use super::count;
use crate::{Store, StoreError, word};
use base::work::Work;
use model::day::Day;
use model::id::ProjectId;
use model::page_views::{PageViews, ViewCounts};
use model::time::Timestamp;

/// One response of the upstream about a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedPage {
    pub totals: ViewCounts,
    pub views: Vec<PageViews>,
    /// Whether there is another page.
    pub has_more: bool,
    /// Whether invalid numbers were corrected.
    pub corrected: bool,
}

/// The progress of fetching a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialDay {
    pub day: Day,
    /// The number of stored pages, without gaps; at least 1.
    pub pages: u32,
    pub last: FetchedPage,
    pub last_at: Timestamp,
}

impl Store {
    /// The day that is being fetched, if any. Pages in the format of another version are ignored.
    pub async fn partial_day(&self, project: &ProjectId) -> Result<Option<PartialDay>, StoreError> {
        let row = sqlx::query(
            "SELECT day, page, response, fetched_at FROM partial_days WHERE project = $1
             ORDER BY page DESC LIMIT 1",
        )
        .bind(project.as_str())
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let last = match page(&row) {
            Ok(last) => last,
            Err(StoreError::Corrupt(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(PartialDay {
            day: word(&row, "day")?,
            pages: count(&row, "page")?.saturating_add(1),
            last,
            last_at: Timestamp::from_millis(row.try_get("fetched_at")?),
        }))
    }

    /// Stores page `number` (from 0) of `day`, requested at `requested_at`.
    pub async fn store_page(
        &self,
        work: &Work,
        project: &ProjectId,
        day: Day,
        number: u32,
        page: &FetchedPage,
        requested_at: Timestamp,
    ) -> Result<(), StoreError> {
        let response = serde_json::to_string(page).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let mut tx = self.begin_fetched(work).await?;
        sqlx::query(
            "INSERT INTO partial_days (project, day, page, response, fetched_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (project, day, page) DO UPDATE SET response = excluded.response, fetched_at = excluded.fetched_at",
        )
        .bind(project.as_str())
        .bind(day.to_string())
        .bind(i64::from(number))
        .bind(response)
        .bind(requested_at.as_millis())
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// Deletes the pages of a day that is not complete.
    pub async fn drop_partial_day(&self, work: &Work, project: &ProjectId) -> Result<(), StoreError> {
        let mut tx = self.begin_fetched(work).await?;
        sqlx::query("DELETE FROM partial_days WHERE project = $1")
            .bind(project.as_str())
            .execute(&mut *tx)
            .await?;
        Ok(tx.commit().await?)
    }
}

/// The stored page in a row of `partial_days`.
pub(super) fn page(row: &AnyRow) -> Result<FetchedPage, StoreError> {
    let response: String = row.try_get("response")?;
    serde_json::from_str(&response).map_err(|_| StoreError::Corrupt("a page that cannot be read".to_owned()))
}
