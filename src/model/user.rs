//! People, their roles and their session.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::model::ParseError;
use crate::model::id::ProjectId;

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
    /// The address of its published pages, to which a page's path is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
}

/// The signed-in person, as the frame around every page needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentSession {
    pub username: String,
    pub role: Role,
    /// Those they may see, in configured order; `/` redirects to the first.
    pub projects: Vec<Project>,
}

/// What a one-time link is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkPurpose {
    /// Creating the first administrator, under any name.
    FirstAdministrator,
    /// Choosing the password of an invited person.
    Invitation { name: String },
}

impl CurrentSession {
    pub fn can_start_jobs(&self) -> bool {
        self.role >= Role::Operator
    }
}

impl Role {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

fn not_a_role(_: &str) -> ParseError {
    "A role is viewer, operator or admin."
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
