//! What the command palette finds on the server.

use serde::{Deserialize, Serialize};

use crate::model::job::JobBadge;

/// Jobs and templates by words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    pub templates: Vec<Place>,
    pub jobs: Vec<Place>,
}

/// A page to go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub name: String,
    /// What distinguishes it from others of the same name.
    pub detail: String,
    pub href: String,
    /// The state of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<JobBadge>,
}
