//! People, their roles and their session.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::id::ProjectId;

/// What a person may do; each role includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Read-only.
    Viewer,
    /// Starts jobs and sends follow-ups.
    Operator,
    /// Manages people and settings.
    Admin,
}

/// A configured documentation project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
}

/// The signed-in person, as the frame around every page needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentSession {
    pub username: String,
    pub role: Role,
    /// Those they may see, in configured order; `/` redirects to the first.
    pub projects: Vec<Project>,
}

impl CurrentSession {
    pub fn can_start_jobs(&self) -> bool {
        self.role >= Role::Operator
    }
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Role {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Viewer, Self::Operator, Self::Admin]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or("A role is viewer, operator or admin.")
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
