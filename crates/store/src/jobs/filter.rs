//! The filters, the sort and the pagination of the list of jobs.

use std::collections::BTreeMap;
use std::slice;

use super::names::Name;
use super::search::Search;
use super::seen::{self, Reader};
use super::states::job_states;
use crate::dialect::Dialect;
use crate::dialect::select::{Part, ScanBy, Select, Set};
use crate::pull_requests;
use model::id::ProjectId;
use model::job::JobState;
use model::pull_request::PullRequestFilter;
use model::time::Timestamp;

/// Which jobs to list; defaults do not filter.
#[derive(Debug, Default)]
pub struct JobFilter {
    pub state: Option<JobState>,
    /// With the state `completed`: only jobs that changed nothing.
    pub no_changes: bool,
    /// Words in prompts, follow-ups and names.
    pub text: Option<String>,
    /// A name of the jobs, whatever their texts.
    pub named: Option<String>,
    /// The name of the author.
    pub author: Option<String>,
    /// A page, or a tag in lower case.
    pub label: Option<String>,
    /// A page, besides `label`.
    pub page: Option<String>,
    /// The labels of `label` and `page`, where they are more than one: the jobs have one of them.
    pub labels_of_pages: BTreeMap<String, Vec<String>>,
    /// Only jobs created at this time or later.
    pub created_from: Option<Timestamp>,
    /// Only jobs created before this time.
    pub created_before: Option<Timestamp>,
    pub has_pull_request: Option<bool>,
    pub pull_request: Option<PullRequestFilter>,
    /// Only jobs that need attention.
    pub needs_attention: bool,
    pub whose: Option<Whose>,
    /// Only jobs that ended or need attention since this reader last looked.
    pub new_to: Option<Reader>,
    /// Whether the job is archived in Docket.
    pub archived: Option<bool>,
    pub sort: Sort,
    pub page_start: PageStart,
    /// The number of jobs of a page.
    pub page_jobs: PageJobs,
}

/// Whether the jobs are those of a person, by their id, or all others.
#[derive(Debug, Clone)]
pub enum Whose {
    Of(String),
    OfOthers(String),
}

/// The number of jobs of a page: 1 to 100, by default 50.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageJobs(usize);

impl Default for PageJobs {
    fn default() -> Self {
        Self(50)
    }
}

impl PageJobs {
    pub const MAX: usize = 100;

    /// `None` if there are no such pages.
    pub fn new(jobs: usize) -> Option<Self> {
        (1..=Self::MAX).contains(&jobs).then_some(Self(jobs))
    }

    pub const fn get(self) -> usize {
        self.0
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Newest,
    Oldest,
    /// Last changed first.
    Changed,
}

/// The start of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageStart {
    /// An offset into the current list.
    Start(u64),
    At(Cursor),
}

/// A position between two pages. No page contains jobs created after the first page was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Whether the page ends here, instead of starting here.
    pub backward: bool,
    /// The newest job at the time of the request for the first page.
    pub top: i64,
    /// The job next to the position: when it last changed, and its number.
    pub changed_at: i64,
    pub number: i64,
    /// The number of jobs before the position.
    pub before: u64,
}

impl Default for PageStart {
    fn default() -> Self {
        Self::Start(0)
    }
}

impl PageStart {
    pub(crate) fn is_backward(self) -> bool {
        matches!(self, Self::At(cursor) if cursor.backward)
    }
}

