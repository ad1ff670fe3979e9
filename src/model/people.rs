//! The people of a panel, as administrators see them.

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;
use crate::model::user::{Project, Role};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct People {
    pub people: Vec<Person>,
    /// Every project there is.
    pub projects: Vec<Project>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub id: String,
    pub name: String,
    pub role: Role,
    /// The ids of the only projects they may see; nothing: all there are.
    pub projects: Option<Vec<String>>,
    pub last_seen: Option<Timestamp>,
    pub state: AccountState,
    pub has_second_factor: bool,
    /// Whether it is who asks.
    pub is_you: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountState {
    Active,
    Disabled,
    /// Has not come yet; the link is good.
    Invited,
    /// Has not come, and the link is over.
    InvitationOver,
}
