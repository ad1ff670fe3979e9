//! `/p/{project}/jobs/{job}`: one job as a conversation. It follows its badge: when that changes, the job is read again.

mod check;
mod conversation;
mod deliveries;
mod facts;
mod filing;
mod follow_up;
mod head;
mod history;
mod resolve;

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::hooks::use_params_map;

use crate::api::call::call;
use crate::api::jobs::{CheckJob, GetJob, GetJobForm, ResolveDelivery, SendFollowUp};
use crate::error::AppError;
use crate::model::job::{DeliveryState, Job, JobForm, JobState};
use crate::ui::components::badge::delivery;
use crate::ui::components::failure;
use crate::ui::components::filed::filed;
use crate::ui::components::loading::{self, nothing, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::erase::{Erase, effect};
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::badges::Badges;
use crate::ui::state::drafts::Draft;
use crate::ui::state::filing::Filing;
use crate::ui::state::limits::prompt_mistake;
use crate::ui::state::live::Live;
use crate::ui::state::post::Post;
use crate::ui::state::session::{self, AskedSession};
use crate::ui::state::toasts::Toasts;
use crate::ui::state::{outcome, project};

/// Another job is another page: nothing of one is kept for the next.
#[component]
pub fn JobPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.read().get("job").unwrap_or_default());
    view! { {move || job_page(project::current(), id.get())} }.into_any()
}

/// The job as last read, and the way to read it again.
#[derive(Clone, Copy)]
struct CurrentJob {
    first: Asked<Job>,
    /// Later readings. A failed one changes nothing: the last good answer stays.
    later: RwSignal<Option<Job>>,
}

fn job_page(project: String, id: String) -> AnyView {
    let first = {
        let (project, id) = (project.clone(), id.clone());
        Asked::once(move || call(GetJob { project: project.clone(), job: id.clone() }))
    };
    let form = {
        let (project, id) = (project.clone(), id.clone());
        Asked::once(move || call(GetJobForm { project: project.clone(), job: Some(id.clone()) }))
    };
    let job = CurrentJob { first, later: RwSignal::new(None) };
    keep_true(job, project.clone(), id.clone());

    let send = Post::to::<SendFollowUp>(&prompt_mistake());
    let draft = Draft::of(&project, Some(&id));
    // Which follow-up the box begins with, where there are no scripts to fill it.
    let again: Option<usize> = address::query().get_untracked().get("again").and_then(|n| n.parse().ok());
    draft.restore(again.is_some());
    let toasts = Toasts::get();
    outcome::follow(send, draft, form, move |sent| {
        if let Some(message) = sent.follow_ups.last() {
            toasts.say(format!("Follow-up: {}", delivery(message.state).1), None);
        }
        job.later.set(Some(sent));
        form.again();
    });
    let decide = Post::to::<ResolveDelivery>(resolve::MISTAKE);
    resolve::follow(decide, move |decided| job.later.set(Some(decided)));

    let check = Post::to::<CheckJob>(check::MISTAKE);
    let filing = Filing::new(Callback::new({
        let (project, id) = (project.clone(), id.clone());
        move |()| read_again(job, None, project.clone(), id.clone())
    }));
    let outcome = filed(filing, project.clone());
    let session = session::get();
    let page = move || match job.get() {
        None => ().into_any(),
        Some(Ok(job)) => shown(&job, session::can_start_jobs(session), filing, decide, draft),
        Some(Err(error)) => view! {
            {page_head("Job", ().into_any(), ().into_any())}
            {failure::panel(&error, first.retry())}
        }
        .into_any(),
    };
    let follow_up = move || follow_up_box(job, form, session, send, draft, again);
    view! {
        {outcome}
        {failure::of_form(check.problem())}
        {suspended(loading::conversation, Arc::new(page))}
        {suspended(nothing, Arc::new(follow_up))}
    }
    .into_any()
}

fn shown(job: &Job, may_send: bool, filing: Filing, decide: Post, draft: Draft) -> AnyView {
    let filing = may_send.then_some(filing);
    let badge = Badges::get().watch(job);
    view! {
        {head::head(job, badge, may_send, filing)}
        <div class="columns">
            <div class="conversation">
                {conversation::conversation(job, may_send, decide, draft)}
                {history::history(&job.history)}
            </div>
            {facts::facts(job, filing)}
        </div>
    }
    .into_any()
}

/// For those who may send, unless the agent did not take the job, or may not have.
fn follow_up_box(
    job: CurrentJob,
    form: Asked<JobForm>,
    session: AskedSession,
    send: Post,
    draft: Draft,
    again: Option<usize>,
) -> AnyView {
    match (job.get(), form.get(), session::can_start_jobs(session)) {
        (Some(Ok(job)), Some(Ok(form)), true)
            if job.remote.is_some() || matches!(job.state, JobState::Queued | JobState::Sending) =>
        {
            let again = again.and_then(|n| job.follow_ups.get(n.checked_sub(1)?));
            follow_up::follow_up(send, &job, form, draft, again.map(|sent| sent.prompt.as_str()))
        }
        _ => ().into_any(),
    }
}

impl CurrentJob {
    /// To be asked inside a Suspense.
    fn get(self) -> Option<Result<Job, AppError>> {
        let first = self.first.get();
        self.later.get().map(Ok).or(first)
    }
}

/// Reads the job again when its badge says that something changed, or while a follow-up is on its way.
fn keep_true(job: CurrentJob, project: String, id: String) {
    let live = Live::get();
    let badges = Badges::get();
    effect(move || {
        live.track_answers();
        let Some(Ok(known)) = job.get() else { return };
        let news = badges.known(&known.id).is_some_and(|badge| badge.changed_at > known.changed_at);
        let on_its_way = known
            .follow_ups
            .iter()
            .any(|message| matches!(message.state, DeliveryState::Queued | DeliveryState::Sending));
        if !news && !on_its_way {
            return;
        }
        read_again(job, Some(known), project.clone(), id.clone());
    });
}

/// Reads the job, and shows it if it is another than the `known` one.
fn read_again(job: CurrentJob, known: Option<Job>, project: String, id: String) {
    spawn_local(async move {
        let read = call(GetJob { project, job: id }).output().await.ok();
        if read.is_some() && read != known {
            job.later.try_set(read);
        }
    });
}
