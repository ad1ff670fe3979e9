//! The server's results for the command palette.

use serde::{Deserialize, Serialize};

use crate::job::JobBadge;

/// What matches words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub templates: Vec<PaletteItem>,
    pub jobs: Vec<PaletteItem>,
    /// Saved views of the list of jobs and of analytics.
    #[serde(default)]
    pub views: Vec<PaletteItem>,
    /// Documentation pages, which lead to their reports.
    #[serde(default)]
    pub pages: Vec<PaletteItem>,
}

/// A page to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaletteItem {
    pub name: String,
    /// Distinguishes it from other results of the same name.
    pub detail: String,
    pub href: String,
    /// The state of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<JobBadge>,
}
