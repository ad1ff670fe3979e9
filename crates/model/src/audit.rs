//! Audit events: the fixed list of actions, and the fields of a record. Records never contain prompts or other text from users.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumMessage, EnumString, IntoStaticStr, VariantArray};

use crate::ParseError;
use crate::error::AppError;
use crate::id::ProjectId;
use crate::time::Timestamp;
use crate::user::Project;

/// Every audited action, with its stored name (also used in URLs) and its display name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_an_action)]
pub enum Action {
    #[strum(message = "Sign-in")]
    SignIn,
    #[strum(message = "Sign-out")]
    SignOut,
    #[strum(message = "First administrator created")]
    SetUp,
    #[strum(message = "Job started")]
    JobStart,
    #[strum(message = "Follow-up sent")]
    FollowUp,
    #[strum(message = "Prompt sent again")]
    Resend,
    #[strum(message = "Delivery marked as accepted")]
    Resolve,
    #[strum(message = "Prompt cancelled")]
    Cancel,
    #[strum(message = "Queue order changed")]
    QueueMove,
    #[strum(message = "Queue tried again")]
    QueueTry,
    #[strum(message = "Job checked again")]
    JobCheck,
    #[strum(message = "Attention dismissed")]
    Dismiss,
    #[strum(message = "Dismissal undone")]
    Undismiss,
    #[strum(message = "Jobs archived")]
    Archive,
    #[strum(message = "Jobs restored")]
    Unarchive,
    #[strum(message = "Jobs tagged")]
    Tag,
    #[strum(message = "Tag removed")]
    Untag,
    #[strum(message = "Page added")]
    PageAdd,
    #[strum(message = "Page removed")]
    PageRemove,
    #[strum(message = "Prompts on hold released")]
    HeldRelease,
    #[strum(message = "Prompts on hold cancelled")]
    HeldCancel,
    #[strum(serialize = "adopt", message = "Job imported")]
    Import,
    #[strum(message = "Batch started")]
    BatchStart,
    #[strum(message = "Batch renamed")]
    BatchRename,
    #[strum(message = "Failed jobs of a batch retried")]
    BatchRetry,
    #[strum(message = "Analytics exported")]
    Export,
    #[strum(message = "History requested")]
    HistoryFetch,
    #[strum(message = "Template added")]
    TemplateAdd,
    #[strum(message = "Template changed")]
    TemplateChange,
    #[strum(message = "Template deleted")]
    TemplateRemove,
    #[strum(message = "Note added")]
    AnnotationAdd,
    #[strum(message = "Note changed")]
    AnnotationChange,
    #[strum(message = "Note deleted")]
    AnnotationRemove,
    #[strum(message = "View saved")]
    SavedViewSave,
    #[strum(message = "Saved view changed")]
    SavedViewChange,
    #[strum(message = "Saved view deleted")]
    SavedViewRemove,
    #[strum(message = "Webhook added")]
    WebhookAdd,
    #[strum(message = "Events of a webhook chosen")]
    WebhookEvents,
    #[strum(message = "Webhook secret renewed")]
    WebhookSecret,
    #[strum(message = "Webhook enabled")]
    WebhookEnable,
    #[strum(message = "Webhook disabled")]
    WebhookDisable,
    #[strum(message = "Webhook deleted")]
    WebhookRemove,
    #[strum(message = "Webhook tested")]
    WebhookTest,
    #[strum(message = "Webhook event sent again")]
    WebhookResend,
    #[strum(message = "Undelivered webhook events sent again")]
    WebhookResendAll,
    #[strum(message = "Account added")]
    UserAdd,
    #[strum(message = "Person invited")]
    UserInvite,
    #[strum(message = "Invitation renewed")]
    UserInviteAgain,
    #[strum(message = "Invitation on hold released")]
    UserInviteRelease,
    #[strum(message = "Invitation withdrawn")]
    UserWithdraw,
    #[strum(message = "Invitation accepted")]
    UserJoin,
    #[strum(message = "Role or projects changed")]
    UserAccess,
    #[strum(message = "Password changed")]
    UserPassword,
    #[strum(message = "Link for a new password created")]
    UserPasswordLink,
    #[strum(message = "Account disabled")]
    UserDisable,
    #[strum(message = "Account enabled")]
    UserEnable,
    #[strum(message = "Sessions ended")]
    SessionsEnd,
    #[strum(message = "Second factor switched on")]
    SecondFactorOn,
    #[strum(message = "Second factor switched off")]
    SecondFactorOff,
    #[strum(message = "Recovery codes renewed")]
    RecoveryCodes,
    #[strum(message = "Passkey added")]
    PasskeyAdd,
    #[strum(message = "Passkey renamed")]
    PasskeyRename,
    #[strum(message = "Passkey removed")]
    PasskeyRemove,
    #[strum(message = "API token created")]
    ApiTokenCreate,
    #[strum(message = "API token revoked")]
    ApiTokenRevoke,
    #[strum(message = "API token used")]
    ApiTokenUse,
    #[strum(message = "Request refused")]
    Denied,
    #[strum(message = "Audit log exported")]
    AuditExport,
    #[strum(message = "Old records removed")]
    AuditRemove,
    #[strum(message = "Old data removed")]
    DataRemove,
    #[strum(message = "Configuration reloaded")]
    ConfigurationReload,
    #[strum(message = "Backup restored")]
    DataRestore,
    #[strum(message = "Clock confirmed")]
    ClockConfirm,
}

