//! Audit events: the fixed list of actions, and the fields of a record. Records never contain prompts or other text
//! that people write.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::model::id::ProjectId;
use crate::model::time::Timestamp;
use crate::model::user::Project;

/// Every audited action, in the order of [`WORDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    SignIn,
    SignOut,
    SetUp,
    JobStart,
    FollowUp,
    Resend,
    Resolve,
    Cancel,
    Import,
    BatchStart,
    Export,
    HistoryFetch,
    TemplateAdd,
    TemplateChange,
    TemplateRemove,
    WebhookAdd,
    WebhookSecret,
    WebhookEnable,
    WebhookDisable,
    WebhookRemove,
    WebhookTest,
    WebhookResend,
    UserAdd,
    UserInvite,
    UserInviteAgain,
    UserWithdraw,
    UserJoin,
    UserAccess,
    UserPassword,
    UserDisable,
    UserEnable,
    SessionsEnd,
    SecondFactorOn,
    SecondFactorOff,
    RecoveryCodes,
    Denied,
    AuditExport,
    AuditRemove,
}

/// Each action, its stored word (also used in addresses), and its display name.
const WORDS: &[(Action, &str, &str)] = &[
    (Action::SignIn, "sign_in", "Sign-in"),
    (Action::SignOut, "sign_out", "Sign-out"),
    (Action::SetUp, "set_up", "First administrator created"),
    (Action::JobStart, "job_start", "Job started"),
    (Action::FollowUp, "follow_up", "Follow-up sent"),
    (Action::Resend, "resend", "Prompt sent again"),
    (Action::Resolve, "resolve", "Delivery marked as accepted"),
    (Action::Cancel, "cancel", "Prompt cancelled"),
    (Action::Import, "adopt", "Job imported"),
    (Action::BatchStart, "batch_start", "Batch started"),
    (Action::Export, "export", "Analytics exported"),
    (Action::HistoryFetch, "history_fetch", "History requested"),
    (Action::TemplateAdd, "template_add", "Template added"),
    (Action::TemplateChange, "template_change", "Template changed"),
    (Action::TemplateRemove, "template_remove", "Template deleted"),
    (Action::WebhookAdd, "webhook_add", "Webhook added"),
    (Action::WebhookSecret, "webhook_secret", "Webhook secret renewed"),
    (Action::WebhookEnable, "webhook_enable", "Webhook enabled"),
    (Action::WebhookDisable, "webhook_disable", "Webhook disabled"),
    (Action::WebhookRemove, "webhook_remove", "Webhook deleted"),
    (Action::WebhookTest, "webhook_test", "Webhook tested"),
    (Action::WebhookResend, "webhook_resend", "Webhook event sent again"),
    (Action::UserAdd, "user_add", "Account added"),
    (Action::UserInvite, "user_invite", "Person invited"),
    (Action::UserInviteAgain, "user_invite_again", "Invitation renewed"),
    (Action::UserWithdraw, "user_withdraw", "Invitation withdrawn"),
    (Action::UserJoin, "user_join", "Invitation accepted"),
    (Action::UserAccess, "user_access", "Role or projects changed"),
    (Action::UserPassword, "user_password", "Password changed"),
    (Action::UserDisable, "user_disable", "Account disabled"),
    (Action::UserEnable, "user_enable", "Account enabled"),
    (Action::SessionsEnd, "sessions_end", "Sessions ended"),
    (Action::SecondFactorOn, "second_factor_on", "Second factor switched on"),
    (Action::SecondFactorOff, "second_factor_off", "Second factor switched off"),
    (Action::RecoveryCodes, "recovery_codes", "Recovery codes renewed"),
    (Action::Denied, "denied", "Request refused"),
    (Action::AuditExport, "audit_export", "Audit log exported"),
    (Action::AuditRemove, "audit_remove", "Old records removed"),
];

/// The outcome of the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Refused,
}

/// Who acts, and from which address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Empty without an account.
    pub id: String,
    pub name: String,
    /// The client's address; empty if the action did not come over the network.
    pub address: String,
}