/// The conditions of the filter, except status and cursor. `before` is the number of values that precede these in the whole statement.
pub(crate) fn select(
    dialect: Dialect,
    project: &ProjectId,
    filter: &JobFilter,
    scan_by: ScanBy,
    before: usize,
) -> Select {
    let mut select = Select::of(dialect, project.as_str(), scan_by, before);
    if let Some(text) = &filter.text {
        Search::parse(text).narrow(dialect, &mut select);
    }
    if let Some(name) = filter.named.as_deref().and_then(|named| Name::of(named, false)) {
        let numbers = name.numbers(&mut select);
        let part = Part::of_numbers(&[&numbers], "number");
        select.within(&Set { number: "s.number", parts: vec![part] });
    }
    for label in filter.label.iter().chain(&filter.page) {
        let labels = filter.labels_of_pages.get(label).map_or(slice::from_ref(label), Vec::as_slice);
        let part = |label| {
            let label = select.bind(label);
            let condition = format!("s.project = {} AND s.label = {label}", select.project());
            Part { table: "listed_labels".to_owned(), condition }
        };
        let parts = labels.iter().map(part).collect();
        select.within(&Set { number: "s.number", parts });
    }
    // Jobs are numbered in the order of their creation.
    if let Some(from) = filter.created_from {
        let from = select.bind_number(from.as_millis());
        let first = created(&format!(">= {from}"), "ASC", select.project());
        select.and(&format!("{} >= COALESCE({first}, {})", select.unindexed_number(), i64::MAX));
    }
    if let Some(before) = filter.created_before {
        let before = select.bind_number(before.as_millis());
        let last = created(&format!("< {before}"), "DESC", select.project());
        select.and(&format!("{} <= COALESCE({last}, 0)", select.unindexed_number()));
    }
    if let Some(pull_request) = filter.pull_request {
        let condition =
            format!("s.project = {} AND {}", select.project(), pull_requests::condition(pull_request, "s"));
        select.within(&Set::of("pull_requests", "s.number", condition));
    }
    if let Some(archived) = filter.archived {
        select.and(if archived { "l.archived = 1" } else { "l.archived = 0" });
    }
    if let Some(author) = &filter.author {
        let author = select.bind(author);
        // The index of authors has neither the order nor the other filters.
        let column = dialect.unindexed("l.author_id");
        select.and(&format!("{column} = (SELECT id FROM users WHERE name = {author})"));
    }
    if let Some(has) = filter.has_pull_request {
        select.and(if has { "l.has_pr = 1" } else { "l.has_pr = 0" });
    }
    if filter.needs_attention {
        select.and("l.attention = 1");
    }
    if let Some(whose) = &filter.whose {
        let (user, compared) = match whose {
            Whose::Of(user) => (user, "="),
            Whose::OfOthers(user) => (user, "<>"),
        };
        let (user, column) = (select.bind(user), dialect.unindexed("l.author_id"));
        select.and(&format!("{column} {compared} {user}"));
    }
    if let Some(Reader { user_id, everyone }) = &filter.new_to {
        let user = select.bind(user_id);
        let unseen = seen::is_unseen(&user, select.project(), if *everyone { "1" } else { "0" });
        let open = job_states(JobState::is_open);
        select.and(&format!("{unseen} AND l.state NOT IN ({open})"));
        if !everyone {
            select.and(&format!("l.author_id = {user}"));
        }
    }
    select
}

/// The number of the first job of a project, in this order, that was created in a period.
fn created(period: &str, order: &str, project: &str) -> String {
    format!(
        "(SELECT c.number FROM jobs d JOIN listed_jobs c ON c.job_id = d.id
          WHERE d.project = {project} AND d.created_at {period} ORDER BY d.created_at {order}, c.number {order} LIMIT 1)"
    )
}

/// Restricts to jobs up to this number.
pub(crate) fn up_to(select: &mut Select, top: i64) {
    let top = select.bind_number(top);
    // With the index of numbers, the jobs would have to be sorted; another index has the order.
    select.and(&format!("{} <= {top}", select.unindexed_number()));
}

/// Restricts to jobs with the filter's status.
pub(crate) fn with_status(select: &mut Select, filter: &JobFilter) {
    let Some(state) = filter.state else { return };
    let state = select.bind(state.as_str());
    // Written so that it selects no index: the index with the order contains the state too.
    select.and(&format!("NOT (l.state <> {state})"));
    if filter.no_changes {
        select.and("NOT (l.has_pr <> 0)");
    }
}

/// Restricts to jobs on the requested side of the cursor.
pub(crate) fn after(select: &mut Select, sort: Sort, cursor: Cursor) {
    let sign = if descends(sort, cursor.backward) { '<' } else { '>' };
    let number = select.bind_number(cursor.number);
    if sort == Sort::Changed {
        let changed_at = select.bind_number(cursor.changed_at);
        select.and(&format!("(l.changed_at, {}) {sign} ({changed_at}, {number})", select.number()));
    } else {
        select.and(&format!("{} {sign} {number}", select.number()));
    }
}

/// The order of jobs; `number` is the expression for a job's number.
pub(crate) fn order(number: &str, sort: Sort, backward: bool) -> String {
    let direction = if descends(sort, backward) { "DESC" } else { "ASC" };
    match sort {
        Sort::Changed => format!("l.changed_at {direction}, {number} {direction}"),
        _ => format!("{number} {direction}"),
    }
}

fn descends(sort: Sort, backward: bool) -> bool {
    (sort == Sort::Oldest) == backward
}
