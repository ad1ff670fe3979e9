//! The pages of settings, drawn on the server.

use leptos::prelude::*;

use crate::error::AppError;
#[cfg(feature = "ssr")]
use crate::server::{auth::guard, settings};

/// What the page at `path` shows below its title, as HTML; `query` is that of its address. Tells once what came of the last form.
#[server(name = GetSettings, prefix = "/api", endpoint = "settings/page")]
pub async fn settings_page(path: String, query: String) -> Result<String, AppError> {
    let caller = guard::of::<GetSettings>()?;
    settings::page(&caller, &path, &query).await
}
