//! The audit log: everything that is done leaves its record and nothing else, nobody but administrators sees it, and what
//! was changed behind its back shows.

mod command;
mod page;
mod recorded;

use docket::model::audit::Record;
use docket::server::store::audit::AuditFilter;

use crate::helpers::TestApp;

/// Every record, the oldest first.
async fn records(app: &TestApp) -> Vec<Record> {
    let mut records = app.state().store.audit_records(&AuditFilter::default(), 10_000).await.unwrap();
    records.reverse();
    records
}

/// What `doing` gives, and the one record that it left.
async fn recorded<T>(app: &TestApp, doing: impl Future<Output = T>) -> (T, Record) {
    let before = records(app).await.len();
    let done = doing.await;
    let mut new = records(app).await.split_off(before);
    assert_eq!(new.len(), 1, "{new:?}");
    (done, new.remove(0))
}
