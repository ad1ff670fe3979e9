//! The audit log: every action leaves exactly one record, only administrators see it, and tampering is detected.

mod command;
mod endpoints;
mod organizing;
mod page;
mod recorded;

use model::audit::Record;
use store::audit::AuditFilter;

use crate::helpers::TestApp;

/// Every record, oldest first.
async fn records(app: &TestApp) -> Vec<Record> {
    let mut records = app.state().store.audit_records(&AuditFilter::default(), 10_000).await.unwrap();
    records.reverse();
    records
}

/// The result of `doing`, and the one record that it added.
async fn recorded<T>(app: &TestApp, doing: impl Future<Output = T>) -> (T, Record) {
    let before = records(app).await.len();
    let done = doing.await;
    let mut new = records(app).await.split_off(before);
    assert_eq!(new.len(), 1, "{new:?}");
    (done, new.remove(0))
}