/// Each outcome, its stored name (also used in URLs), and its display name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_an_outcome)]
pub enum Outcome {
    Done,
    Refused,
}

/// Who acts, and from which IP address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Actor {
    /// Empty without an account.
    pub id: String,
    pub name: String,
    /// The client's IP address; empty if the action did not come over the network.
    pub client_ip: String,
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

/// A stored record. Names that this version does not recognize are shown unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub number: i64,
    pub at: Timestamp,
    pub actor_id: String,
    pub actor: String,
    pub client_ip: String,
    pub action: String,
    pub outcome: String,
    pub project: String,
    pub subject: String,
    pub detail: String,
}

/// How many events of one person, action and outcome get their own record in an hour. Further events are counted.
pub const ROWS_OF_AN_HOUR: u32 = 20;

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
    /// The titles of the jobs that the records are about, by id, as they are now: records have no texts.
    #[serde(default)]
    pub titles: BTreeMap<String, String>,
    /// Events of the last hour that are counted but not yet recorded, under the filters for person, action and outcome.
    pub counted: Vec<CountedEvents>,
    /// The result of the verification, if it was requested.
    pub check: Option<AuditCheck>,
}

/// How often an action was repeated after its hourly records were used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedEvents {
    pub actor: String,
    pub action: String,
    pub outcome: String,
    pub since: Timestamp,
    pub count: u64,
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
        Self::VARIANTS.iter().copied()
    }

    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }

    /// The display name.
    pub fn title(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }

    /// Whether the subject of its records is a job.
    pub const fn is_about_job(self) -> bool {
        matches!(
            self,
            Self::JobStart | Self::FollowUp | Self::Resend | Self::Resolve | Self::Cancel | Self::Import
        )
    }
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
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
        Self { id: String::new(), name: "Docket".to_owned(), client_ip: String::new() }
    }

    /// The user of the command line.
    pub fn command_line() -> Self {
        Self { id: String::new(), name: "command line".to_owned(), client_ip: String::new() }
    }

    /// An unauthenticated client with the IP address `client_ip`.
    pub fn unknown(client_ip: &str) -> Self {
        Self { id: String::new(), name: String::new(), client_ip: client_ip.to_owned() }
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

fn not_an_action(_: &str) -> ParseError {
    "Unknown action. Choose one from the list.".into()
}

fn not_an_outcome(_: &str) -> ParseError {
    "The outcome must be done or refused.".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stored audit logs contain these names: a renamed variant must keep its name.
    #[test]
    fn stored_names_of_actions_do_not_change() {
        let words: Vec<_> = Action::all().map(Action::as_str).collect();
        assert_eq!(
            words.join(" "),
            "sign_in sign_out set_up job_start follow_up resend resolve cancel queue_move queue_try job_check dismiss undismiss archive unarchive tag untag page_add page_remove held_release held_cancel \
             adopt batch_start batch_rename batch_retry export history_fetch template_add template_change template_remove annotation_add annotation_change annotation_remove \
             saved_view_save saved_view_change saved_view_remove webhook_add webhook_secret \
             webhook_enable webhook_disable webhook_remove webhook_test webhook_resend webhook_resend_all user_add \
             user_invite user_invite_again user_invite_release user_withdraw user_join user_access user_password user_password_link \
             user_disable user_enable sessions_end second_factor_on second_factor_off recovery_codes \
             passkey_add passkey_rename passkey_remove \
             api_token_create api_token_revoke api_token_use denied audit_export audit_remove data_remove \
             configuration_reload data_restore clock_confirm"
        );
        assert_eq!([Outcome::Done, Outcome::Refused].map(Outcome::as_str), ["done", "refused"]);
    }

    #[test]
    fn every_action_has_a_title_and_parses_from_its_name() {
        for action in Action::all() {
            assert_eq!(action.as_str().parse(), Ok(action));
            assert_ne!(action.title(), "", "{action:?}");
        }
        assert!("".parse::<Action>().is_err());
    }
}
