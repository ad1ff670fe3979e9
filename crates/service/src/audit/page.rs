//! The content of the audit log's page.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::Semaphore;

use super::query::filter;
use crate::caller::Caller;
use base::query_permits::QueryPermit;
use base::settings::LiveProjects;
use model::audit::{Action, AuditCheck, AuditPage, CountedEvents, Record};
use model::audit_query::AuditQuery;
use model::error::AppError;
use model::id::JobId;
use store::Store;
use store::audit::verify::ChainCheck;

/// Records per page.
const RECORDS: u32 = 50;

/// Verification takes time; several at once would slow down other requests.
static CHECKING: Semaphore = Semaphore::const_new(1);

/// The audit log, for administrators.
#[derive(Clone)]
pub struct AuditLog {
    pub(super) store: Store,
    projects: LiveProjects,
}

impl AuditLog {
    pub fn new(store: Store, projects: LiveProjects) -> Self {
        Self { store, projects }
    }

    pub async fn page(&self, caller: &Caller, query: &AuditQuery) -> Result<AuditPage, AppError> {
        let store = &self.store;
        let permit = caller.query_permit().await?;
        let (mut records, problem) = match filter(query) {
            Ok(filter) => (store.audit_records(&filter, RECORDS + 1).await?, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let has_more = records.len() > RECORDS as usize;
        records.truncate(RECORDS as usize);
        let check = match query.check.is_empty() {
            true => None,
            false => {
                let _permit = CHECKING.acquire().await;
                Some(check(&store.verify_audit().await?))
            }
        };
        // All events before the newest record are recorded already.
        let counted = if query.before.is_empty() && problem.is_none() {
            self.counted(query).await?
        } else {
            Vec::new()
        };
        let titles = self.titles(&permit, &records).await?;
        Ok(AuditPage {
            titles,
            next: records.last().filter(|_| has_more).map(|record| record.number),
            records,
            problem,
            people: store.audit_people().await?,
            projects: self.projects.current().to_vec(),
            counted,
            check,
        })
    }

    /// The titles of the jobs that `records` are about.
    async fn titles(
        &self,
        permit: &QueryPermit,
        records: &[Record],
    ) -> Result<BTreeMap<String, String>, AppError> {
        let about_job = |record: &&Record| record.action.parse().is_ok_and(Action::is_about_job);
        let subjects = records.iter().filter(about_job).filter_map(|record| record.subject.parse().ok());
        let jobs: BTreeSet<JobId> = subjects.collect();
        let jobs: Vec<JobId> = jobs.into_iter().collect();
        if jobs.is_empty() {
            return Ok(BTreeMap::new());
        }
        let jobs = self.store.listed_jobs(permit, &jobs).await?;
        Ok(jobs.iter().map(|job| (job.id.to_string(), job.title())).collect())
    }

    /// Counted events that are not yet recorded, filtered by person, action and outcome.
    async fn counted(&self, query: &AuditQuery) -> Result<Vec<CountedEvents>, AppError> {
        let is = |filter: &str, value: &str| filter.is_empty() || filter == value;
        let mut counted = self.store.audit_counts().await?;
        counted.retain(|events| {
            is(&query.person, &events.actor)
                && is(&query.action, &events.action)
                && is(&query.outcome, &events.outcome)
        });
        Ok(counted)
    }
}

fn check(ChainCheck { removed, last, fault }: &ChainCheck) -> AuditCheck {
    AuditCheck {
        removed_up_to: removed.number,
        last: last.number,
        link: last.to_string(),
        fault: fault.as_ref().map(ToString::to_string),
    }
}
