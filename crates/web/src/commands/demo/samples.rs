//! The sample people and jobs of the demonstration. They are written through the same store operations as real jobs,
//! and added to the emulator, so that both have the same jobs.

mod stories;

use anyhow::Context;
use secrecy::SecretString;

use base::clock::Clock;
use base::prompt::Prompt;
use base::query_permits::QueryPermits;
use base::work::Work;
use docket_emulator::{Emulator, Outcome, PastJob};
use model::id::{ProjectId, TemplateId};
use model::job::{JobState, ReasonCode, RemoteJob};
use model::page_path::Pages;
use model::time::Timestamp;
use model::user::{Project, Role};
use service::auth::password;
use store::Store;
use store::jobs::intents::{Claim, DeliveryOutcome, Intent, NewIntent, Scheduling, Subject};
use store::jobs::list::{JobFilter, PageStart};
use store::platform::budget::ScopeLimit;
use stories::{End, PEOPLE, SAMPLES, Sample, TEMPLATES};

/// The limit of templates per project while the samples are written.
const MOST_TEMPLATES: u32 = TEMPLATES.len() as u32;

/// Writes people and jobs into an empty database; leaves any other unchanged. `code_host`: the web address of pull requests.
pub(super) async fn fill(
    store: &Store,
    work: &Work,
    projects: &[Project],
    code_host: &str,
) -> anyhow::Result<()> {
    if !store.users().await?.is_empty() {
        return Ok(());
    }
    // The password is random and not printed: nobody can sign in as a sample person.
    let hash = password::hash(SecretString::from(uuid::Uuid::new_v4().to_string())).await?;
    for name in PEOPLE {
        store.add_user(work.into(), name, Role::Operator, &hash).await?;
    }
    let templates = add_templates(store, work, &projects[0].id).await?;
    for sample in SAMPLES {
        let started = work.now().plus_seconds(-3600 * sample.hours_ago - 20);
        let template = sample.template.map(|number| &templates[number]);
        let target = Target { store, work, project: &projects[sample.project].id, projects, code_host };
        write(&target, sample, template, started).await?;
    }
    Ok(())
}

async fn add_templates(store: &Store, work: &Work, project: &ProjectId) -> anyhow::Result<Vec<TemplateId>> {
    let mut templates = Vec::new();
    for (name, text) in TEMPLATES {
        let added = store.add_template(work.into(), project, name, text, MOST_TEMPLATES).await?;
        templates.push(added.context("a new template")?);
    }
    Ok(templates)
}

/// The duration of a sample job: some minutes, varying by job.
fn work_seconds(sample: &Sample) -> i64 {
    140 + sample.hours_ago * 53 % 320
}

/// Adds every accepted job of the database to the emulator.
pub(super) async fn seed_emulator(
    emulator: &Emulator,
    store: &Store,
    clock: &Clock,
    projects: &[Project],
) -> anyhow::Result<()> {
    let permit = QueryPermits::default().acquire("").await?;
    for project in projects {
        let mut filter = JobFilter::default();
        loop {
            let page = store.jobs(&permit, &project.id, &filter).await?;
            for job in page.jobs {
                let Some(remote) = job.remote else { continue };
                let finishes_at =
                    if job.state == JobState::Active { clock.now().plus_seconds(25) } else { job.changed_at };
                emulator.add_past_job(
                    project.id.as_str(),
                    past_job(remote, job.state, job.created_at, finishes_at, &job.paths),
                );
            }
            match page.next {
                Some(next) => filter.page_start = PageStart::At(next),
                None => break,
            }
        }
    }
    Ok(())
}

fn past_job(
    remote: RemoteJob,
    state: JobState,
    created_at: Timestamp,
    finishes_at: Timestamp,
    pages: &[String],
) -> PastJob {
    let outcome = match state {
        JobState::Failed => Outcome::Failed,
        JobState::Completed if remote.pr_link.is_none() => Outcome::NoChanges,
        _ => Outcome::PullRequest,
    };
    PastJob {
        id: remote.id,
        created_at: docket_emulator::Timestamp::from_millis(created_at.as_millis()),
        outcome,
        finishes_at: docket_emulator::Timestamp::from_millis(finishes_at.as_millis()),
        model: remote.model.unwrap_or_default(),
        repository: remote.repository.unwrap_or_default(),
        git_ref: remote.git_ref,
        pr_link: remote.pr_link,
        files: pages.iter().map(|page| format!("docs{page}.mdx")).collect(),
    }
}

