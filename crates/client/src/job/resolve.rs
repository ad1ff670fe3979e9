//! `docket job resolve`: decisions about prompts whose outcome is unknown. Each is about one attempt, so that it counts once.

use clap::Args;
use serde_json::json;

use super::{Common, Shown, ShownJob, Subject, Waiting, finish};
use crate::connection::Connection;
use crate::output::{in_one_line, inform};
use crate::request::{ApiRequest, id};
use crate::{Outcome, project_or_only};
use model::job::{DeliveryState, JobState};

#[derive(Args)]
pub struct ResolveArguments {
    #[arg(value_parser = id)]
    job: String,
    /// The attempt that the decision is about: the field of the job or follow-up, which show --json prints
    #[arg(long, value_name = "NUMBER")]
    attempt: u32,
    #[command(flatten)]
    decision: Decision,
    /// The id that the platform gave the job; a first prompt that was started needs it
    #[arg(long, value_name = "ID", requires = "started", conflicts_with_all = ["not_started", "follow_up"])]
    platform_id: Option<String>,
    /// The id of the follow-up [default: the first prompt]
    #[arg(long, value_name = "ID")]
    follow_up: Option<String>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    waiting: Waiting,
}

/// What became of the prompt.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Decision {
    /// The platform did not start it: it is sent again
    #[arg(long)]
    not_started: bool,
    /// The platform started it: its job is tracked
    #[arg(long)]
    started: bool,
}

pub(super) async fn resolve(connection: &Connection, arguments: ResolveArguments) -> anyhow::Result<Outcome> {
    let ResolveArguments { job, attempt, decision, platform_id, follow_up, common, waiting } = arguments;
    let until = waiting.until();
    let project = project_or_only(connection, common.project, until).await?;
    let outcome = if decision.started { "started" } else { "not_started" };
    let body = json!({
        "outcome": outcome, "attempt": attempt, "platform_id": platform_id, "follow_up_id": follow_up,
    });
    let request =
        ApiRequest::post(&["projects", &project, "jobs", &job, "resolve"]).with_repeatable_body(body);
    let resolved = connection.send(&request, until).await?;
    let of = follow_up.map_or(Subject::Job, |id| Subject::FollowUp(Some(id)));
    let shown = Shown { project: &project, of, waiting: &waiting, until, as_json: common.json };
    finish(connection, resolved, shown).await
}

/// Names the commands that resolve the unknown prompts of a job.
pub(super) fn advise(job: &ShownJob) {
    let first = (job.state == JobState::Unknown).then_some((String::new(), " --platform-id ID", job.attempt));
    let unknown = job.follow_ups.iter().filter(|follow_up| follow_up.state == Some(DeliveryState::Unknown));
    let later = unknown.filter_map(|follow_up| {
        let id = follow_up.id.as_ref()?;
        Some((format!(" --follow-up {id}"), "", follow_up.attempt))
    });
    for (of, id, attempt) in first.into_iter().chain(later) {
        let Some(attempt) = attempt else { continue };
        let command = format!("docket job resolve {}{of} --attempt {attempt}", job.id);
        inform(&in_one_line(&format!(
            "look at the platform, then: {command} --not-started, or --started{id}"
        )));
    }
}
