//! The team's own notes on days. A plain form comes back to the page it was on.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::history::Annotation;
#[cfg(feature = "ssr")]
use crate::server::{analytics::annotations, auth::guard};

/// Writes a sentence at a day: a new one, or (with `id`) another text or day for one's own; administrators may change any.
#[server(prefix = "/api", endpoint = "annotations/save")]
pub async fn save_annotation(
    project: String,
    day: String,
    text: String,
    id: Option<String>,
) -> Result<Annotation, AppError> {
    let caller = guard::of::<SaveAnnotation>()?;
    let project = caller.project(&project)?;
    annotations::save(&caller, &project, &day, &text, id.as_deref()).await
}

/// Removes one's own annotation; administrators may remove any.
#[server(prefix = "/api", endpoint = "annotations/remove")]
pub async fn remove_annotation(project: String, id: String) -> Result<(), AppError> {
    let caller = guard::of::<RemoveAnnotation>()?;
    let project = caller.project(&project)?;
    annotations::remove(&caller, &project, &id).await
}
