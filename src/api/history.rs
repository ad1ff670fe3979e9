//! The daily history: how far it is, and what is asked for first.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::history::{HistoryState, Missing};

/// How far the daily history of a project has come.
#[server(name = GetHistory, prefix = "/api", endpoint = "history/state")]
pub async fn state(project: String) -> Result<HistoryState, AppError> {
    Err(AppError::not_found(project))
}

/// Which of these days are not here.
#[server(name = GetMissing, prefix = "/api", endpoint = "history/missing")]
pub async fn missing(project: String, from: String, to: String) -> Result<Missing, AppError> {
    Err(AppError::not_found(project + &from + &to))
}

/// Asks for these days first.
#[server(name = FetchHistory, prefix = "/api", endpoint = "history/fetch")]
pub async fn fetch(project: String, from: String, to: String) -> Result<HistoryState, AppError> {
    Err(AppError::not_found(project + &from + &to))
}
