//! The command palette.

use leptos::prelude::*;

use model::error::AppError;
use model::palette::Found;
#[cfg(feature = "ssr")]
use web::auth::guard;

/// The project's templates, jobs, saved views and documentation pages with the words of `q`, at most eight of each. Jobs whose pull request, branch, id, author
/// or tag is `q` come first. Without words the last changed jobs, and no pages.
#[server(prefix = "/api", endpoint = "palette/find")]
pub async fn find_in_palette(project: String, q: Option<String>) -> Result<Found, AppError> {
    let (caller, state) = guard::of::<FindInPalette>()?;
    let project = caller.project(&project)?;
    let permit = caller.query_permit().await?;
    state.jobs.palette(&permit, &caller, &project, q.as_deref().unwrap_or_default()).await
}