/// An audit event that is about to be recorded.
#[derive(Debug, Clone)]
pub struct AuditEvent {
    pub action: Action,
    pub outcome: Outcome,
    pub project: Option<ProjectId>,
    /// The target of the action: an id or a person's name.
    pub subject: String,
    pub detail: String,
}

/// A stored record. Words that this version does not know are shown as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub number: i64,
    pub at: Timestamp,
    pub actor_id: String,
    pub actor: String,
    pub address: String,
    pub action: String,
    pub outcome: String,
    pub project: String,
    pub subject: String,
    pub detail: String,
}

/// One page of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPage {
    /// Newest first.
    pub records: Vec<Record>,
    /// Why the query is invalid, if it is; then there are no records.
    pub problem: Option<AppError>,
    /// The `before` of the next page; `None` on the last one.
    pub next: Option<i64>,
    /// The names of everyone with a record.
    pub people: Vec<String>,
    pub projects: Vec<Project>,
    /// The result of the verification, if it was requested.
    pub check: Option<AuditCheck>,
}

/// The result of verifying every record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditCheck {
    /// The last record that retention removed; 0 if it removed none.
    pub removed_up_to: i64,
    /// The number of the last record for which the chain is valid.
    pub last: i64,
    /// That number with its hash, for comparison with a copy stored elsewhere.
    pub link: String,
    /// Where and how the chain breaks.
    pub fault: Option<String>,
}

impl Action {
    /// In the order of the list.
    pub fn all() -> impl Iterator<Item = Self> {
        WORDS.iter().map(|(action, _, _)| *action)
    }

    pub fn as_str(self) -> &'static str {
        WORDS[self as usize].1
    }

    /// The display name.
    pub fn title(self) -> &'static str {
        WORDS[self as usize].2
    }
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
        }
    }

    /// The display name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Done => "Done",
            Self::Refused => "Refused",
        }
    }
}

impl Actor {
    /// Docket itself, without a request by a person.
    pub fn docket() -> Self {
        Self { id: String::new(), name: "Docket".to_owned(), address: String::new() }
    }

    /// The user of the command line.
    pub fn command_line() -> Self {
        Self { id: String::new(), name: "command line".to_owned(), address: String::new() }
    }

    /// An unauthenticated client at `address`.
    pub fn unknown(address: &str) -> Self {
        Self { id: String::new(), name: String::new(), address: address.to_owned() }
    }
}

impl AuditEvent {
    pub fn new(action: Action) -> Self {
        let (subject, detail) = (String::new(), String::new());
        Self { action, outcome: Outcome::Done, project: None, subject, detail }
    }

    pub fn refused(self) -> Self {
        Self { outcome: Outcome::Refused, ..self }
    }

    pub fn in_project(self, project: &ProjectId) -> Self {
        Self { project: Some(project.clone()), ..self }
    }

    pub fn on(self, subject: impl fmt::Display) -> Self {
        Self { subject: subject.to_string(), ..self }
    }

    /// With a detail. It must not contain prompts, other text for the agent, or secrets.
    pub fn with_detail(self, detail: impl fmt::Display) -> Self {
        Self { detail: detail.to_string(), ..self }
    }
}

impl FromStr for Action {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = WORDS.iter().find(|(_, word, _)| *word == text);
        found.map(|(action, _, _)| *action).ok_or("Unknown action. Choose one from the list.")
    }
}

impl FromStr for Outcome {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = [Self::Done, Self::Refused].into_iter().find(|outcome| outcome.as_str() == text);
        found.ok_or("The outcome must be done or refused.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_word_of_its_own_and_is_found_by_it() {
        for (place, (action, word, _)) in WORDS.iter().enumerate() {
            assert_eq!(*action as usize, place, "{word}");
            assert_eq!(word.parse(), Ok(*action));
            assert_eq!(action.as_str(), *word);
        }
        assert!("".parse::<Action>().is_err());
    }
}
