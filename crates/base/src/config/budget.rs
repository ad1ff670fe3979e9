//! Hourly limits of upstream calls.

use super::error::ConfigError;
use super::setting::{OptionalSetting, whole_number};
use super::source::Source;
use model::budget::AgentLimit;

#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Job starts an hour per project, and as many follow-ups; both together with a shared limit.
    pub agent_per_hour: u32,
    pub agent_limit: AgentLimit,
    /// Analytics requests an hour, for all projects together.
    pub analytics_per_hour: u32,
    /// The part of those that is reserved for people.
    pub analytics_reserve: u32,
    /// Days of daily history to update continuously.
    pub history_days: u32,
    /// Earlier days to fetch once, for comparisons.
    pub history_before: u32,
}

impl Budget {
    pub(super) fn from_source(source: &Source) -> Result<Self, ConfigError> {
        let raw = &source.raw;
        let history_days = raw.history_days.parse(whole_number(1))?;
        let budget = Self {
            agent_per_hour: raw.agent_per_hour.parse(whole_number(1))?,
            agent_limit: raw.agent_limit.parse(agent_limit)?,
            analytics_per_hour: raw.analytics_per_hour.parse(whole_number(1))?,
            analytics_reserve: raw.analytics_reserve.parse(whole_number(0))?,
            history_days,
            history_before: raw.history_before.parse(whole_number(0))?.unwrap_or(history_days),
        };
        if budget.analytics_reserve > budget.analytics_per_hour {
            return Err(ConfigError(format!(
                "DOCKET_ANALYTICS_RESERVE ({}) is more than DOCKET_ANALYTICS_PER_HOUR ({}). An example: DOCKET_ANALYTICS_RESERVE=30",
                budget.analytics_reserve, budget.analytics_per_hour
            )));
        }
        Ok(budget)
    }
}

fn agent_limit(text: &str) -> Result<AgentLimit, String> {
    text.parse().map_err(|_| format!("“{text}” is not shared or separate"))
}
