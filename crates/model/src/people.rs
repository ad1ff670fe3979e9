//! All people, for administrators.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::user::{Project, Role};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    pub people: Vec<Person>,
    /// Every configured project.
    pub projects: Vec<Project>,
    /// The `cursor` of the rest; `None` if this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One person, for the page that manages them.
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
    /// The ids of the projects that an administrator assigned, including projects that are no longer configured; `None` for
    /// all.
    pub projects: Option<Vec<String>>,
    /// The projects that their groups add: ids separated by commas, or `*`. `None` where groups do not decide.
    pub group_projects: Option<String>,
    pub last_seen: Option<Timestamp>,
    pub state: AccountState,
    pub has_second_factor: bool,
    /// Whether they chose a password. Others sign in through a provider or a proxy, or were only invited.
    pub has_password: bool,
    /// Until when their link for a new password is valid; `None` without a valid one.
    pub password_link_until: Option<Timestamp>,
    /// How many of their queued prompts wait for an administrator's decision.
    pub prompts_on_hold: u32,
    /// Whether this is the signed-in person.
    pub is_you: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    Active,
    Disabled,
    /// Has no password yet; the link is valid.
    Invited,
    /// Has no password, and the link has expired.
    InvitationOver,
    /// Has no password. The link needs an administrator's decision, because its author was disabled or demoted.
    InvitationOnHold,
}
