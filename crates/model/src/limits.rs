//! Limits on the rows that people can add, with the sentences for those who reach them. `store::limits` checks them. The section on limits of
//! docs/threat-model.md lists every table.

use std::fmt;

use crate::error::{AppError, ErrorCode};

/// A number of rows, and the message for exceeding it. `{most}` in the message is the number.
#[derive(Debug)]
pub struct Limit {
    most: i64,
    code: ErrorCode,
    message: &'static str,
}

/// All accounts. Administrators and the single sign-on provider add them.
pub const USERS: Limit = Limit {
    most: 10_000,
    code: ErrorCode::BadInput,
    message: "Docket can have at most {most} accounts, and nothing was added. Withdraw invitations that nobody accepted.",
};

/// API tokens of a person that are neither revoked nor expired.
pub const API_TOKENS: Limit = Limit {
    most: 50,
    code: ErrorCode::BadInput,
    message: "A person can have at most {most} API tokens, and nothing was created. Revoke one that is not used.",
};

/// Webhooks of a project.
pub const WEBHOOKS: Limit = Limit {
    most: 20,
    code: ErrorCode::BadInput,
    message: "A project can have at most {most} webhooks, and nothing was added. Remove one that is not used.",
};

/// Notes on a day of a project.
pub const NOTES_OF_DAY: Limit = Limit {
    most: 50,
    code: ErrorCode::BadInput,
    message: "A day can have at most {most} notes, and nothing was changed. Remove one, or add to an existing note.",
};

/// Notes of a project.
pub const NOTES_OF_PROJECT: Limit = Limit {
    most: 10_000,
    code: ErrorCode::BadInput,
    message: "A project can have at most {most} notes, and nothing was changed. Remove old ones first.",
};

/// Requested days of a project that are not fetched yet.
pub const REQUESTED_DAYS: Limit = Limit {
    most: 400,
    code: ErrorCode::BadInput,
    message: "At most {most} days can be requested at once, and nothing was requested. Wait until some were fetched.",
};

/// Prompts of a person within 24 hours that were cancelled or not accepted. Other prompts count toward the hourly budget and the limit of the queue.
pub const PROMPTS_NOT_SENT: Limit = Limit {
    most: 2_000,
    code: ErrorCode::TooManyUnsent,
    message: "You cancelled, or the platform did not accept, {most} of your prompts in 24 hours. Wait before you start more.",
};

/// Batches of a person that are not started. The oldest are removed.
pub const PREPARED_BATCHES: i64 = 20;

/// Jobs of a batch, with their retries.
pub const JOBS_OF_BATCH: Limit = Limit {
    most: 1_000,
    code: ErrorCode::BadInput,
    message: "A batch can have at most {most} jobs with their retries, and nothing was started. Start a new batch instead.",
};

/// Entries in a job's timeline for marks that can be repeated. The oldest are removed.
pub const MARKS_OF_JOB: i64 = 100;

/// Sessions of a person. The least recently used end.
pub const SESSIONS: i64 = 1_000;

/// Sessions of a person with a flash message. The oldest messages are removed.
pub const FLASH_MESSAGES: i64 = 16;

/// Sign-ins of a person that wait for the second step. The oldest end.
pub const SIGN_IN_STEPS: i64 = 20;

impl Limit {
    pub const fn most(&self) -> i64 {
        self.most
    }

    /// The code of the error for exceeding it.
    pub const fn code(&self) -> ErrorCode {
        self.code
    }

    /// Whether one more row is allowed.
    pub const fn has_room(&self, rows: i64) -> bool {
        rows < self.most
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message.replace("{most}", &self.most.to_string()))
    }
}

impl From<&Limit> for AppError {
    fn from(limit: &Limit) -> Self {
        Self::new(limit.code(), limit.to_string())
    }
}
