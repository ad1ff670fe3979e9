//! `/p/{project}/queue`: the queued prompts in order; those of a batch that are one after another are one row, which opens.
//! Updates automatically. Changes work without JavaScript. `?cancel=` shows the confirmation to cancel that prompt, or the prompts of that
//! batch.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::charts::number::{counted, grouped};
use crate::ui::clock;
use crate::ui::components::empty::{empty, learn_about};
use crate::ui::components::form::{Hidden, post_form};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::time::{ago, full, until};
use crate::ui::islands::queue::QueueMoves;
use crate::ui::marks::NEXT_FOCUS;
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::batches::CancelBatch;
use api::queue::{CancelQueued, MoveQueued, TryQueue, queue};
use model::id::BatchId;
use model::links;
use model::queue::{Queue, QueueEntry, QueuedBatch, WaitReason};
use model::time::Timestamp;

/// The confirmation of *Try now*.
const TRIED: &str = "Docket sends the next prompt as soon as the budget has room.";

/// The data that all rows of the queue share.
struct QueueView {
    project: String,
    may_change: bool,
    /// The message or the batch whose cancellation needs confirmation, if any.
    confirming: Option<String>,
}

#[component]
pub fn QueuePage() -> impl IntoView {
    let queue_view = QueueView {
        project: request::project(),
        may_change: request::session().can_start_jobs(),
        confirming: request::query().get("cancel"),
    };
    let refused = outcome_of(&[MoveQueued::PATH, CancelQueued::PATH, TryQueue::PATH, CancelBatch::PATH]);
    page(async move {
        let queue = queue(queue_view.project.clone()).await?;
        Ok(view! {
            {page_head("Queue", "Docket sends queued prompts one at a time, spread evenly over the hour.", ())}
            {refused}
            <QueueMoves>
                <div class="queue-list" data-region="queue" data-every="3">{list(&queue_view, queue)}</div>
            </QueueMoves>
        }
        .into_any())
    })
}

fn list(queue_view: &QueueView, queue: Queue) -> AnyView {
    if queue.waiting.is_empty() {
        let step = view! { <a class="button" href=links::jobs(&queue_view.project)>"View jobs"</a> {learn_about("hourly-budget", "the hourly budget")} };
        return empty(
            "The queue is empty",
            "When the hourly budget is used up, prompts can wait here. Docket sends them as soon as there is room.",
            step,
        ).into_any();
    }
    let no_credits = queue.no_credits_until.map(|until| no_credits(queue_view, until));
    let rows = rows(queue_view, &queue);
    view! {
        {no_credits}
        <ol class="job-list queue" aria-label="Queued prompts">{rows}</ol>
        <p class="pager"><a class="button no-js" href="">"Refresh"</a></p>
    }
    .into_any()
}

/// Why the prompts wait for AI credits, and a button to try one now.
fn no_credits(queue_view: &QueueView, until: Timestamp) -> AnyView {
    let try_now = queue_view.may_change.then(|| {
        let button = view! { <button type="submit" class="button" data-done=TRIED>"Try now"</button> };
        post_form("", TryQueue::PATH, vec![("project", queue_view.project.clone())], button)
    });
    let text = view! {
        <p>
            "Docket sends one prompt every hour to find out whether there are AI credits again, the next one"
            {expected(until)} ". The others follow when one is accepted."
        </p>
        {try_now}
    };
    notice(Tone::Warning, text).into_any()
}

/// The prompts, folded: see [`batch_row`].
fn rows(queue_view: &QueueView, queue: &Queue) -> AnyView {
    let mut known: Vec<&BatchId> = Vec::new();
    let runs = queue.waiting.chunk_by(|a, b| a.batch.is_some() && a.batch == b.batch);
    let rows = runs.map(|run| {
        let id = run.first().and_then(|entry| entry.batch.as_ref());
        let batch = queue.batches.iter().find(|batch| run.len() > 1 && Some(&batch.id) == id);
        match batch {
            Some(batch) => {
                known.push(&batch.id);
                let nth = known.iter().filter(|id| **id == &batch.id).count();
                batch_row(queue_view, batch, run, nth)
            }
            None => run.iter().map(|entry| row(queue_view, entry, false)).collect_view().into_any(),
        }
    });
    rows.collect_view().into_any()
}

/// Prompts of a batch that are one after another, as one row, which opens. It is the `nth` one of its batch: other prompts can be between.
fn batch_row(queue_view: &QueueView, batch: &QueuedBatch, run: &[QueueEntry], nth: usize) -> AnyView {
    let QueuedBatch { id, name, left, jobs } = batch;
    let here = run.len() as u64;
    let part = (here < *left).then(|| format!("{} here, ", grouped(here)));
    let is_confirming = |id: &str| queue_view.confirming.as_deref() == Some(id);
    let is_open = run.iter().any(|entry| is_confirming(entry.message.as_str()));
    let next = run.first().map(|entry| view! { " · " {why(entry.why)}{entry.expected_at.map(expected)} });
    let tools = queue_view.may_change.then(|| match is_confirming(id.as_str()) {
        true => batch_confirmation(queue_view, batch),
        false => {
            let href = links::queue_with_confirmation(&queue_view.project, id.as_str());
            view! {
                <div class="queue-tools">
                    <a {..NEXT_FOCUS.here()} href=href aria-label=format!("Cancel: {name}")>"Cancel"</a>
                </div>
            }
            .into_any()
        }
    });
    let rows = run.iter().map(|entry| row(queue_view, entry, true)).collect_view();
    let key = format!("{id}-{nth}");
    // Has a key of its own, so that the focus stays in it.
    let tools = tools.map(|tools| view! { <div data-key=format!("{key}-tools")>{tools}</div> });
    view! {
        <li class="queue-batch" data-key=key.clone()>
            <details open=is_open>
                <summary class="queue-row row-target" data-key=format!("{key}-summary")>
                    <span class="queue-title">{icon(icon::CHEVRON)} <bdi>{name.clone()}</bdi></span>
                    <span class="queue-why">
                        {part} {format!("{} of {} left", grouped(*left), grouped(*jobs))} {next}
                    </span>
                </summary>
                <ol aria-label=format!("Prompts of {name}")>{rows}</ol>
                <p class="batch-link"><a href=links::batch(&queue_view.project, id.as_str())>"Open the batch"</a></p>
            </details>
            {tools}
        </li>
    }
    .into_any()
}