/// Where a sample is written.
struct Target<'a> {
    store: &'a Store,
    work: &'a Work,
    project: &'a ProjectId,
    projects: &'a [Project],
    code_host: &'a str,
}

async fn write(
    target: &Target<'_>,
    sample: &Sample,
    template: Option<&TemplateId>,
    started: Timestamp,
) -> anyhow::Result<()> {
    let Target { store, work, .. } = *target;
    let first =
        Text { job: None, author: sample.author, prompt: sample.prompt, paths: sample.paths, template };
    let intent = commit(target, first, started).await?;
    let sent = started.plus_seconds(1);
    match sample.end {
        End::Rejected(reason) => {
            let rejected = DeliveryOutcome::Rejected(ReasonCode::PromptRefused.with(reason));
            return Ok(store.record_outcome(work, &intent, &rejected, sent).await?);
        }
        End::Unknown(reason) => {
            let unknown = DeliveryOutcome::Unknown(ReasonCode::TimedOut.with(reason));
            return Ok(store.record_outcome(work, &intent, &unknown, sent).await?);
        }
        _ => {}
    }
    let active = remote(target, &intent, started, "active", None);
    let ended = started.plus_seconds(work_seconds(sample));
    store.record_outcome(work, &intent, &DeliveryOutcome::Accepted(&active, ended), sent).await?;
    let (status, pull_request) = match sample.end {
        End::PullRequest(number) => ("completed", Some(number)),
        End::Failed => ("failed", None),
        End::Active => return Ok(()),
        _ => ("completed", None),
    };
    let done = remote(target, &intent, started, status, pull_request);
    end(target, &intent, &done, ended).await?;
    if let Some((author, prompt)) = sample.follow_up {
        let sent_at = ended.plus_seconds(900);
        let further = Text { job: Some(&intent), author, prompt, paths: &[], template: None };
        let message = commit(target, further, sent_at).await?;
        let ended = sent_at.plus_seconds(work_seconds(sample));
        store
            .record_outcome(
                work,
                &message,
                &DeliveryOutcome::Accepted(&active, ended),
                sent_at.plus_seconds(1),
            )
            .await?;
        end(target, &intent, &done, ended).await?;
    }
    Ok(())
}

/// A sample prompt.
struct Text<'a> {
    job: Option<&'a Intent>,
    author: &'a str,
    prompt: &'a str,
    paths: &'a [&'a str],
    template: Option<&'a TemplateId>,
}

/// A sample's message, committed and claimed like a real delivery.
async fn commit(
    Target { store, work, project, .. }: &Target<'_>,
    Text { job, author, prompt, paths, template }: Text<'_>,
    at: Timestamp,
) -> anyhow::Result<Intent> {
    let author = store.user_by_name(author).await?.context("a sample's author")?;
    let subject = match job {
        Some(first) => Subject::FollowUp(first.job.clone()),
        None => Subject::NewJob { template: template.cloned(), retry_of: None, tags: Vec::new() },
    };
    let new = NewIntent {
        project: (*project).clone(),
        intent: uuid::Uuid::new_v4().to_string().parse()?,
        prompt: Prompt::parse(prompt, u32::MAX)?,
        pages: Pages::of_each(paths)?,
        subject,
        may_queue: true,
        request_hash: None,
        body_hash: None,
        draft: None,
    };
    let message = store
        .insert_intent((&work.at(at)).into(), &author.actor(""), &new, Scheduling::Immediate, u32::MAX)
        .await?
        .context("a new intent")?;
    match store.claim(work, &message, &ScopeLimit::of("samples", u32::MAX), None, at).await? {
        Claim::Sending { intent, .. } => Ok(*intent),
        _ => anyhow::bail!("a sample's message was taken"),
    }
}

/// The job as the upstream would report it.
fn remote(
    Target { project, code_host, .. }: &Target<'_>,
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
        pr_link: pull_request.map(|number| format!("{code_host}/acme/{project}/pull/{number}")),
        pr_link_is_earlier: false,
        created_at: Some(created_at),
        archived_at: None,
        error: None,
    }
}

/// Records the end of a sample job like the poller would.
async fn end(
    Target { store, work, projects, .. }: &Target<'_>,
    intent: &Intent,
    remote: &RemoteJob,
    at: Timestamp,
) -> anyhow::Result<()> {
    let mut due = store
        .due_polls(projects, at, at)
        .await?
        .into_iter()
        .find(|due| due.job == intent.job)
        .context("a read that is due")?;
    store.record_poll(work, &mut due, remote, None, at).await?;
    Ok(())
}
