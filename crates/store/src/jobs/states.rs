//! Lists of states for SQL, from the predicates of the model.
//!
//! The names are sorted: SQLite uses a partial index only if the query has the condition of the index word for word.

use strum::VariantArray;

use crate::dialect::select::sql_list;
use crate::platform::direct_projects::is_direct;
use model::job::{DeliveryState, JobState, ReportedStatus, TimelineState};

/// The job states that meet the condition.
pub(crate) fn job_states(condition: fn(JobState) -> bool) -> String {
    sorted_list(JobState::ALL.into_iter().filter(|state| condition(*state)).map(JobState::as_str))
}

/// The delivery states that meet the condition.
pub(crate) fn delivery_states(condition: fn(DeliveryState) -> bool) -> String {
    let states = DeliveryState::VARIANTS.iter().copied().filter(|state| condition(*state));
    sorted_list(states.map(DeliveryState::as_str))
}

/// The statuses in timelines with which the upstream reported the result of the agent's work. Archived is none.
pub(crate) fn reported_results() -> String {
    let results = ReportedStatus::VARIANTS.iter().copied();
    let results = results.filter(|status| TimelineState::Reported(*status).is_result());
    sorted_list(results.map(ReportedStatus::as_str))
}

/// The condition that the job is completed, or was before the upstream archived it.
pub(crate) fn is_completed(job: &str) -> String {
    let (completed, archived) = (JobState::Completed.as_str(), JobState::Archived.as_str());
    format!(
        "{job}.state IN ('{archived}', '{completed}') AND ({job}.state = '{completed}' OR {job}.outcome = '{completed}')"
    )
}

/// The condition that the job is completed, also before it was archived, and that it opened a pull request or that its project is published without them.
/// As [`model::job::Job::has_changes`].
pub(crate) fn has_changes(job: &str) -> String {
    let is_direct = is_direct(&format!("{job}.project"));
    format!("{} AND ({job}.pr_link IS NOT NULL OR {is_direct} > 0)", is_completed(job))
}

fn sorted_list(names: impl Iterator<Item = &'static str>) -> String {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    sql_list(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_states_of_their_condition() {
        assert_eq!(job_states(JobState::is_open), "'active', 'queued', 'sending'");
        assert_eq!(job_states(JobState::is_failure), "'failed', 'rejected'");
        assert_eq!(reported_results(), "'completed', 'failed'");
        assert_eq!(delivery_states(DeliveryState::is_pending), "'queued', 'sending'");
        assert_eq!(delivery_states(DeliveryState::is_not_sent), "'cancelled', 'rejected'");
    }
}