/// The confirmation to cancel all queued prompts of a batch. It replaces the link that opened it.
fn batch_confirmation(queue_view: &QueueView, batch: &QueuedBatch) -> AnyView {
    let name = format!("Cancel {}", counted(batch.left, "job", "jobs"));
    let content = view! {
        <div class="queue-tools">
            <span>"Their prompts will never be sent. Their texts are saved."</span>
            <button type="submit" class="button" data-done="Queued jobs cancelled" {..NEXT_FOCUS.here()}>{name}</button>
            <a class="button" href=links::queue(&queue_view.project)>"Keep in queue"</a>
        </div>
    };
    let hidden = vec![("project", queue_view.project.clone()), ("batch", batch.id.to_string())];
    post_form("queue-ask", CancelBatch::PATH, hidden, content).into_any()
}

/// `is_folded`: whether it is in the row of its batch.
fn row(queue_view: &QueueView, entry: &QueueEntry, is_folded: bool) -> AnyView {
    let title =
        entry.prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(no text)").to_owned();
    let kind = (entry.position > 0).then_some("Follow-up: ");
    let batch = entry.batch.as_ref().filter(|_| !is_folded).map(|batch| {
        view! { <a class="tag" href=links::batch(&queue_view.project, batch.as_str())>"Batch"</a> }
    });
    let job = links::job(&queue_view.project, entry.job.as_str());
    let is_confirming = queue_view.confirming.as_deref() == Some(entry.message.as_str());
    let tools = queue_view.may_change.then(|| {
        if is_confirming { confirmation(queue_view, entry, &title) } else { tools(queue_view, entry, &title) }
    });
    view! {
        <li class="queue-row" data-key=entry.message.to_string()>
            <span class="queue-title">
                {icon(icon::CLOCK)} <a href=job>{kind} <bdi>{title}</bdi></a> {batch}
            </span>
            <span class="queue-why">
                {why(entry.why)}{entry.expected_at.map(expected)} " · " {entry.author.clone()} ", " {ago(entry.created_at)}
            </span>
            {tools}
        </li>
    }
    .into_any()
}

fn why(why: WaitReason) -> &'static str {
    match why {
        WaitReason::Budget => "Waiting for the hourly budget",
        WaitReason::EarlierPrompts => "Waiting for its turn",
        WaitReason::JobBefore => "Waiting for the previous prompt of its job",
        WaitReason::CircuitOpen => "Waiting: the platform fails or refuses prompts",
        WaitReason::NoCredits => "Waiting for AI credits",
        WaitReason::OnHold => "On hold until an administrator releases it",
        WaitReason::Sending => "About to be sent",
    }
}

fn expected(at: Timestamp) -> AnyView {
    let now = clock::now();
    let text = match at.seconds_since(now) {
        0..=5 => ", any moment now".to_owned(),
        _ => format!(", in about {}", until(at, now)),
    };
    view! { <time datetime=at.to_string() title=full(at)>{text}</time> }.into_any()
}

fn tools(queue_view: &QueueView, entry: &QueueEntry, title: &str) -> AnyView {
    let is_movable = !matches!(entry.why, WaitReason::JobBefore | WaitReason::Sending);
    let moves = is_movable.then(|| {
        let moves = [("first", icon::FIRST, "To the front"), ("up", icon::UP, "Up"), ("down", icon::DOWN, "Down")];
        let moves = moves.map(|(to, outline, name)| {
            view! {
                <button type="submit" class="quiet" name="to" value=to title=name aria-label=format!("{name}: {title}")>
                    {icon(outline)}
                </button>
            }
        });
        post_form("", MoveQueued::PATH, hidden(queue_view, entry), moves.into_iter().collect_view())
    });
    let cancel_href = links::queue_with_confirmation(&queue_view.project, entry.message.as_str());
    view! {
        <div class="queue-tools">
            {moves}
            <a class="quiet" href=cancel_href title="Cancel" {..NEXT_FOCUS.here()} aria-label=format!("Cancel: {title}")>
                {icon(icon::CLOSE)}
            </a>
        </div>
    }
    .into_any()
}

/// The confirmation. It replaces the link that opened it.
fn confirmation(queue_view: &QueueView, entry: &QueueEntry, title: &str) -> AnyView {
    let cancel = if entry.position > 0 { "Cancel follow-up" } else { "Cancel job" };
    let content = view! {
        <div class="queue-tools">
            <span>"It will never be sent. Its text is saved."</span>
            <button type="submit" class="button" {..NEXT_FOCUS.here()} aria-label=format!("{cancel}: {title}")>{cancel}</button>
            <a class="button" href=links::queue(&queue_view.project)>"Keep in queue"</a>
        </div>
    };
    post_form("queue-ask", CancelQueued::PATH, hidden(queue_view, entry), content).into_any()
}

fn hidden(queue_view: &QueueView, entry: &QueueEntry) -> Hidden {
    vec![("project", queue_view.project.clone()), ("message", entry.message.to_string())]
}
