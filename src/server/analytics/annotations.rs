//! The team's own notes on days: who may write which.

use crate::error::AppError;
use crate::model::history::Annotation;
use crate::model::id::ProjectId;
use crate::server::auth::guard::Caller;

pub async fn save(
    _: &Caller,
    _: &ProjectId,
    _: &str,
    _: &str,
    _: Option<&str>,
) -> Result<Annotation, AppError> {
    Err(AppError::internal())
}

pub async fn remove(_: &Caller, _: &ProjectId, _: &str) -> Result<(), AppError> {
    Err(AppError::internal())
}
