//! All people, as administrators see them.

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;
use crate::model::user::{Project, Role};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    pub people: Vec<Person>,
    /// Every configured project.
    pub projects: Vec<Project>,
}

/// One of them, for the page that manages a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedPerson {
    pub person: Person,
    /// Every configured project.
    pub projects: Vec<Project>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub id: String,
    pub name: String,
    pub role: Role,
    /// The ids of the projects that an administrator gave, also of those that are no longer configured; `None` for all.
    pub projects: Option<Vec<String>>,
    /// What their groups give besides: ids separated by commas, or `*`. `None` where groups do not decide.
    pub group_projects: Option<String>,
    pub last_seen: Option<Timestamp>,
    pub state: AccountState,
    pub has_second_factor: bool,
    /// Whether they chose a password. Others sign in through a provider or a proxy, or were only invited.
    pub has_password: bool,
    /// Until when their link for a new password is valid; `None` without a valid one.
    pub password_link_until: Option<Timestamp>,
    /// How many of their queued prompts wait for an administrator's decision.
    pub held_prompts: u32,
    /// Whether this is the signed-in person.
    pub is_you: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    Active,
    Disabled,
    /// Did not set a password yet; the link is valid.
    Invited,
    /// Did not set a password, and the link has expired.
    InvitationOver,
    /// Did not set a password; the link waits for an administrator's decision, because its author was disabled or demoted.
    InvitationHeld,
}
