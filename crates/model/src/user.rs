//! People, their roles and their session.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::ParseError;
use crate::id::ProjectId;

/// What a person may do; each role includes the ones before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_role)]
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
    /// The URL of its published pages, to which a page's path is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Whether the platform publishes its changes directly, without pull requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_direct: bool,
}

/// The projects that a person's groups grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenProjects {
    All,
    These(Vec<ProjectId>),
}

/// The signed-in person, for the frame around every page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentSession {
    pub username: String,
    pub role: Role,
    /// The projects that they may see, in configured order; `/` redirects to the first.
    pub projects: Vec<Project>,
}

/// The purpose of a one-time link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkPurpose {
    /// Creating the first administrator, under any name.
    FirstAdministrator,
    /// Choosing the password of an invited person.
    Invitation { name: String },
    /// Choosing a new password.
    NewPassword { name: String },
}

impl GivenProjects {
    /// The union with the projects of another group.
    pub fn and(self, other: &Self) -> Self {
        match (self, other) {
            (Self::These(mut ids), Self::These(more)) => {
                more.iter().for_each(|id| {
                    if !ids.contains(id) {
                        ids.push(id.clone());
                    }
                });
                Self::These(ids)
            }
            _ => Self::All,
        }
    }

    pub fn contains(&self, project: &ProjectId) -> bool {
        match self {
            Self::All => true,
            Self::These(ids) => ids.contains(project),
        }
    }
}

/// No project.
impl Default for GivenProjects {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

/// `*`, or ids separated by commas.
impl fmt::Display for GivenProjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::These(ids) => f.write_str(&ids.iter().map(ProjectId::as_str).collect::<Vec<_>>().join(",")),
        }
    }
}

impl CurrentSession {
    pub fn can_start_jobs(&self) -> bool {
        self.role >= Role::Operator
    }

    /// The URL of the published pages of a project.
    pub fn site(&self, project: &str) -> Option<&str> {
        self.projects.iter().find(|known| known.id.as_str() == project)?.site.as_deref()
    }
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

fn not_a_role(_: &str) -> ParseError {
    "A role is viewer, operator or admin.".into()
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
