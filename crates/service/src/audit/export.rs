//! Exports the audit log as a file, streamed while it is read, newest record first.

use futures::{Stream, stream};

use super::page::AuditLog;
use super::query;
use crate::caller::Caller;
use crate::sheet::{Cell, Chunks, Format, file};
use model::audit::{Action, AuditEvent, Record};
use model::audit_query::AuditQuery;
use model::error::AppError;
use store::audit::AuditFilter;
use store::{Store, StoreError};

const COLUMNS: &[&str] =
    &["number", "at", "who", "from", "action", "outcome", "project", "subject", "detail", "who_id"];

/// Records per query.
const RECORDS_A_PIECE: u32 = 1_000;

impl AuditLog {
    /// Every record that matches `query`, newest first. The export is itself recorded.
    pub async fn export(
        &self,
        caller: &Caller,
        query: &AuditQuery,
        format: Format,
    ) -> Result<Chunks, AppError> {
        let filter = query::filter(query)?;
        let store = &self.store;
        let event = AuditEvent::new(Action::AuditExport)
            .with_detail(format!("{format} {}", query.query_string()).trim_end());
        store.record_often(caller.authority(), &event).await?;
        Ok(file(format, COLUMNS, pieces(store.clone(), filter), |sheet, record: Record| {
            let at = record.at.to_string();
            sheet.row(&[
                Cell::Number(record.number.unsigned_abs()),
                Cell::Text(&at),
                Cell::Text(&record.actor),
                Cell::Text(&record.client_ip),
                Cell::Text(&record.action),
                Cell::Text(&record.outcome),
                Cell::Text(&record.project),
                Cell::Text(&record.subject),
                Cell::Text(&record.detail),
                Cell::Text(&record.actor_id),
            ]);
        }))
    }
}

fn pieces(
    store: Store,
    filter: AuditFilter,
) -> impl Stream<Item = Result<Vec<Record>, StoreError>> + Send + 'static {
    stream::try_unfold((store, filter), async |(store, mut filter)| {
        let records = store.audit_records(&filter, RECORDS_A_PIECE).await?;
        let Some(oldest) = records.last() else { return Ok(None) };
        filter.before = Some(oldest.number);
        Ok(Some((records, (store, filter))))
    })
}
