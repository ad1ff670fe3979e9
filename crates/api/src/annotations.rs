//! The team's notes on days. Plain forms return to the page they were on.

use leptos::prelude::*;

use model::analytics::trend::Annotation;
use model::error::AppError;
#[cfg(feature = "ssr")]
use model::id::optional;
#[cfg(feature = "ssr")]
use web::auth::guard;

/// Adds a note to a day or (with `id`) changes the caller's own note; administrators may change any.
#[server(prefix = "/api", endpoint = "annotations/save")]
pub async fn save_annotation(
    project: String,
    day: String,
    text: String,
    id: Option<String>,
) -> Result<Annotation, AppError> {
    let (caller, state) = guard::of::<SaveAnnotation>()?;
    let project = caller.project(&project)?;
    state.annotations.save(&caller, &project, day.parse()?, text.parse()?, optional(id.as_deref())?).await
}

/// Removes the caller's own note; administrators may remove any.
#[server(prefix = "/api", endpoint = "annotations/remove")]
pub async fn remove_annotation(project: String, id: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<RemoveAnnotation>()?;
    let project = caller.project(&project)?;
    state.annotations.remove(&caller, &project, &id.parse()?).await
}
