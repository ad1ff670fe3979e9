//! `docket backup`: a consistent copy of the database while the server runs.

use std::path::Path;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use base::config::Database;
use store::Store;

/// Writes the copy to `file`, which must not exist yet.
pub async fn backup(database: &Database, file: &Path) -> anyhow::Result<()> {
    // Opened without migrating: a backup before an upgrade needs the schema of the old version.
    let store = Store::open_to_read(&database.url).await?;
    store
        .backup(file, &CancellationToken::new())
        .await
        .with_context(|| format!("no backup was written to {}", file.display()))?;
    store.close().await;
    Ok(())
}
