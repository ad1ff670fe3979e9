//! The budget of upstream calls: what a scope is, how much it may use, and the permits without which the
//! client does not call. Counts live in the database, so that a restart keeps them.

use crate::error::{AppError, ErrorCode};
use crate::model::budget::{Budgets, Meter};
use crate::model::id::ProjectId;
use crate::server::clock::Clock;
use crate::server::config::Budget;
use crate::server::store::intents::{Claim, Intent};
use crate::server::store::{Store, StoreError};

/// Leave to make one upstream call that costs budget. Only the governor makes one.
pub struct Permit(());

/// One of the limits that the upstream publishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Creates(ProjectId),
    FollowUps(ProjectId),
    /// One limit for all projects of the key.
    Analytics,
}

/// What came of asking to send a queued message.
pub enum Leave {
    Send { intent: Intent, remote_id: Option<String>, permit: Permit },
    BudgetSpent,
    Taken,
}

#[derive(Clone)]
pub struct Governor {
    store: Store,
    clock: Clock,
    budget: Budget,
}

impl Governor {
    pub fn new(store: Store, clock: Clock, budget: Budget) -> Self {
        Self { store, clock, budget }
    }

    /// Leave for one call now, or the error that says when the next one fits.
    pub async fn acquire(&self, scope: &Scope) -> Result<Permit, AppError> {
        let limit = self.limit(scope);
        if self.store.acquire_call(&scope.key(), limit, self.clock.now()).await? {
            return Ok(Permit(()));
        }
        Err(self.spent(scope).await?)
    }

    /// Leave to send a queued message: claimed and counted in one commit.
    pub async fn acquire_for(&self, message_id: &str, scope: &Scope) -> Result<Leave, StoreError> {
        let claim = self.store.claim(message_id, &scope.key(), self.limit(scope), self.clock.now()).await?;
        Ok(match claim {
            Claim::Sending { intent, remote_id } => Leave::Send { intent, remote_id, permit: Permit(()) },
            Claim::BudgetSpent => Leave::BudgetSpent,
            Claim::Taken => Leave::Taken,
        })
    }

    /// Refuses, without counting, what would not fit now.
    pub async fn check(&self, scope: &Scope) -> Result<(), AppError> {
        match self.meter(scope).await?.left() {
            0 => Err(self.spent(scope).await?),
            _ => Ok(()),
        }
    }

    pub async fn meter(&self, scope: &Scope) -> Result<Meter, StoreError> {
        self.store.meter(&scope.key(), self.limit(scope), self.clock.now()).await
    }

    pub async fn budgets(&self, project: &ProjectId) -> Result<Budgets, AppError> {
        Ok(Budgets {
            creates: self.meter(&Scope::Creates(project.clone())).await?,
            follow_ups: self.meter(&Scope::FollowUps(project.clone())).await?,
            analytics: self.meter(&Scope::Analytics).await?,
        })
    }

    async fn spent(&self, scope: &Scope) -> Result<AppError, StoreError> {
        let meter = self.meter(scope).await?;
        let when = match meter.next_fits_at {
            Some(at) => format!(
                "The next one fits at {:02}:{:02} UTC",
                at.to_datetime().hour(),
                at.to_datetime().minute()
            ),
            None => "Try again in a moment".to_owned(),
        };
        Ok(AppError::new(
            ErrorCode::BudgetSpent,
            format!(
                "All {} {} of the last hour are used, and nothing was sent. {when}.",
                meter.limit,
                scope.noun()
            ),
        ))
    }

    fn limit(&self, scope: &Scope) -> u32 {
        match scope {
            Scope::Creates(_) | Scope::FollowUps(_) => self.budget.agent_per_hour,
            Scope::Analytics => self.budget.analytics_per_hour,
        }
    }
}

impl Scope {
    /// What pays for the message at `position` of a job's conversation.
    pub fn of_message(project: &ProjectId, position: i64) -> Self {
        if position == 0 { Self::Creates(project.clone()) } else { Self::FollowUps(project.clone()) }
    }

    fn key(&self) -> String {
        match self {
            Self::Creates(project) => format!("creates:{project}"),
            Self::FollowUps(project) => format!("follow-ups:{project}"),
            Self::Analytics => "analytics".to_owned(),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Creates(_) => "job starts",
            Self::FollowUps(_) => "follow-ups",
            Self::Analytics => "analytics questions",
        }
    }
}
