//! What the page of the audit log shows, put together.

use tokio::sync::Semaphore;

use super::question::AuditQuery;
use crate::error::AppError;
use crate::model::audit::Record;
use crate::model::user::Project;
use crate::server::auth::guard::Caller;
use crate::server::store::audit::verify::Verdict;

/// Records on a page.
const RECORDS: u32 = 50;

/// Reading every record takes a while; several at once would take it from everybody else.
static CHECKING: Semaphore = Semaphore::const_new(1);

pub struct AuditPage {
    pub query: AuditQuery,
    /// Those that fit, the newest first, or what is wrong with the question.
    pub records: Result<Vec<Record>, AppError>,
    /// Where the next page begins.
    pub next: Option<i64>,
    /// Everybody who did anything.
    pub people: Vec<String>,
    pub projects: Vec<Project>,
    /// What the check came to, if it was asked for.
    pub verdict: Option<Verdict>,
}

pub async fn page(caller: &Caller, query: &str) -> Result<AuditPage, AppError> {
    let (store, query) = (&caller.panel.store, AuditQuery::read(query));
    let mut records = match query.filter() {
        Ok(filter) => Ok(store.audit_records(&filter, RECORDS + 1).await?),
        Err(refused) => Err(refused),
    };
    let mut next = None;
    if let Ok(records) = &mut records
        && records.len() > RECORDS as usize
    {
        records.truncate(RECORDS as usize);
        next = records.last().map(|record| record.number);
    }
    let verdict = match query.check.is_empty() {
        true => None,
        false => {
            let _turn = CHECKING.acquire().await;
            Some(store.verify_audit().await?)
        }
    };
    let (people, projects) = (store.audit_people().await?, caller.panel.projects.to_vec());
    Ok(AuditPage { query, records, next, people, projects, verdict })
}
