//! A span for each statement, from sqlx's report at its end. It does not contain the statement's text.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanBuilder, Tracer};
use opentelemetry::{KeyValue, trace::Span};
use opentelemetry_sdk::trace::SdkTracer;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{self, Layer};

use base::traces::{CLIENT, nearest};

/// The target of sqlx's reports.
pub(super) const TARGET: &str = "sqlx::query";

/// Makes a span of each report within a recorded span.
pub(super) struct Statements {
    pub(super) tracer: SdkTracer,
    /// The database's name in the semantic conventions.
    pub(super) system: &'static str,
}

impl<S: Subscriber> Layer<S> for Statements {
    fn on_event(&self, event: &Event<'_>, _: layer::Context<'_, S>) {
        let ended = SystemTime::now();
        let mut report = Report::default();
        event.record(&mut report);
        let Some((operation, table)) = outline(&report.statement) else { return };
        let summary = [operation, table.unwrap_or_default()].join(" ").trim_end().to_owned();
        let mut attributes = vec![
            KeyValue::new("db.system.name", self.system),
            KeyValue::new("db.operation.name", operation.to_owned()),
            KeyValue::new("db.query.summary", summary.clone()),
            KeyValue::new("db.response.returned_rows", report.rows),
        ];
        attributes.extend(table.map(|table| KeyValue::new("db.collection.name", table.to_owned())));
        let span = SpanBuilder::from_name(summary)
            .with_kind(CLIENT)
            .with_start_time(ended - report.took)
            .with_attributes(attributes);
        let Some(parent) = nearest() else { return };
        self.tracer.build_with_context(span, &parent).end_with_timestamp(ended);
    }
}

#[derive(Default)]
struct Report {
    statement: String,
    rows: i64,
    took: Duration,
}

impl Visit for Report {
    fn record_str(&mut self, field: &Field, value: &str) {
        // For a short statement, the summary is the whole text and the statement is empty.
        if field.name() == "db.statement" && !value.is_empty()
            || field.name() == "summary" && self.statement.is_empty()
        {
            value.clone_into(&mut self.statement);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "rows_returned" {
            self.rows = i64::try_from(value).unwrap_or(i64::MAX);
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "elapsed_secs" {
            self.took = Duration::try_from_secs_f64(value).unwrap_or_default();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// The operation of a statement and its first table: words of the source, never values.
fn outline(statement: &str) -> Option<(&str, Option<&str>)> {
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let mut words = statement.split_whitespace();
    let operation = words.next().filter(is_word)?;
    let is_before_a_table =
        |word: &str| ["FROM", "INTO", "UPDATE"].iter().any(|before| word.eq_ignore_ascii_case(before));
    let table = match is_before_a_table(operation) {
        true => words.next(),
        false => words.by_ref().find(|word| is_before_a_table(word)).and_then(|_| words.next()),
    };
    let table = table.map(|table| table.trim_end_matches([')', ',', ';'])).filter(is_word);
    Some((operation, table.filter(|table| !table.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_contains_no_values() {
        for (statement, outlined) in [
            ("SELECT a, b\n FROM jobs WHERE x = $1", Some(("SELECT", Some("jobs")))),
            ("UPDATE queue SET a = 'secret'", Some(("UPDATE", Some("queue")))),
            ("INSERT INTO audit_log (a) VALUES ($1)", Some(("INSERT", Some("audit_log")))),
            ("DELETE FROM setup_links", Some(("DELETE", Some("setup_links")))),
            ("WITH x AS (SELECT 1 FROM users) SELECT 2 FROM x", Some(("WITH", Some("users")))),
            ("SELECT 1 FROM (SELECT 2 FROM jobs)", Some(("SELECT", None))),
            ("SELECT * FROM json_each($1)", Some(("SELECT", None))),
            ("PRAGMA key='secret'", Some(("PRAGMA", None))),
            ("SELECT 'from' FROM 'secret'", Some(("SELECT", None))),
            ("", None),
            ("'secret'", None),
        ] {
            assert_eq!(outline(statement), outlined, "{statement}");
        }
    }
}
