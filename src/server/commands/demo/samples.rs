//! The sample people and jobs of the demonstration, written through the same ledger operations that real
//! jobs go through, and told to the emulator so that both know the same jobs.

use anyhow::Context;
use secrecy::SecretString;

use crate::model::id::{IntentId, ProjectId};
use crate::model::job::{JobState, RemoteJob};
use crate::model::time::Timestamp;
use crate::model::user::{Project, Role};
use crate::server::auth::password;
use crate::server::clock::Clock;
use crate::server::emulator::{Emulator, Outcome, PastJob};
use crate::server::store::Store;
use crate::server::store::intents::{Claim, Intent, NewIntent, Settlement};
use crate::server::store::job_list::JobFilter;

/// What became of a sample.
#[derive(Clone, Copy)]
enum End {
    PullRequest(u32),
    NoChanges,
    Failed,
    /// Still working when the demonstration starts.
    Active,
    Rejected(&'static str),
    Unknown(&'static str),
}

struct Sample {
    /// Which of the demonstration's projects, from 0.
    project: usize,
    author: &'static str,
    hours_ago: i64,
    prompt: &'static str,
    paths: &'static [&'static str],
    end: End,
    follow_up: Option<(&'static str, &'static str)>,
}

const PEOPLE: &[&str] = &["maya", "jonas", "priya"];

/// Ends of delivery as they read in the ledger.
const REFUSED: &str =
    "The platform refused it, so nothing was started: prompt mentions a repository this key cannot write to";
const CUT_OFF: &str = "The platform did not answer in time. It may have started the work or not.";

/// Oldest first, so that ids sort by age.
const SAMPLES: &[Sample] = &[
    Sample {
        project: 0,
        author: "maya",
        hours_ago: 24 * 19,
        end: End::PullRequest(231),
        follow_up: None,
        paths: &["/quickstart"],
        prompt: "Rewrite the quickstart so that a newcomer sends a first request in under five minutes.\n\nKeep the curl example first, then Python and TypeScript. Drop the section about legacy tokens.",
    },
    Sample {
        project: 0,
        author: "jonas",
        hours_ago: 24 * 16,
        end: End::NoChanges,
        follow_up: None,
        paths: &["/guides/authentication"],
        prompt: "Check the authentication guide against the current OAuth scopes and fix what is out of date.",
    },
    Sample {
        project: 1,
        author: "priya",
        hours_ago: 24 * 13,
        end: End::PullRequest(88),
        follow_up: None,
        paths: &["/api-reference/errors"],
        prompt: "Add the new error codes 4091 and 4092 to the error reference, with a cause and a remedy for each.",
    },
    Sample {
        project: 0,
        author: "priya",
        hours_ago: 24 * 12,
        end: End::PullRequest(238),
        paths: &["/guides/webhooks"],
        prompt: "Explain how to verify webhook signatures. Show the constant-time comparison in Node, Python, Go and Ruby.",
        follow_up: Some((
            "maya",
            "Good. Please also say what happens with clock skew, and link the replay window setting.",
        )),
    },
    Sample {
        project: 0,
        author: "maya",
        hours_ago: 24 * 9,
        end: End::Failed,
        follow_up: None,
        paths: &[],
        prompt: "Convert all diagrams in /concepts from PNG to Mermaid.",
    },
    Sample {
        project: 0,
        author: "jonas",
        hours_ago: 24 * 8,
        end: End::PullRequest(244),
        follow_up: None,
        paths: &["/changelog"],
        prompt: "Write the changelog entry for version 3.8 from the merged pull requests of the last two weeks.",
    },
    Sample {
        project: 1,
        author: "maya",
        hours_ago: 24 * 6,
        end: End::NoChanges,
        follow_up: None,
        paths: &["/api-reference/pagination"],
        prompt: "Make sure every list endpoint documents its cursor parameter the same way.",
    },
    Sample {
        project: 0,
        author: "priya",
        hours_ago: 24 * 5,
        end: End::PullRequest(251),
        follow_up: None,
        paths: &["/guides/rate-limits"],
        prompt: "The rate limit page still says 60 requests a minute. It is 100 an hour for admin keys; update the text, the table and the examples.",
    },
    Sample {
        project: 0,
        author: "maya",
        hours_ago: 24 * 3,
        end: End::Rejected(REFUSED),
        follow_up: None,
        paths: &[],
        prompt: "Move the SDK pages from the old repository into /sdks and set up redirects.",
    },
    Sample {
        project: 0,
        author: "jonas",
        hours_ago: 24 * 2,
        end: End::PullRequest(256),
        paths: &["/guides/migration", "/quickstart"],
        prompt: "Write a migration guide from version 2 to version 3.\n\nOne section for each breaking change: what changed, why, and the code before and after.",
        follow_up: Some(("jonas", "The section on timeouts misses the new default of 30 seconds.")),
    },
    Sample {
        project: 0,
        author: "priya",
        hours_ago: 22,
        end: End::Unknown(CUT_OFF),
        follow_up: None,
        paths: &["/integrations/slack"],
        prompt: "Add screenshots of the new Slack app to the integration page and describe the two permissions it asks for.",
    },
    Sample {
        project: 1,
        author: "jonas",
        hours_ago: 7,
        end: End::PullRequest(93),
        follow_up: None,
        paths: &["/api-reference/webhooks"],
        prompt: "Document the retry schedule of webhooks: 1, 5, 30 and 120 minutes, then every 6 hours for 3 days.",
    },
    Sample {
        project: 0,
        author: "maya",
        hours_ago: 3,
        end: End::PullRequest(259),
        follow_up: None,
        paths: &["/guides/search"],
        prompt: "Answer the five questions that people ask our assistant most about search, each as a short section.",
    },
    Sample {
        project: 0,
        author: "jonas",
        hours_ago: 0,
        end: End::Active,
        follow_up: None,
        paths: &["/guides/webhooks"],
        prompt: "Add a troubleshooting section to the webhooks guide: timeouts, signature mismatches, and duplicate deliveries.",
    },
];

/// How long a sample worked.
const WORK_SECONDS: i64 = 260;

/// Writes people and jobs into an empty ledger; leaves any other as it is.
pub(super) async fn fill(store: &Store, clock: &Clock, projects: &[Project]) -> anyhow::Result<()> {
    if !store.users().await?.is_empty() {
        return Ok(());
    }
    // Nobody signs in as the sample people: nobody knows this password.
    let hash = password::hash(SecretString::from(uuid::Uuid::new_v4().to_string())).await?;
    for name in PEOPLE {
        store.add_user(name, Role::Operator, &hash, clock.now()).await?;
    }
    for sample in SAMPLES {
        let started = clock.now().plus_seconds(-3600 * sample.hours_ago - 20);
        write(store, &projects[sample.project].id, sample, started).await?;
    }
    Ok(())
}

/// Tells the emulator every job of the ledger that the upstream has accepted.
pub(super) async fn tell_emulator(
    emulator: &Emulator,
    store: &Store,
    clock: &Clock,
    projects: &[Project],
) -> anyhow::Result<()> {
    for project in projects {
        let mut filter = JobFilter::default();
        loop {
            let page = store.jobs(&project.id, &filter).await?;
            for job in page.jobs {
                let Some(remote) = job.remote else { continue };
                let finishes_at =
                    if job.state == JobState::Active { clock.now().plus_seconds(25) } else { job.changed_at };
                emulator.adopt(project.id.as_str(), past_job(remote, job.state, job.created_at, finishes_at));
            }
            match page.next {
                Some(next) => {
                    filter.before = Some(next.parse().map_err(|_| anyhow::anyhow!("a cursor that is no id"))?)
                }
                None => break,
            }
        }
    }
    Ok(())
}

fn past_job(remote: RemoteJob, state: JobState, created_at: Timestamp, finishes_at: Timestamp) -> PastJob {
    let outcome = match state {
        JobState::Failed => Outcome::Failed,
        JobState::Completed if remote.pr_link.is_none() => Outcome::NoChanges,
        _ => Outcome::PullRequest,
    };
    PastJob {
        id: remote.id,
        created_at,
        outcome,
        finishes_at,
        model: remote.model.unwrap_or_default(),
        repository: remote.repository.unwrap_or_default(),
        git_ref: remote.git_ref,
        pr_link: remote.pr_link,
    }
}

async fn write(
    store: &Store,
    project: &ProjectId,
    sample: &Sample,
    started: Timestamp,
) -> anyhow::Result<()> {
    let intent = commit(store, project, None, sample.author, sample.prompt, sample.paths, started).await?;
    let sent = started.plus_seconds(1);
    match sample.end {
        End::Rejected(reason) => {
            return Ok(store.settle(&intent, &Settlement::Rejected(reason), sent).await?);
        }
        End::Unknown(reason) => return Ok(store.settle(&intent, &Settlement::Unknown(reason), sent).await?),
        _ => {}
    }
    let active = remote(project, &intent, started, "active", None);
    let ended = started.plus_seconds(WORK_SECONDS);
    store.settle(&intent, &Settlement::Accepted(&active, ended), sent).await?;
    let (status, pull_request) = match sample.end {
        End::PullRequest(number) => ("completed", Some(number)),
        End::Failed => ("failed", None),
        End::Active => return Ok(()),
        _ => ("completed", None),
    };
    let done = remote(project, &intent, started, status, pull_request);
    end(store, &intent, &done, ended).await?;
    if let Some((author, prompt)) = sample.follow_up {
        let asked = ended.plus_seconds(900);
        let message = commit(store, project, Some(&intent), author, prompt, &[], asked).await?;
        let ended = asked.plus_seconds(WORK_SECONDS);
        store.settle(&message, &Settlement::Accepted(&active, ended), asked.plus_seconds(1)).await?;
        end(store, &intent, &done, ended).await?;
    }
    Ok(())
}

/// A sample's message, committed and claimed as a sender would.
async fn commit(
    store: &Store,
    project: &ProjectId,
    job: Option<&Intent>,
    author: &str,
    prompt: &str,
    paths: &[&str],
    at: Timestamp,
) -> anyhow::Result<Intent> {
    let author = store.user_by_name(author).await?.context("a sample's author")?;
    let id: IntentId =
        uuid::Uuid::new_v4().to_string().parse().map_err(|_| anyhow::anyhow!("an intent id"))?;
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    let new = NewIntent {
        project,
        job: job.map(|job| &job.job),
        author_id: &author.id,
        intent: &id,
        prompt,
        paths: &paths,
    };
    let message = store.insert_intent(new, at).await?.context("a new intent")?;
    match store.claim(&message, "samples", u32::MAX, at).await? {
        Claim::Sending { intent, .. } => Ok(intent),
        _ => anyhow::bail!("a sample's message was taken"),
    }
}

/// The job as the upstream has it.
fn remote(
    project: &ProjectId,
    intent: &Intent,
    created_at: Timestamp,
    status: &str,
    pull_request: Option<u32>,
) -> RemoteJob {
    let short: String = intent.job.as_str().chars().filter(char::is_ascii_alphanumeric).skip(20).collect();
    RemoteJob {
        id: format!("job_{short}"),
        status: status.to_owned(),
        model: Some("docs-writer-2".to_owned()),
        repository: Some(format!("acme/{project}")),
        git_ref: Some(format!("docket/agent-{}", &short[..6])),
        pr_link: pull_request.map(|number| format!("https://git.example/acme/{project}/pull/{number}")),
        created_at: Some(created_at),
        archived_at: None,
    }
}

/// Records the end of a sample's work, as the poller would have read it.
async fn end(store: &Store, intent: &Intent, remote: &RemoteJob, at: Timestamp) -> anyhow::Result<()> {
    let due = store
        .due_reads(at)
        .await?
        .into_iter()
        .find(|due| due.job == intent.job)
        .context("a read that is due")?;
    store.record_read(&due, remote, None, at).await?;
    Ok(())
}
