//! The server's results for the command palette.

use serde::{Deserialize, Serialize};

use crate::job::JobBadge;

/// Jobs and templates that match words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub templates: Vec<PaletteItem>,
    pub jobs: Vec<PaletteItem>,
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
