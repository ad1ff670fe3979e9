//! The answers of server functions that stored texts can make long, shortened to the limit of a body. A list that can be continued has the cursor of the
//! rest; others are previews, whose rest is on another endpoint.

use super::Room;
use model::analytics::pages::PagesReport;
use model::analytics::trend::Trend;
use model::audit::AuditPage;
use model::batch::Batch;
use model::error::AppError;
use model::job::{Job, JobBadge, JobForm};
use model::job_list::JobsOverview;
use model::page_views::FetchedPageViews;
use model::people::People;
use model::pull_request::{ReviewedJob, Reviews};
use model::queue::Queue;
use model::webhook::Webhooks;

/// The room of a job for its timeline.
const TIMELINE_BYTES: usize = 256 * 1024;

/// With the last entries of the timeline and the last follow-ups that fit. The rest of the follow-ups is at [`Job::earlier_follow_ups`].
pub fn job(job: Job) -> Job {
    job_within(Room::of_function(), job)
}

/// As [`job`], after a change of it.
pub fn changed_job(job: Job) -> Job {
    job_within(Room::of_change(), job)
}

fn job_within(mut room: Room, mut job: Job) -> Job {
    let follow_ups = std::mem::take(&mut job.follow_ups);
    let history = std::mem::take(&mut job.history);
    room.reserve(&job);
    (job.follow_ups, job.history) = (follow_ups, history);
    let mut timeline = Room { left: TIMELINE_BYTES.min(room.left), ..room };
    let before = timeline.left;
    timeline.keep_last(&mut job.history);
    room.left -= before - timeline.left;
    job.earlier_follow_ups += room.keep_last(&mut job.follow_ups) as u32;
    job
}

/// With the first jobs of each section that fit.
pub fn overview(mut overview: JobsOverview) -> JobsOverview {
    let mut room = Room::of_function();
    let JobsOverview { new, needing, needing_of_others, running, finished, .. } = &mut overview;
    for section in [new, needing, needing_of_others, running, finished] {
        room.keep_first(section);
    }
    room.keep_first(&mut overview.stale);
    room.keep_first(&mut overview.batches);
    overview
}

/// The badges that changed last.
pub fn badges(mut badges: Vec<JobBadge>) -> Vec<JobBadge> {
    badges.sort_by_key(|badge| std::cmp::Reverse(badge.changed_at));
    Room::of_function().keep_first(&mut badges);
    badges
}

/// With the newest other drafts that fit.
pub fn job_form(mut form: JobForm) -> JobForm {
    let mut room = Room::of_function();
    let other_drafts = std::mem::take(&mut form.other_drafts);
    room.reserve(&form);
    form.other_drafts = other_drafts;
    room.keep_first(&mut form.other_drafts);
    form
}

/// A part of the previews or of the jobs.
pub fn batch(batch: Batch, cursor: Option<&str>) -> Result<Batch, AppError> {
    batch_within(Room::of_function(), batch, cursor)
}

/// The first part, after a change of the batch.
pub fn changed_batch(batch: Batch) -> Result<Batch, AppError> {
    batch_within(Room::of_change(), batch, None)
}

fn batch_within(mut room: Room, mut batch: Batch, cursor: Option<&str>) -> Result<Batch, AppError> {
    let (previews, jobs) = (std::mem::take(&mut batch.preview), std::mem::take(&mut batch.jobs));
    let mut changed_pages = std::mem::take(&mut batch.changed_pages);
    room.reserve(&batch);
    // A batch has previews until it is started.
    if batch.started_at.is_none() {
        let part = room.part(previews, cursor)?;
        (batch.preview, batch.next) = (part.items, part.next);
    } else {
        let part = room.part(jobs, cursor)?;
        (batch.jobs, batch.next) = (part.items, part.next);
    }
    room.keep_first(&mut changed_pages);
    Ok(Batch { changed_pages, ..batch })
}

/// A part of the queue.
pub fn queue(queue: Queue, cursor: Option<&str>) -> Result<Queue, AppError> {
    let mut room = Room::of_function();
    room.reserve(&queue.batches);
    let part = room.part(queue.waiting, cursor)?;
    Ok(Queue { waiting: part.items, next: part.next, ..queue })
}

/// The first part, after a change of the queue.
pub fn changed_queue(queue: Queue) -> Result<Queue, AppError> {
    let part = Room::of_change().part(queue.waiting, None)?;
    Ok(Queue { waiting: part.items, next: part.next, ..queue })
}

/// A part of the people.
pub fn people(people: People, cursor: Option<&str>) -> Result<People, AppError> {
    let mut room = Room::of_function();
    room.reserve(&people.projects);
    let part = room.part(people.people, cursor)?;
    Ok(People { people: part.items, next: part.next, ..people })
}

/// A part of the webhooks.
pub fn webhooks(webhooks: Webhooks, cursor: Option<&str>) -> Result<Webhooks, AppError> {
    let part = Room::of_function().part(webhooks.webhooks, cursor)?;
    Ok(Webhooks { webhooks: part.items, next: part.next })
}

/// A part of the pull requests: of those that wait, group by group, and then of the merged ones.
pub fn reviews(mut reviews: Reviews, cursor: Option<&str>) -> Result<Reviews, AppError> {
    let of_group = |(index, jobs): (usize, Vec<ReviewedJob>)| jobs.into_iter().map(move |job| (index, job));
    let groups = reviews.groups.iter_mut().map(|group| std::mem::take(&mut group.jobs));
    let mut lists: Vec<Vec<ReviewedJob>> = groups.collect();
    lists.push(std::mem::take(&mut reviews.merged));
    let all = lists.into_iter().enumerate().flat_map(of_group).collect();
    let part = Room::of_function().part(all, cursor)?;
    for (index, job) in part.items {
        match reviews.groups.get_mut(index) {
            Some(group) => group.jobs.push(job),
            None => reviews.merged.push(job),
        }
    }
    Ok(Reviews { next: part.next, ..reviews })
}

/// With the first rows that fit: the next ones are at the offset after them.
pub fn views(mut views: FetchedPageViews) -> FetchedPageViews {
    views.has_more |= !Room::of_function().keep_first(&mut views.views);
    views
}

/// As [`views`].
pub fn pages(mut pages: PagesReport) -> PagesReport {
    let mut room = Room::of_function();
    room.reserve(&pages.marked);
    room.keep_first(&mut pages.rows);
    pages
}

/// With the newest markers and annotations that fit.
pub fn trend(mut trend: Trend) -> Trend {
    let mut room = Room::of_function();
    room.reserve(&trend.points);
    room.keep_last(&mut trend.markers);
    room.keep_last(&mut trend.annotations);
    trend
}

/// With the names that fit.
pub fn audit(mut page: AuditPage) -> AuditPage {
    let mut room = Room::of_function();
    room.reserve(&page.records);
    room.reserve(&page.titles);
    room.keep_first(&mut page.people);
    page
}
