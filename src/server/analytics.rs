//! Answers from the daily history, without a call upstream. Must not write, but for annotations.

pub mod annotations;
pub mod question;

use self::question::TableQuestion;
use crate::error::AppError;
use crate::model::day::DayRange;
use crate::model::history::{Movers, PageReport, PagesReport, Trend};
use crate::model::id::ProjectId;
use crate::server::panel::Panel;

/// The daily history as people ask about it.
pub struct Analytics;

impl Analytics {
    pub fn of(_: &Panel) -> Self {
        Self
    }

    pub async fn pages(&self, _: &TableQuestion) -> Result<PagesReport, AppError> {
        Err(AppError::internal())
    }

    pub async fn trend(&self, _: &ProjectId, _: DayRange, _: Option<&str>) -> Result<Trend, AppError> {
        Err(AppError::internal())
    }

    pub async fn movers(&self, _: &ProjectId, _: DayRange) -> Result<Movers, AppError> {
        Err(AppError::internal())
    }

    pub async fn page(&self, _: &ProjectId, _: DayRange, _: &str) -> Result<PageReport, AppError> {
        Err(AppError::internal())
    }
}
